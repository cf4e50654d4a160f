/* Parts of the multiprocessors, contexts that have them, and their streams. */
#include <cuda.h>

#include "check.h"

#define CALL(call) CHECK((call) == CUDA_SUCCESS)

static void events(CUgreenCtx green, CUcontext primary, CUstream stream, CUdeviceptr memory)
{
    CUevent event;
    CALL(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CALL(cuMemsetD32Async(memory, 3, 1, stream));
    CALL(cuGreenCtxRecordEvent(green, event));
    CALL(cuCtxWaitEvent(primary, event));
    CALL(cuEventSynchronize(event));
    CALL(cuCtxRecordEvent(primary, event));
    CALL(cuGreenCtxWaitEvent(green, event));
    CALL(cuStreamSynchronize(stream));
    CALL(cuEventDestroy(event));
}

int main(void)
{
    CUcontext primary, context, of;
    CUgreenCtx green, of_stream;
    CUdevResource all, groups[2], rest, told;
    CUdevResourceDesc description;
    CUstream stream;
    CUdeviceptr memory;
    unsigned int count = 0, back = 0;

    CALL(cuInit(0));
    CALL(cuDevicePrimaryCtxRetain(&primary, 0));
    CALL(cuCtxSetCurrent(primary));
    CALL(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    CHECK(all.type == CU_DEV_RESOURCE_TYPE_SM && all.sm.smCount >= 8);
    CALL(cuDevSmResourceSplitByCount(NULL, &count, &all, NULL, 0, 3));
    CHECK(count == all.sm.smCount / 4); /* 3 become 4 */
    count = 1;
    CALL(cuDevSmResourceSplitByCount(groups, &count, &all, &rest, 0, 6));
    CHECK(count == 1 && groups[0].sm.smCount == 6 && rest.sm.smCount == all.sm.smCount - 6);
    CHECK(cuDevSmResourceSplitByCount(groups, &count, &all, &rest, 0, 1000)
          == CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
    CALL(cuDevResourceGenerateDesc(&description, groups, 1));
    CHECK(cuGreenCtxCreate(&green, description, 0, 0) == CUDA_ERROR_INVALID_VALUE);
    CALL(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    CALL(cuGreenCtxGetDevResource(green, &told, CU_DEV_RESOURCE_TYPE_SM));
    CHECK(told.sm.smCount == 6);
    CALL(cuCtxFromGreenCtx(&context, green));
    CALL(cuCtxGetDevResource(context, &told, CU_DEV_RESOURCE_TYPE_SM));
    CHECK(told.sm.smCount == 6);
    CALL(cuCtxGetDevResource(primary, &told, CU_DEV_RESOURCE_TYPE_SM));
    CHECK(told.sm.smCount == all.sm.smCount);

    CALL(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    CALL(cuStreamGetGreenCtx(stream, &of_stream));
    CHECK(of_stream == green);
    CALL(cuStreamGetCtx_v2(stream, &of, &of_stream));
    CHECK(of == context && of_stream == green);
    CALL(cuStreamGetGreenCtx(NULL, &of_stream));
    CHECK(of_stream == NULL);
    CALL(cuCtxSetCurrent(context));
    CALL(cuMemAlloc(&memory, sizeof back));
    events(green, primary, stream, memory);
    CALL(cuMemcpyDtoH(&back, memory, sizeof back));
    CHECK(back == 3);
    CALL(cuMemFree(memory));
    CALL(cuCtxSetCurrent(primary));
    CALL(cuStreamDestroy(stream));
    CALL(cuGreenCtxDestroy(green));
    CALL(cuDevicePrimaryCtxRelease(0));
    printf("ok\n");
    return 0;
}
