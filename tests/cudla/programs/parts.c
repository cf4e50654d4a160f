// Runs a network in parts on a file of floats, whatever its input's format is: a buffer of the host
// takes them as they are. Prints the floats of the last output.
//
//     parts PACKAGE FLOATS hybrid|standalone
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudla.h"
#include "nvscibuf.h"
#include "nvscisync.h"

#define CHECK(call)                                                              \
    do {                                                                         \
        const int status_ = (int)(call);                                         \
        if (status_ != 0) {                                                      \
            fprintf(stderr, "%d: %s answered %#x\n", __LINE__, #call, status_);  \
            exit(1);                                                             \
        }                                                                        \
    } while (0)

static void *read_file(const char *name, size_t *size)
{
    FILE *file = fopen(name, "rb");
    if (!file) exit(2);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    void *data = malloc(*size);
    if (fread(data, 1, *size, file) != *size) exit(2);
    fclose(file);
    return data;
}

static cudlaModuleTensorDescriptor describe(cudlaModule module, cudlaModuleAttributeType type)
{
    cudlaModuleTensorDescriptor tensor;
    cudlaModuleAttribute attribute;
    attribute.inputTensorDesc = &tensor;
    CHECK(cudlaModuleGetAttributes(module, type, &attribute));
    return tensor;
}

static uint64_t *hybrid_memory(cudlaDevHandle device, size_t size, void **memory)
{
    uint64_t *found;
    CHECK(cudaMalloc(memory, size));
    CHECK(cudlaMemRegister(device, (uint64_t *)*memory, size, &found, 0));
    return found;
}

static uint64_t *shared_memory(cudlaDevHandle device, NvSciBufModule module, uint64_t size,
                               void **memory)
{
    NvSciBufAttrList list, conflict;
    NvSciBufObj object;
    uint64_t *found;
    bool cpu = true;
    NvSciBufType type = NvSciBufType_RawBuffer;
    NvSciBufAttrValAccessPerm perm = NvSciBufAccessPerm_ReadWrite;
    uint64_t align = 512;
    NvSciBufAttrKeyValuePair pairs[] = {
        {NvSciBufGeneralAttrKey_Types, &type, sizeof type},
        {NvSciBufGeneralAttrKey_NeedCpuAccess, &cpu, sizeof cpu},
        {NvSciBufGeneralAttrKey_RequiredPerm, &perm, sizeof perm},
        {NvSciBufRawBufferAttrKey_Size, &size, sizeof size},
        {NvSciBufRawBufferAttrKey_Align, &align, sizeof align},
    };
    CHECK(NvSciBufAttrListCreate(module, &list));
    CHECK(NvSciBufAttrListSetAttrs(list, pairs, 5));
    CHECK(NvSciBufAttrListReconcileAndObjAlloc(&list, 1, &object, &conflict));
    CHECK(NvSciBufObjGetCpuPtr(object, memory));
    cudlaExternalMemoryHandleDesc desc = {object, size};
    CHECK(cudlaImportExternalMemory(device, &desc, &found, 0));
    return found;
}

int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    const int hybrid = strcmp(argv[3], "hybrid") == 0;
    size_t size, bytes;
    void *image = read_file(argv[1], &size), *floats = read_file(argv[2], &bytes);
    cudlaDevHandle device;
    cudlaModule module;
    NvSciBufModule buffers;
    CHECK(cudlaCreateDevice(0, &device, hybrid ? CUDLA_CUDA_DLA : CUDLA_STANDALONE));
    CHECK(cudlaModuleLoadFromMemory(device, image, size, &module, 0));
    cudlaModuleTensorDescriptor in = describe(module, CUDLA_INPUT_TENSOR_DESCRIPTORS);
    cudlaModuleTensorDescriptor out = describe(module, CUDLA_OUTPUT_TENSOR_DESCRIPTORS);
    if (in.size != bytes || in.dataType != CUDLA_DATA_TYPE_FLOAT) return 3;
    void *from, *to;
    uint64_t *input, *output;
    if (hybrid) {
        input = hybrid_memory(device, in.size, &from);
        output = hybrid_memory(device, out.size, &to);
        CHECK(cudaMemcpy(from, floats, bytes, cudaMemcpyHostToDevice));
    } else {
        CHECK(NvSciBufModuleOpen(&buffers));
        input = shared_memory(device, buffers, in.size, &from);
        output = shared_memory(device, buffers, out.size, &to);
        memcpy(from, floats, bytes);
    }
    cudlaTask task;
    memset(&task, 0, sizeof task);
    task.moduleHandle = module;
    task.outputTensor = &output;
    task.numOutputTensors = 1;
    task.inputTensor = (const uint64_t *const *)&input;
    task.numInputTensors = 1;
    cudaStream_t stream = NULL;
    if (hybrid) {
        CHECK(cudaStreamCreate(&stream));
        CHECK(cudlaSubmitTask(device, &task, 1, stream, 0));
        CHECK(cudaStreamSynchronize(stream));
    } else {
        NvSciSyncModule syncs;
        NvSciSyncAttrList lists[2], reconciled;
        NvSciSyncObj object;
        NvSciSyncFence fence = NvSciSyncFenceInitializer;
        NvSciSyncCpuWaitContext context;
        bool cpu = true;
        NvSciSyncAccessPerm wait = NvSciSyncAccessPerm_WaitOnly;
        NvSciSyncAttrKeyValuePair pairs[] = {
            {NvSciSyncAttrKey_NeedCpuAccess, &cpu, sizeof cpu},
            {NvSciSyncAttrKey_RequiredPerm, &wait, sizeof wait},
        };
        CHECK(NvSciSyncModuleOpen(&syncs));
        CHECK(NvSciSyncAttrListCreate(syncs, &lists[0]));
        CHECK(NvSciSyncAttrListCreate(syncs, &lists[1]));
        CHECK(NvSciSyncAttrListSetAttrs(lists[0], pairs, 2));
        CHECK(cudlaGetNvSciSyncAttributes((uint64_t *)lists[1], CUDLA_NVSCISYNC_ATTR_SIGNAL));
        CHECK(NvSciSyncAttrListReconcileAndObjAlloc(lists, 2, &object, &reconciled));
        CHECK(NvSciSyncCpuWaitContextAlloc(syncs, &context));
        cudlaExternalSemaphoreHandleDesc desc = {object};
        uint64_t *semaphore;
        CHECK(cudlaImportExternalSemaphore(device, &desc, &semaphore, 0));
        CudlaFence end = {&fence, CUDLA_NVSCISYNC_FENCE};
        cudlaSignalEvents signals = {&semaphore, &end, 1};
        task.signalEvents = &signals;
        CHECK(cudlaSubmitTask(device, &task, 1, NULL, 0));
        CHECK(NvSciSyncFenceWait(&fence, context, -1));
    }
    CHECK(cudlaGetLastError(device));
    if (out.dataType != CUDLA_DATA_TYPE_FLOAT) return 4;
    for (uint64_t i = 0; i < out.size / sizeof(float); i++) printf("%.9g\n", ((float *)to)[i]);
    CHECK(cudlaModuleUnload(module, 0));
    CHECK(cudlaDestroyDevice(device));
    return 0;
}
