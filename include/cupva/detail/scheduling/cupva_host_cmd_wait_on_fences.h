/*
 * cupva_host_cmd_wait_on_fences.h - holds up the commands behind it.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_CMD_WAIT_ON_FENCES_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_CMD_WAIT_ON_FENCES_H

#include "cupva_host_types_scheduling.h"

#ifdef __cplusplus
extern "C" {
#endif

/* At most 8. */
DLL_EXPORT cupvaError_t CupvaCmdWaitOnFencesInit(cupvaCmd_t *cmd, cupvaFence_t const *fences,
                                        int32_t count);

#ifdef __cplusplus
}
#endif

#endif
