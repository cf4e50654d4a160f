/* cuGetProcAddress: the library's own functions by their names. Python only explains failures. */
#include <stdio.h>
#include <string.h>

#include "boot.h"
#include "cuda/cuda.h"
#include "generated/hand_written.h"
#include "internal.h"
#include "library/cuda/entry_points.h"

/* Names whose later generation has a suffix, and the version that brought it. */
static const struct {
    const char *name;
    int since;
    const char *later;
} generations[] = {
    {"cuDeviceGetUuid", 11040, "cuDeviceGetUuid_v2"},
    {"cuDevicePrimaryCtxRelease", 11000, "cuDevicePrimaryCtxRelease_v2"},
    {"cuDeviceTotalMem", 3020, "cuDeviceTotalMem_v2"},
    {"cuGetProcAddress", 12000, "cuGetProcAddress_v2"},
    {"cuCtxCreate", 13000, "cuCtxCreate_v4"},
    {"cuCtxCreate", 3020, "cuCtxCreate_v2"},
    {"cuCtxDestroy", 4000, "cuCtxDestroy_v2"},
    {"cuCtxPopCurrent", 4000, "cuCtxPopCurrent_v2"},
    {"cuCtxPushCurrent", 4000, "cuCtxPushCurrent_v2"},
    {"cuMemGetInfo", 3020, "cuMemGetInfo_v2"},
    {"cuMemAlloc", 3020, "cuMemAlloc_v2"},
    {"cuMemFree", 3020, "cuMemFree_v2"},
    {"cuMemcpyHtoD", 3020, "cuMemcpyHtoD_v2"},
    {"cuMemcpyDtoH", 3020, "cuMemcpyDtoH_v2"},
    {"cuMemcpyDtoD", 3020, "cuMemcpyDtoD_v2"},
    {"cuMemcpyHtoDAsync", 3020, "cuMemcpyHtoDAsync_v2"},
    {"cuMemcpyDtoHAsync", 3020, "cuMemcpyDtoHAsync_v2"},
    {"cuMemsetD8", 3020, "cuMemsetD8_v2"},
    {"cuStreamDestroy", 4000, "cuStreamDestroy_v2"},
    {"cuEventDestroy", 4000, "cuEventDestroy_v2"},
    {"cuEventElapsedTime", 12080, "cuEventElapsedTime_v2"},
};

static void *named(const char *symbol)
{
    for (size_t i = 0; i < sim_driver_table_size; i++) {
        if (strcmp(symbol, sim_driver_table[i].name) == 0) {
            return (void *)sim_driver_table[i].function;
        }
    }
    return NULL;
}

static void *find(const char *symbol, int version, cuuint64_t flags)
{
    if (symbol == NULL || flags > CU_GET_PROC_ADDRESS_LEGACY_STREAM) { return NULL; }
    for (size_t i = 0; i < sizeof generations / sizeof *generations; i++) {
        if (strcmp(symbol, generations[i].name) == 0 && version >= generations[i].since) {
            symbol = generations[i].later;
            break;
        }
    }
    /* Many names only have their second generation here. */
    char later[64];
    void *found = named(symbol);
    return found == NULL && snprintf(later, sizeof later, "%s_v2", symbol) < (int)sizeof later
               ? named(later)
               : found;
}

SIM_EXPORT CUresult sim__cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion,
                                          cuuint64_t flags)
{
    void *found = find(symbol, cudaVersion, flags);
    if (found == NULL || pfn == NULL) {
        if (sim_enter() != 0) { return CUDA_ERROR_UNKNOWN; }
        return impl_cuGetProcAddress(symbol, pfn, cudaVersion, flags);
    }
    *pfn = found;
    return CUDA_SUCCESS;
}

SIM_EXPORT CUresult sim__cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion,
                                             cuuint64_t flags,
                                             CUdriverProcAddressQueryResult *symbolStatus)
{
    void *found = find(symbol, cudaVersion, flags);
    if (found == NULL || pfn == NULL) {
        if (sim_enter() != 0) { return CUDA_ERROR_UNKNOWN; }
        return impl_cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, symbolStatus);
    }
    *pfn = found;
    if (symbolStatus != NULL) { *symbolStatus = CU_GET_PROC_ADDRESS_SUCCESS; }
    return CUDA_SUCCESS;
}
