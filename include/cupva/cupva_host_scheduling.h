/*
 * cupva_host_scheduling.h - streams, fences, memory.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_SCHEDULING_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_SCHEDULING_H

#include "detail/scheduling/cupva_host_cmd.h"
#include "detail/scheduling/cupva_host_cmd_barrier.h"
#include "detail/scheduling/cupva_host_cmd_buffer.h"
#include "detail/scheduling/cupva_host_cmd_l2ops.h"
#include "detail/scheduling/cupva_host_cmd_pfsd.h"
#include "detail/scheduling/cupva_host_cmd_request_fences.h"
#include "detail/scheduling/cupva_host_cmd_wait_on_fences.h"
#include "detail/scheduling/cupva_host_context.h"
#include "detail/scheduling/cupva_host_fence.h"
#include "detail/scheduling/cupva_host_global_util.h"
#include "detail/scheduling/cupva_host_mem_alloc.h"
#include "detail/scheduling/cupva_host_stream.h"
#include "detail/scheduling/cupva_host_sync_obj.h"


#endif
