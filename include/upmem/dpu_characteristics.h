/*
 * dpu_characteristics.h - sizes of the hardware that are the same for every DPU.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_CHARACTERISTICS_H
#define CUDLA_SIM_UPMEM_DPU_CHARACTERISTICS_H

#define DPU_NR_THREADS 24
#define DPU_NR_NOTIFY_BITS 40
#define DPU_NR_ATOMIC_BITS 256
#define DPU_IRAM_SIZE 4096 /* instructions */
#define DPU_WRAM_SIZE 65536 /* bytes */
#define DPU_MRAM_SIZE 67108864 /* bytes */

#endif
