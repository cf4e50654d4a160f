/*
 * cupva_host_types.h - all types of the C interface.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_TYPES_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_TYPES_H

#include "detail/cupva_host_types_detail.h"
#include "detail/scheduling/cupva_host_types_scheduling.h"
#include "detail/workloads/cupva_host_types_workloads.h"


#endif
