/* A standalone task that waits for the CPU: what it needs stays, and what it may not take. */
#include "cudla_objects.h"
#include "cudla_load.h"

enum { SIZE = 4096, VALUE = 5 };

int main(int argc, char **argv)
{
    cudlaDevHandle device;
    cudlaModule module;
    uint64_t *input, *output, *ready, *done, *other = NULL;
    void *in, *out;
    (void)argc;
    open_modules();
    CHECK(cudlaCreateDevice(0, &device, CUDLA_STANDALONE) == cudlaSuccess);
    module = load(device, argv[1]);

    NvSciBufObj in_buffer = buffer_of(SIZE, &in), out_buffer = buffer_of(SIZE, &out);
    cudlaExternalMemoryHandleDesc memory = {in_buffer, SIZE};
    cudlaStatus status = cudlaImportExternalMemory(device, NULL, &input, CUDLA_READ_WRITE_PERM);
    CHECK(status == cudlaErrorInvalidParam);
    /* The permissions are one of three, no set of bits. */
    status = cudlaImportExternalMemory(device, &memory, &input,
                                       CUDLA_READ_ONLY_PERM | CUDLA_TASK_STATISTICS);
    CHECK(status == cudlaErrorInvalidParam);
    status = cudlaImportExternalMemory(device, &memory, &input, CUDLA_READ_ONLY_PERM);
    CHECK(status == cudlaSuccess);
    status = cudlaImportExternalMemory(device, &memory, &other, CUDLA_READ_ONLY_PERM);
    CHECK(status == cudlaErrorMemoryRegistered);
    memory.extBufObject = out_buffer;
    memory.size = SIZE + 1;
    status = cudlaImportExternalMemory(device, &memory, &output, CUDLA_READ_WRITE_PERM);
    CHECK(status == cudlaErrorInvalidParam);
    memory.size = SIZE;
    status = cudlaImportExternalMemory(device, &memory, &output, CUDLA_READ_WRITE_PERM);
    CHECK(status == cudlaSuccess);

    NvSciSyncObj waited = sync_with(CUDLA_NVSCISYNC_ATTR_WAIT);
    NvSciSyncObj signaled = sync_with(CUDLA_NVSCISYNC_ATTR_SIGNAL);
    cudlaExternalSemaphoreHandleDesc semaphore = {waited};
    CHECK(cudlaImportExternalSemaphore(device, &semaphore, &ready, 0) == cudlaSuccess);
    semaphore.extSyncObject = signaled;
    CHECK(cudlaImportExternalSemaphore(device, &semaphore, &done, 0) == cudlaSuccess);

    NvSciSyncFence before = NvSciSyncFenceInitializer, after = NvSciSyncFenceInitializer;
    CHECK(NvSciSyncObjGenerateFence(waited, &before) == NvSciError_Success);
    CudlaFence wait = {&before, CUDLA_NVSCISYNC_FENCE}, signal = {&after, CUDLA_NVSCISYNC_FENCE};
    cudlaWaitEvents waits = {&wait, 1};
    uint64_t *const semaphores[] = {done};
    cudlaSignalEvents signals = {semaphores, &signal, 1};
    const uint64_t *const inputs[] = {input};
    uint64_t *const outputs[] = {output};
    cudlaTask task = {module, outputs, 1, 1, inputs, &waits, &signals};
    memset(in, VALUE, SIZE);
    CHECK(cudlaSubmitTask(device, &task, 1, NULL, 0) == cudlaSuccess);

    /* Nothing that the task needs can be taken away while it waits, its semaphores neither. */
    CHECK(NvSciSyncFenceWait(&after, context, 1000) == NvSciError_Timeout);
    CHECK(cudlaMemUnregister(device, input) == cudlaErrorUmd);
    CHECK(cudlaMemUnregister(device, output) == cudlaErrorUmd);
    CHECK(cudlaMemUnregister(device, ready) == cudlaErrorUmd);
    CHECK(cudlaMemUnregister(device, done) == cudlaErrorUmd);
    CHECK(cudlaModuleUnload(module, 0) == cudlaErrorUmd);
    CHECK(cudlaDestroyDevice(device) == cudlaErrorUmd);

    CHECK(NvSciSyncObjSignal(waited) == NvSciError_Success);
    CHECK(NvSciSyncFenceWait(&after, context, -1) == NvSciError_Success);
    CHECK(((char *)out)[0] == VALUE);
    CHECK(cudlaMemUnregister(device, ready) == cudlaSuccess);
    CHECK(cudlaMemUnregister(device, ready) == cudlaErrorInvalidAddress);

    /* Its fences are no longer known to the device. */
    CHECK(NvSciSyncObjGenerateFence(waited, &before) == NvSciError_Success);
    CHECK(cudlaSubmitTask(device, &task, 1, NULL, 0) == cudlaErrorInvalidAddress);

    CHECK(cudlaDestroyDevice(device) == cudlaSuccess);
    NvSciBufObjFree(in_buffer);
    NvSciBufObjFree(out_buffer);
    NvSciSyncFenceClear(&before);
    NvSciSyncFenceClear(&after);
    puts("ok");
    return 0;
}
