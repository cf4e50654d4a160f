/* Memory pools: a pool of one's own, its attributes, and the one that cudaMallocAsync takes. */
#include <cuda_runtime_api.h>

#include <stdint.h>
#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == cudaSuccess)

int main(void)
{
    cudaMemPool_t usual, current, own;
    struct cudaMemPoolProps props;
    uint64_t threshold = UINT64_MAX, kept = 0, used = 0;
    void *memory;
    cudaStream_t stream;

    CALL(cudaStreamCreate(&stream));
    CALL(cudaDeviceGetDefaultMemPool(&usual, 0));
    CALL(cudaDeviceGetMemPool(&current, 0));
    CHECK(current == usual);

    memset(&props, 0, sizeof props);
    props.allocType = cudaMemAllocationTypePinned;
    props.location = (struct cudaMemLocation){cudaMemLocationTypeDevice, 0};
    CALL(cudaMemPoolCreate(&own, &props));
    CALL(cudaDeviceSetMemPool(0, own));
    CALL(cudaDeviceGetMemPool(&current, 0));
    CHECK(current == own);

    /* Without a threshold a pool gives everything back whenever a stream is waited for. */
    CALL(cudaMemPoolSetAttribute(own, cudaMemPoolAttrReleaseThreshold, &threshold));
    CALL(cudaMallocAsync(&memory, 1 << 20, stream));
    CALL(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
    CHECK(used == 1 << 20);
    CALL(cudaFreeAsync(memory, stream));
    CALL(cudaStreamSynchronize(stream));
    CALL(cudaMemPoolGetAttribute(own, cudaMemPoolAttrReservedMemCurrent, &kept));
    CHECK(kept >= 1 << 20);
    CALL(cudaMemPoolTrimTo(own, 0));
    CALL(cudaMemPoolGetAttribute(own, cudaMemPoolAttrReservedMemCurrent, &kept));
    CHECK(kept == 0);

    struct cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, 0},
                                       cudaMemAccessFlagsProtReadWrite};
    enum cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
    CALL(cudaMemPoolSetAccess(own, &access, 1));
    CALL(cudaMemPoolGetAccess(&flags, own, &access.location));
    CHECK(flags == cudaMemAccessFlagsProtReadWrite);

    CALL(cudaMemPoolDestroy(own));
    CALL(cudaDeviceGetMemPool(&current, 0));
    CHECK(current == usual); /* the pool of a device that had another one's */
    CALL(cudaStreamDestroy(stream));
    printf("ok\n");
    return 0;
}
