/* Times calls from C and prints `name value` lines; benchmarks/cudla_calls.py reads them. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "cuda_runtime_api.h"
#include "cudla.h"
#include "nvscisync.h"

#define CHECK(call)                                                        \
    do {                                                                   \
        int status_ = (int)(call);                                         \
        if (status_ != 0) {                                                \
            fprintf(stderr, "%s answered %#x\n", #call, (unsigned)status_); \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[count / 2];
}

/* Resident memory in KiB. */
static long resident(void)
{
    long pages = 0, skipped = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &skipped, &pages) != 2) {
        return 0;
    }
    fclose(file);
    return pages * 4;
}

static NvSciSyncObj new_sync(NvSciSyncModule module)
{
    bool cpu = true;
    NvSciSyncAccessPerm perm = NvSciSyncAccessPerm_WaitOnly;
    NvSciSyncAttrKeyValuePair pairs[] = {
        {NvSciSyncAttrKey_NeedCpuAccess, &cpu, sizeof cpu},
        {NvSciSyncAttrKey_RequiredPerm, &perm, sizeof perm},
    };
    NvSciSyncAttrList lists[2], conflicts;
    NvSciSyncObj object;
    CHECK(NvSciSyncAttrListCreate(module, &lists[0]));
    CHECK(NvSciSyncAttrListCreate(module, &lists[1]));
    CHECK(NvSciSyncAttrListSetAttrs(lists[0], pairs, 2));
    CHECK(cudlaGetNvSciSyncAttributes((uint64_t *)lists[1], CUDLA_NVSCISYNC_ATTR_SIGNAL));
    CHECK(NvSciSyncAttrListReconcileAndObjAlloc(lists, 2, &object, &conflicts));
    return object;
}

static void one_gibibyte(void)
{
    cudlaDevHandle device;
    void *memory;
    uint64_t *registered;
    CHECK(cudlaCreateDevice(0, &device, CUDLA_CUDA_DLA));
    CHECK(cudaMalloc(&memory, (size_t)1 << 30));
    long before = resident();
    double begin = now();
    CHECK(cudlaMemRegister(device, (uint64_t *)memory, (size_t)1 << 30, &registered, 0));
    printf("register_us %f\n", (now() - begin) * 1e6);
    printf("register_own_mib %f\n", (double)(resident() - before) / 1024);
    CHECK(cudlaMemUnregister(device, registered));
    CHECK(cudaFree(memory));
    CHECK(cudlaDestroyDevice(device));
}

int main(int argc, char **argv)
{
    (void)argc;
    uint64_t version;
    double begin;
    CHECK(cudlaGetVersion(&version));

    double samples[101];
    for (int s = 0; s < 101; s++) {
        begin = now();
        for (int i = 0; i < 2000; i++) {
            cudlaGetVersion(&version);
        }
        samples[s] = (now() - begin) / 2000;
    }
    printf("empty_call_us %f\n", median(samples, 101) * 1e6);

    /* A module is needed to submit to; its file is the argument. */
    FILE *file = fopen(argv[1], "rb");
    if (file == NULL) {
        perror(argv[1]);
        return 1;
    }
    static unsigned char image[1 << 20];
    size_t size = fread(image, 1, sizeof image, file);
    fclose(file);
    cudlaDevHandle device;
    cudlaModule module;
    cudlaModuleTensorDescriptor in, out;
    cudlaModuleAttribute attribute;
    CHECK(cudlaCreateDevice(0, &device, CUDLA_CUDA_DLA));
    CHECK(cudlaModuleLoadFromMemory(device, image, size, &module, 0));
    attribute.inputTensorDesc = &in;
    CHECK(cudlaModuleGetAttributes(module, CUDLA_INPUT_TENSOR_DESCRIPTORS, &attribute));
    attribute.outputTensorDesc = &out;
    CHECK(cudlaModuleGetAttributes(module, CUDLA_OUTPUT_TENSOR_DESCRIPTORS, &attribute));
    void *memory[2];
    uint64_t *registered[2];
    CHECK(cudaMalloc(&memory[0], in.size));
    CHECK(cudaMalloc(&memory[1], out.size));
    CHECK(cudlaMemRegister(device, (uint64_t *)memory[0], in.size, &registered[0], 0));
    CHECK(cudlaMemRegister(device, (uint64_t *)memory[1], out.size, &registered[1], 0));
    const uint64_t *inputs[] = {registered[0]};
    uint64_t *outputs[] = {registered[1]};
    cudlaTask task = {.moduleHandle = module,
                      .inputTensor = inputs,
                      .numInputTensors = 1,
                      .outputTensor = outputs,
                      .numOutputTensors = 1};
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    static double long_samples[1001];
    for (int s = 0; s < 1001; s++) {
        begin = now();
        CHECK(cudlaSubmitTask(device, &task, 1, stream, CUDLA_SUBMIT_NOOP));
        CHECK(cudaStreamSynchronize(stream));
        long_samples[s] = now() - begin;
    }
    printf("noop_hybrid_us %f\n", median(long_samples, 1001) * 1e6);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudlaDestroyDevice(device));

    NvSciSyncModule sync_module;
    NvSciSyncCpuWaitContext context;
    uint64_t *semaphore;
    CHECK(NvSciSyncModuleOpen(&sync_module));
    CHECK(NvSciSyncCpuWaitContextAlloc(sync_module, &context));
    CHECK(cudlaCreateDevice(0, &device, CUDLA_STANDALONE));
    CHECK(cudlaModuleLoadFromMemory(device, image, size, &module, 0));
    cudlaExternalSemaphoreHandleDesc desc = {.extSyncObject = new_sync(sync_module)};
    CHECK(cudlaImportExternalSemaphore(device, &desc, &semaphore, 0));
    for (int s = 0; s < 1001; s++) {
        NvSciSyncFence fence = NvSciSyncFenceInitializer;
        CudlaFence eof = {.fence = &fence, .type = CUDLA_NVSCISYNC_FENCE};
        cudlaSignalEvents signals = {.devPtrs = &semaphore, .eofFences = &eof, .numEvents = 1};
        cudlaTask events = {.signalEvents = &signals};
        begin = now();
        CHECK(cudlaSubmitTask(device, &events, 1, NULL, CUDLA_SUBMIT_NOOP));
        long_samples[s] = now() - begin;
        NvSciSyncFenceClear(&fence);
    }
    printf("event_only_us %f\n", median(long_samples, 1001) * 1e6);
    one_gibibyte();
    return 0;
}
