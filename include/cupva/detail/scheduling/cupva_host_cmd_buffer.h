/*
 * cupva_host_cmd_buffer.h - a list of commands that is submitted many times.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_CMD_BUFFER_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_CMD_BUFFER_H

#include "cupva_host_types_scheduling.h"

#ifdef __cplusplus
extern "C" {
#endif

DLL_EXPORT cupvaError_t CupvaCmdBufferCreate(cupvaCmdBuffer_t *buffer, cupvaCmd_t const *const *cmds,
                                    int32_t count, cupvaCmdStatus_t *status,
                                    cupvaOrderType_t order);
DLL_EXPORT cupvaError_t CupvaCmdBufferDestroy(cupvaCmdBuffer_t buffer);

#ifdef __cplusplus
}
#endif

#endif
