/*
 * dpu_target_macros.h - how the kind of backend is kept in the upper bits of a rank's identifier.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_TARGET_MACROS_H
#define CUDLA_SIM_UPMEM_DPU_TARGET_MACROS_H

#include <limits.h>

#include "dpu_target.h"
#include "dpu_types.h"

#define DPU_TARGET_LOG2_SIZE (4)
#define DPU_TARGET_SHIFT (CHAR_BIT * sizeof(dpu_rank_id_t) - DPU_TARGET_LOG2_SIZE)
#define DPU_TARGET_MASK ((1 << DPU_TARGET_SHIFT) - 1)

#endif
