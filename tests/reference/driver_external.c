/* An NvSciBuf buffer as memory of the device, and an NvSciSync object that streams and graphs signal and wait for. */
#include <cuda.h>
#include <nvscibuf.h>
#include <nvscisync.h>

#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == CUDA_SUCCESS)
#define SCI(call) CHECK((call) == NvSciError_Success)

enum { SIZE = 4096 };

static void buffers(void)
{
    NvSciBufModule module;
    NvSciBufAttrList list, conflict;
    NvSciBufObj buffer;
    NvSciBufType type = NvSciBufType_RawBuffer;
    NvSciBufAttrValAccessPerm perm = NvSciBufAccessPerm_ReadWrite;
    bool cpu = true;
    uint64_t size = SIZE, align = 64;
    NvSciBufAttrKeyValuePair pairs[] = {
        {NvSciBufGeneralAttrKey_Types, &type, sizeof type},
        {NvSciBufGeneralAttrKey_NeedCpuAccess, &cpu, sizeof cpu},
        {NvSciBufGeneralAttrKey_RequiredPerm, &perm, sizeof perm},
        {NvSciBufRawBufferAttrKey_Size, &size, sizeof size},
        {NvSciBufRawBufferAttrKey_Align, &align, sizeof align},
    };
    CUexternalMemory memory;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc;
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC part;
    CUdeviceptr mapped;
    unsigned char *bytes;

    SCI(NvSciBufModuleOpen(&module));
    SCI(NvSciBufAttrListCreate(module, &list));
    SCI(NvSciBufAttrListSetAttrs(list, pairs, 5));
    SCI(NvSciBufAttrListReconcileAndObjAlloc(&list, 1, &buffer, &conflict));
    NvSciBufAttrListFree(list);
    SCI(NvSciBufObjGetCpuPtr(buffer, (void **)&bytes));
    memset(&desc, 0, sizeof desc);
    desc.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_NVSCIBUF;
    desc.handle.nvSciBufObject = buffer;
    desc.size = SIZE;
    CALL(cuImportExternalMemory(&memory, &desc));
    memset(&part, 0, sizeof part);
    part.offset = 256;
    part.size = 512;
    CALL(cuExternalMemoryGetMappedBuffer(&mapped, memory, &part));
    CALL(cuMemsetD8(mapped, 0x5a, 512));
    CHECK(bytes[255] == 0 && bytes[256] == 0x5a && bytes[767] == 0x5a && bytes[768] == 0);
    CALL(cuMemFree(mapped));
    CALL(cuDestroyExternalMemory(memory));
    NvSciBufObjFree(buffer);
    NvSciBufModuleClose(module);
}

static NvSciSyncAttrList cpu_side(NvSciSyncModule module)
{
    bool cpu = true;
    NvSciSyncAccessPerm perm = NvSciSyncAccessPerm_WaitOnly;
    NvSciSyncAttrKeyValuePair pairs[] = {
        {NvSciSyncAttrKey_NeedCpuAccess, &cpu, sizeof cpu},
        {NvSciSyncAttrKey_RequiredPerm, &perm, sizeof perm},
    };
    NvSciSyncAttrList list;
    SCI(NvSciSyncAttrListCreate(module, &list));
    SCI(NvSciSyncAttrListSetAttrs(list, pairs, 2));
    return list;
}

static void semaphores(CUstream stream)
{
    NvSciSyncModule module;
    NvSciSyncCpuWaitContext context;
    NvSciSyncAttrList sides[2], conflict;
    NvSciSyncObj object;
    NvSciSyncFence fence = NvSciSyncFenceInitializer, again = NvSciSyncFenceInitializer;
    CUexternalSemaphore semaphore;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc;
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal;
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait;

    SCI(NvSciSyncModuleOpen(&module));
    SCI(NvSciSyncCpuWaitContextAlloc(module, &context));
    sides[0] = cpu_side(module);
    SCI(NvSciSyncAttrListCreate(module, &sides[1]));
    CALL(cuDeviceGetNvSciSyncAttributes(sides[1], 0, CUDA_NVSCISYNC_ATTR_SIGNAL));
    SCI(NvSciSyncAttrListReconcileAndObjAlloc(sides, 2, &object, &conflict));
    memset(&desc, 0, sizeof desc);
    desc.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_NVSCISYNC;
    desc.handle.nvSciSyncObj = object;
    CALL(cuImportExternalSemaphore(&semaphore, &desc));
    memset(&signal, 0, sizeof signal);
    signal.params.nvSciSync.fence = &fence;
    CALL(cuSignalExternalSemaphoresAsync(&semaphore, &signal, 1, stream));
    SCI(NvSciSyncFenceWait(&fence, context, 10000000));
    memset(&wait, 0, sizeof wait);
    wait.params.nvSciSync.fence = &fence;
    CALL(cuWaitExternalSemaphoresAsync(&semaphore, &wait, 1, stream));
    CALL(cuStreamSynchronize(stream));
    signal.params.nvSciSync.fence = &again;
    CALL(cuSignalExternalSemaphoresAsync(&semaphore, &signal, 1, stream));
    SCI(NvSciSyncFenceWait(&again, context, 10000000));
    CALL(cuDestroyExternalSemaphore(semaphore));
    NvSciSyncFenceClear(&fence);
    NvSciSyncFenceClear(&again);
    NvSciSyncObjFree(object);
    NvSciSyncAttrListFree(sides[0]);
    NvSciSyncAttrListFree(sides[1]);
    NvSciSyncCpuWaitContextFree(context);
    NvSciSyncModuleClose(module);
}

int main(void)
{
    CUcontext context;
    CUstream stream;
    CALL(cuInit(0));
    CALL(cuDevicePrimaryCtxRetain(&context, 0));
    CALL(cuCtxSetCurrent(context));
    CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    buffers();
    semaphores(stream);
    CALL(cuStreamDestroy(stream));
    printf("ok\n");
    return 0;
}
