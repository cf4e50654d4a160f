/*
 * cupva_host_cmd_request_fences.h - fences that expire when the commands before them have ended.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_CMD_REQUEST_FENCES_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_CMD_REQUEST_FENCES_H

#include "cupva_host_types_scheduling.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `fences` are kept by reference and populated by the submission. At most 4. */
DLL_EXPORT cupvaError_t CupvaCmdRequestFencesInit(cupvaCmd_t *cmd, cupvaFence_t *fences, int32_t count);

#ifdef __cplusplus
}
#endif

#endif
