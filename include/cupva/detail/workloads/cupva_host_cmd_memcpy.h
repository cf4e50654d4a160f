/*
 * cupva_host_cmd_memcpy.h - copies between DRAM and L2SRAM.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_CMD_MEMCPY_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_CMD_MEMCPY_H

#include "cupva_host_types_workloads.h"

#ifdef __cplusplus
extern "C" {
#endif

DLL_EXPORT cupvaError_t CupvaCmdMemcpyCreate(cupvaCmd_t *cmd, cupvaCmdMemcpyBufferParams_t const *params,
                                    size_t bytes);

/* Pitches, width in bytes. */
DLL_EXPORT cupvaError_t CupvaCmdMemcpyCreate2D(cupvaCmd_t *cmd,
                                      cupvaCmdMemcpyBufferParams_t const *params,
                                      size_t dstLinePitch, size_t srcLinePitch, size_t width,
                                      size_t height);

#ifdef __cplusplus
}
#endif

#endif
