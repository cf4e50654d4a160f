/* Access to the runtime below the public headers. */
#ifndef UPMEM_SYSLIB_DPURUNTIME_H
#define UPMEM_SYSLIB_DPURUNTIME_H

#include <attributes.h>
#include <built_ins.h>
#include <dpuconst.h>
#include <dpufault.h>
#include <macro_utils.h>
#include <stdint.h>
#include <sysdef.h>

__RT_C_BEGIN

void __rt_acquire(uint32_t bit);
uint32_t __rt_try_acquire(uint32_t bit);
void __rt_release(uint32_t bit);
void __rt_stop(void);
void __rt_resume(uint32_t tasklet);
void __rt_program_fault(uint32_t code) __RT_ENDS;

extern volatile uintptr_t __sys_heap_pointer;
extern char __sys_heap_pointer_reset[];

/* Who waits behind tasklet i: the links of the queues that a barrier or semaphore of one's own keeps. */
extern unsigned char __sys_wq_table[];

#define __HEAP_POINTER __sys_heap_pointer
#define __INITIAL_HEAP_POINTER __sys_heap_pointer_reset
#define __WAIT_QUEUE_TABLE __sys_wq_table
#define __AT_THIS_INSTRUCTION "."
#define __AT_NEXT_INSTRUCTION ".+1"
#define __acquire(lock, at) __rt_acquire((uint32_t)(uintptr_t)(lock))
#define __release(lock, bit, at) __rt_release((uint32_t)(uintptr_t)(lock))
#define __stop() __rt_stop()
#define __resume(tasklet, at) __rt_resume(tasklet)
#define __fault(code) __rt_program_fault(code)

#define likely(x) __builtin_expect((x), 1)
#define unlikely(x) __builtin_expect((x), 0)
#define unreachable() __builtin_unreachable()
#define count_leading_zeros(x) __builtin_clz(x)
#define count_population(x) __builtin_popcount(x)

__RT_C_END

#endif
