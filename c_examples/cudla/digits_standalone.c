/*
 * Classifies handwritten digits on a DLA in standalone mode: buffers are NvSciBuf objects, order
 * comes from NvSciSync fences, and no CUDA is involved.
 *
 *     digits_standalone LOADABLE PICTURE.pgm...
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudla.h"
#include "cudlaExternalEtbl.hpp"
#include "nvscibuf.h"
#include "nvscisync.h"
#include "sample.h"

#define CHECK(call)                                                                          \
    do {                                                                                     \
        int status_ = (int)(call);                                                           \
        if (status_ != 0) {                                                                  \
            fprintf(stderr, "%s:%d: %s answered %#x\n", __FILE__, __LINE__, #call, status_); \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

/* A buffer that the CPU and the DLA both use. */
struct buffer {
    NvSciBufObj object;
    unsigned char *cpu;
    uint64_t *dla;
};

/* A sync object with one side on the CPU and the other on the DLA. */
struct event {
    NvSciSyncObj object;
    uint64_t *dla;
};

static NvSciBufModule buf_module;
static NvSciSyncModule sync_module;

static struct buffer new_buffer(cudlaDevHandle device, uint64_t size, uint32_t flags)
{
    NvSciBufType type = NvSciBufType_RawBuffer;
    NvSciBufAttrValAccessPerm perm = NvSciBufAccessPerm_ReadWrite;
    bool cpu_access = true;
    uint64_t align = 512;
    NvSciBufAttrKeyValuePair pairs[] = {
        {NvSciBufGeneralAttrKey_Types, &type, sizeof type},
        {NvSciBufGeneralAttrKey_NeedCpuAccess, &cpu_access, sizeof cpu_access},
        {NvSciBufGeneralAttrKey_RequiredPerm, &perm, sizeof perm},
        {NvSciBufRawBufferAttrKey_Size, &size, sizeof size},
        {NvSciBufRawBufferAttrKey_Align, &align, sizeof align},
    };
    NvSciBufAttrList list, conflicts;
    struct buffer result;
    void *cpu = NULL;

    CHECK(NvSciBufAttrListCreate(buf_module, &list));
    CHECK(NvSciBufAttrListSetAttrs(list, pairs, sizeof pairs / sizeof pairs[0]));
    CHECK(NvSciBufAttrListReconcileAndObjAlloc(&list, 1, &result.object, &conflicts));
    NvSciBufAttrListFree(list);
    CHECK(NvSciBufObjGetCpuPtr(result.object, &cpu));
    result.cpu = (unsigned char *)cpu;
    cudlaExternalMemoryHandleDesc desc = {.extBufObject = result.object, .size = size};
    CHECK(cudlaImportExternalMemory(device, &desc, &result.dla, flags));
    return result;
}

static struct event new_event(cudlaDevHandle device, bool dla_waits)
{
    bool cpu_access = true;
    NvSciSyncAccessPerm perm =
        dla_waits ? NvSciSyncAccessPerm_SignalOnly : NvSciSyncAccessPerm_WaitOnly;
    NvSciSyncAttrKeyValuePair pairs[] = {
        {NvSciSyncAttrKey_NeedCpuAccess, &cpu_access, sizeof cpu_access},
        {NvSciSyncAttrKey_RequiredPerm, &perm, sizeof perm},
    };
    NvSciSyncAttrList lists[2], conflicts; /* the CPU's wishes and the DLA's */
    struct event result;

    CHECK(NvSciSyncAttrListCreate(sync_module, &lists[0]));
    CHECK(NvSciSyncAttrListCreate(sync_module, &lists[1]));
    CHECK(NvSciSyncAttrListSetAttrs(lists[0], pairs, 2));
    CHECK(cudlaGetNvSciSyncAttributes((uint64_t *)lists[1], dla_waits
                                                                ? CUDLA_NVSCISYNC_ATTR_WAIT
                                                                : CUDLA_NVSCISYNC_ATTR_SIGNAL));
    CHECK(NvSciSyncAttrListReconcileAndObjAlloc(lists, 2, &result.object, &conflicts));
    NvSciSyncAttrListFree(lists[0]);
    NvSciSyncAttrListFree(lists[1]);
    cudlaExternalSemaphoreHandleDesc desc = {.extSyncObject = result.object};
    CHECK(cudlaImportExternalSemaphore(device, &desc, &result.dla, 0));
    return result;
}

/* One descriptor of each kind: the digit networks have one input and one output. */
static cudlaModuleTensorDescriptor describe(cudlaModule module, cudlaModuleAttributeType type)
{
    cudlaModuleTensorDescriptor tensor;
    cudlaModuleAttribute attribute;
    attribute.inputTensorDesc = &tensor;
    CHECK(cudlaModuleGetAttributes(module, type, &attribute));
    return tensor;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s LOADABLE PICTURE.pgm...\n", argv[0]);
        return 2;
    }
    size_t size = 0;
    unsigned char *loadable = read_file(argv[1], &size);
    if (loadable == NULL) {
        return 1;
    }

    cudlaDevHandle device;
    cudlaModule module;
    NvSciSyncCpuWaitContext context;
    CHECK(NvSciBufModuleOpen(&buf_module));
    CHECK(NvSciSyncModuleOpen(&sync_module));
    CHECK(NvSciSyncCpuWaitContextAlloc(sync_module, &context));
    CHECK(cudlaCreateDevice(0, &device, CUDLA_STANDALONE));
    CHECK(cudlaModuleLoadFromMemory(device, loadable, size, &module, CUDLA_MODULE_DEFAULT));

    cudlaModuleTensorDescriptor in = describe(module, CUDLA_INPUT_TENSOR_DESCRIPTORS);
    cudlaModuleTensorDescriptor out = describe(module, CUDLA_OUTPUT_TENSOR_DESCRIPTORS);
    cudlaModuleTensorDescriptor stats = describe(module, CUDLA_OUTPUT_TASK_STATISTICS_DESCRIPTORS);
    if (in.dataType != CUDLA_DATA_TYPE_INT8) {
        fprintf(stderr, "%s: this sample feeds int8 networks\n", argv[1]);
        return 1;
    }
    struct buffer input = new_buffer(device, in.size, CUDLA_READ_ONLY_PERM);
    struct buffer output = new_buffer(device, out.size, CUDLA_READ_WRITE_PERM);
    struct buffer statistics = new_buffer(device, stats.size, CUDLA_TASK_STATISTICS);
    struct event written = new_event(device, true), done = new_event(device, false);

    float *grey = (float *)malloc(in.h * in.w * sizeof *grey);
    int right = 0, labelled = 0;
    for (int picture = 2; picture < argc; picture++) {
        if (read_pgm(argv[picture], (int)in.w, (int)in.h, grey) != 0) {
            return 1;
        }
        /* The task may be submitted first: the DLA waits until the picture is written. */
        NvSciSyncFence before = NvSciSyncFenceInitializer, after = NvSciSyncFenceInitializer;
        CHECK(NvSciSyncObjGenerateFence(written.object, &before));
        CudlaFence wait_for = {.fence = &before, .type = CUDLA_NVSCISYNC_FENCE};
        CudlaFence signal = {.fence = &after, .type = CUDLA_NVSCISYNC_FENCE};
        cudlaWaitEvents waits = {.preFences = &wait_for, .numEvents = 1};
        cudlaSignalEvents signals = {.devPtrs = &done.dla, .eofFences = &signal, .numEvents = 1};
        const uint64_t *inputs[] = {input.dla};
        uint64_t *outputs[] = {output.dla, statistics.dla};
        cudlaTask task = {.moduleHandle = module,
                          .outputTensor = outputs,
                          .numOutputTensors = 2,
                          .numInputTensors = 1,
                          .inputTensor = inputs,
                          .waitEvents = &waits,
                          .signalEvents = &signals};
        CHECK(cudlaSubmitTask(device, &task, 1, NULL, 0));

        for (uint64_t h = 0; h < in.h; h++) {
            for (uint64_t w = 0; w < in.w; w++) {
                /* The network was calibrated for grey values 0..1 as int8 0..127. */
                input.cpu[feature_offset(&in, 0, h, w)] =
                    (unsigned char)lrintf(grey[h * in.w + w] * 127.0f);
            }
        }
        CHECK(NvSciSyncObjSignal(written.object));
        CHECK(NvSciSyncFenceWait(&after, context, -1));
        CHECK(cudlaGetLastError(device));
        NvSciSyncFenceClear(&before);
        NvSciSyncFenceClear(&after);

        int digit = 0, best = -129;
        for (uint64_t c = 0; c < out.c; c++) {
            int score = (int8_t)output.cpu[feature_offset(&out, c, 0, 0)];
            if (score > best) {
                best = score;
                digit = (int)c;
            }
        }
        print_digit(argv[picture], digit, best, "score");
        labelled += label_of(argv[picture]) >= 0;
        right += label_of(argv[picture]) == digit;
    }

    const cudlaExternalEtbl *table;
    cudlaTranslateCsvAttribute csv;
    CHECK(cudlaGetExternalExportTable(&table, 0));
    CHECK(table->etiTranslateStats(device, statistics.cpu, 1000, 0, CUDLA_GET_CSV_LENGTH, &csv));
    char *text = (char *)malloc(csv.csvStreamLength);
    csv.csvStreamStats = text;
    CHECK(table->etiTranslateStats(device, statistics.cpu, 1000, 0, CUDLA_GET_CSV_STATS, &csv));
    print_layers(text);

    uint64_t *registered[] = {input.dla, output.dla, statistics.dla, written.dla, done.dla};
    for (size_t i = 0; i < sizeof registered / sizeof registered[0]; i++) {
        CHECK(cudlaMemUnregister(device, registered[i]));
    }
    CHECK(cudlaModuleUnload(module, 0));
    CHECK(cudlaDestroyDevice(device));
    NvSciBufObjFree(input.object);
    NvSciBufObjFree(output.object);
    NvSciBufObjFree(statistics.object);
    NvSciSyncObjFree(written.object);
    NvSciSyncObjFree(done.object);
    NvSciSyncCpuWaitContextFree(context);
    NvSciSyncModuleClose(sync_module);
    NvSciBufModuleClose(buf_module);
    free(text);
    free(grey);
    free(loadable);
    return summary(right, labelled);
}
