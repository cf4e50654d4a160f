/* What needs no device: the description of a texel. */
#include "boot.h"
#include "cuda/cuda_runtime_api.h"

SIM_EXPORT struct cudaChannelFormatDesc sim__cudaCreateChannelDesc(int x, int y, int z, int w,
                                                                   enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}
