/*
 * dpu_rank.h - ranks: what programs may know of them.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_RANK_H
#define CUDLA_SIM_UPMEM_DPU_RANK_H

#include "dpu_management.h"
#include "dpu_types.h"

/* Everything about a rank stands in dpu_types.h and dpu_management.h. */

#endif
