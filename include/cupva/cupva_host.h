/*
 * cupva_host.h - the C interface of the PVA SDK.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_H

#include "cupva_host_scheduling.h"
#include "cupva_host_types.h"
#include "detail/workloads/cupva_host_cmd_memcpy.h"
#include "detail/workloads/cupva_host_cmd_program.h"
#include "detail/workloads/cupva_host_dataflow.h"
#include "detail/workloads/cupva_host_executable.h"
#include "detail/workloads/cupva_host_mem.h"


#endif
