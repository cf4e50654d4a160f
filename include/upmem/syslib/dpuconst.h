/* Constants of the runtime. */
#ifndef UPMEM_SYSLIB_DPUCONST_H
#define UPMEM_SYSLIB_DPUCONST_H

#define __EMPTY_WAIT_QUEUE 0xff
#define __DPU_BOOT_THREAD 0
#define DPU_MRAM_HEAP_POINTER_NAME "__sys_used_mram_end"

#endif
