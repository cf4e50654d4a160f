// How standalone programs call cuDLA: NvSciBuf memory, NvSciSync events, no CUDA.
// Nothing but the library's own headers: memset and memcpy must come with them.
#include "cudla.h"
#include "nvscibuf.h"
#include "nvscierror.h"
#include "nvscisync.h"

static NvSciError make_buffer(NvSciBufModule module, uint64_t bytes, NvSciBufObj *object) {
    NvSciBufAttrList unreconciled = nullptr, reconciled = nullptr, conflicts;
    NvSciBufType type = NvSciBufType_Tensor;
    NvSciBufAttrValDataType data = NvSciDataType_Int8;
    NvSciBufAttrValAccessPerm perm = NvSciBufAccessPerm_ReadWrite;
    uint32_t dims = 1, alignment[NV_SCI_BUF_TENSOR_MAX_DIMS] = {1};
    uint64_t sizes[] = {bytes}, base = 512;
    bool cpu = true;
    NvSciBufAttrKeyValuePair pairs[] = {
        {NvSciBufGeneralAttrKey_Types, &type, sizeof(type)},
        {NvSciBufTensorAttrKey_DataType, &data, sizeof(data)},
        {NvSciBufTensorAttrKey_NumDims, &dims, sizeof(dims)},
        {NvSciBufTensorAttrKey_SizePerDim, &sizes, sizeof(sizes)},
        {NvSciBufTensorAttrKey_AlignmentPerDim, &alignment, sizeof(uint32_t)},
        {NvSciBufTensorAttrKey_BaseAddrAlign, &base, sizeof(base)},
        {NvSciBufGeneralAttrKey_NeedCpuAccess, &cpu, sizeof(cpu)},
        {NvSciBufGeneralAttrKey_RequiredPerm, &perm, sizeof(perm)},
    };
    NvSciError error = NvSciBufAttrListCreate(module, &unreconciled);
    error = NvSciBufAttrListSetAttrs(unreconciled, pairs, sizeof(pairs) / sizeof(pairs[0]));
    error = NvSciBufAttrListReconcile(&unreconciled, 1, &reconciled, &conflicts);
    error = NvSciBufObjAlloc(reconciled, object);
    NvSciBufAttrListFree(conflicts);
    return error;
}

int main() {
    cudlaDevHandle device;
    cudlaStatus status = cudlaCreateDevice(0, &device, CUDLA_STANDALONE);
    NvSciBufModule buffers;
    NvSciBufObj object;
    NvSciError error = NvSciBufModuleOpen(&buffers);
    error = make_buffer(buffers, 4096, &object);
    cudlaExternalMemoryHandleDesc memory = {0, 0};
    memset(&memory, 0, sizeof(memory));
    memory.extBufObject = (void *)object;
    memory.size = 4096;
    uint64_t *registered = NULL;
    status = cudlaImportExternalMemory(device, &memory, &registered, 0);
    void *cpu_address = NULL;
    error = NvSciBufObjGetCpuPtr(object, &cpu_address);

    NvSciSyncModule syncs;
    NvSciSyncAttrList list, waiter, reconciled, conflicts;
    error = NvSciSyncModuleOpen(&syncs);
    error = NvSciSyncAttrListCreate(syncs, &list);
    error = NvSciSyncAttrListCreate(syncs, &waiter);
    bool cpu = true;
    NvSciSyncAccessPerm perm = NvSciSyncAccessPerm_SignalOnly;
    NvSciSyncAttrKeyValuePair pairs[2];
    pairs[0].attrKey = NvSciSyncAttrKey_NeedCpuAccess;
    pairs[0].value = (void *)&cpu;
    pairs[0].len = sizeof(cpu);
    pairs[1].attrKey = NvSciSyncAttrKey_RequiredPerm;
    pairs[1].value = (void *)&perm;
    pairs[1].len = sizeof(perm);
    error = NvSciSyncAttrListSetAttrs(list, pairs, 2);
    status = cudlaGetNvSciSyncAttributes(reinterpret_cast<uint64_t *>(waiter),
                                         CUDLA_NVSCISYNC_ATTR_WAIT);
    NvSciSyncAttrList both[2] = {list, waiter};
    error = NvSciSyncAttrListReconcile(both, 2, &reconciled, &conflicts);
    NvSciSyncObj sync;
    error = NvSciSyncObjAlloc(reconciled, &sync);
    cudlaExternalSemaphoreHandleDesc semaphore = {0};
    semaphore.extSyncObject = sync;
    uint64_t *signal = NULL;
    status = cudlaImportExternalSemaphore(device, &semaphore, &signal, 0);

    NvSciSyncFence before = NvSciSyncFenceInitializer, after = NvSciSyncFenceInitializer;
    error = NvSciSyncObjGenerateFence(sync, &before);
    CudlaFence pre = {&before, CUDLA_NVSCISYNC_FENCE};
    CudlaFence eof = {&after, CUDLA_NVSCISYNC_FENCE_SOF};
    cudlaWaitEvents waits;
    waits.preFences = &pre;
    waits.numEvents = 1;
    cudlaSignalEvents signals;
    signals.devPtrs = &signal;
    signals.eofFences = &eof;
    signals.numEvents = 1;
    cudlaTask task;
    memset(&task, 0, sizeof(task));
    task.inputTensor = &registered;
    task.outputTensor = &registered;
    task.waitEvents = &waits;
    task.signalEvents = &signals;
    status = cudlaSubmitTask(device, &task, 1, NULL, CUDLA_SUBMIT_NOOP);
    error = NvSciSyncObjSignal(sync);
    NvSciSyncCpuWaitContext context;
    error = NvSciSyncCpuWaitContextAlloc(syncs, &context);
    error = NvSciSyncFenceWait(&after, context, -1);
    uint64_t id, value;
    error = NvSciSyncFenceExtractFence(&after, &id, &value);
    error = NvSciSyncFenceUpdateFence(sync, id, value, &before);
    NvSciSyncFenceClear(&after);
    return (int)status + (int)error;
}
