/* A program that makes everything anew for each frame, as careless ones do: argv[1] frames.
 * Prints the resident kilobytes after half of the frames and at the end. */
#include <cupva_host.h>
#include <cupva_host_nonsafety.h>
#include <cupva_platform.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

PVA_DECLARE_EXECUTABLE(subject)

#define OK(call) \
    do { \
        cupvaError_t const found_ = (call); \
        if (found_ != CUPVA_ERROR_NONE) { \
            char const *text_ = ""; \
            CupvaGetLastError(&text_); \
            printf("frame %d: %s: %d %s\n", frame, #call, (int)found_, text_); \
            exit(1); \
        } \
    } while (0)

#define MUST(condition) \
    do { \
        if (!(condition)) { \
            printf("frame %d: %s\n", frame, #condition); \
            exit(1); \
        } \
    } while (0)

enum { WIDTH = 64, HEIGHT = 16 };

static long resident_kb(void)
{
    long pages = 0, kilobytes = 0;
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "VmRSS: %ld kB", &pages) == 1)
            kilobytes = pages;
    if (file != NULL)
        fclose(file);
    return kilobytes;
}

/* Made at the beginning and used in every frame: nothing of it may go stale. */
struct lasting {
    cupvaStream_t stream;
    cupvaSyncObj_t sync;
    cupvaFence_t fence;
    cupvaCmd_t request, barrier, waiting;
    cupvaCmdStatus_t first;
};

static void one(int frame, struct lasting *lasting, int with_program)
{
    cupvaStream_t stream;
    cupvaSyncObj_t sync;
    cupvaFence_t fence;
    cupvaCmd_t copy, request;
    cupvaOffsetPointer_t source, target;
    cupvaCmdStatus_t status[8];
    cupvaError_t code;
    void *from, *to, *host_from, *host_to;
    bool reached = false;
    OK(CupvaMemAlloc(&from, WIDTH * HEIGHT, CUPVA_READ_WRITE, CUPVA_ALLOC_DRAM));
    OK(CupvaMemAlloc(&to, WIDTH * HEIGHT, CUPVA_READ_WRITE, CUPVA_ALLOC_DRAM));
    OK(CupvaMemGetHostPointer(&host_from, from));
    OK(CupvaMemGetHostPointer(&host_to, to));
    memset(host_from, frame, WIDTH * HEIGHT);
    OK(CupvaStreamCreate(&stream, CUPVA_PVA0, CUPVA_VPU_ANY));
    OK(CupvaSyncObjCreate(&sync, false, CUPVA_SIGNALER_WAITER, CUPVA_SYNC_YIELD));
    OK(CupvaFenceInit(&fence, sync));
    OK(CupvaCmdRequestFencesInit(&request, &fence, 1));
    OK(CupvaOffsetPointerInit(&source, from, 0));
    OK(CupvaOffsetPointerInit(&target, to, 0));

    cupvaCmdMemcpyBufferParams_t params = {.opSrc = &source, .opDst = &target};
    OK(CupvaCmdMemcpyCreate(&copy, &params, WIDTH * HEIGHT));
    cupvaCmd_t const *cmds[] = {&copy, &lasting->barrier, &request, &lasting->request};
    OK(CupvaStreamSubmit(stream, cmds, status, 4, CUPVA_IN_ORDER, -1, -1));
    OK(CupvaFenceWait(&fence, -1, &reached));
    MUST(reached);
    OK(CupvaStreamSynchronize(stream));
    OK(CupvaCheckCommandStatus(status[0], &code));
    MUST(code == CUPVA_ERROR_NONE);
    MUST(memcmp(host_from, host_to, WIDTH * HEIGHT) == 0);

    cupvaCmd_t const *wait[] = {&lasting->waiting};
    OK(CupvaStreamSubmit(lasting->stream, wait, frame == 0 ? &lasting->first : NULL, 1,
                         CUPVA_IN_ORDER, -1, -1));
    OK(CupvaStreamSynchronize(lasting->stream));
    OK(CupvaCheckCommandStatus(lasting->first, &code));
    MUST(code == CUPVA_ERROR_NONE);

    cupvaCmd_t program;
    cupvaDataFlow_t flow;
    OK(CupvaCmdProgramCreate(&program, NULL));
    OK(CupvaCmdProgramAddDataFlowHead(&program, &flow, CUPVA_STATIC_DATAFLOW, 0, 1.0f));
    cupvaStaticDataFlowParams_t whole = {
        .bpp = 1, .tileWidth = WIDTH, .tileHeight = HEIGHT, .ptrSrc = from, .ptrDst = to,
        .linePitchSrc = WIDTH, .linePitchDst = WIDTH,
    };
    OK(CupvaStaticDataFlowSetParams(flow, &whole));
    OK(CupvaCmdProgramCompileDataFlows(&program));
    memset(host_from, frame + 1, WIDTH * HEIGHT);
    cupvaCmd_t const *move[] = {&program};
    OK(CupvaStreamSubmit(stream, move, status, 1, CUPVA_IN_ORDER, -1, -1));
    OK(CupvaStreamSynchronize(stream));
    OK(CupvaCheckCommandStatus(status[0], &code));
    MUST(code == CUPVA_ERROR_NONE);
    MUST(memcmp(host_from, host_to, WIDTH * HEIGHT) == 0);
    OK(CupvaCmdDestroy(&program));

    if (with_program) {
        cupvaExecutable_t executable;
        cupvaParameter_t parameter;
        int32_t value = 0;
        OK(CupvaExecutableCreate(&executable, PVA_EXECUTABLE_DATA(subject),
                                 PVA_EXECUTABLE_SIZE(subject)));
        OK(CupvaCmdProgramCreate(&program, executable));
        OK(CupvaCmdProgramGetParameter(&program, &parameter, "answer"));
        OK(CupvaParameterSetValueArray(&parameter, &value, sizeof value));
        if (frame % 64 == 0) { /* a process of its own: milliseconds */
            OK(CupvaStreamSubmit(stream, move, status, 1, CUPVA_IN_ORDER, -1, -1));
            OK(CupvaStreamSynchronize(stream));
            OK(CupvaCheckCommandStatus(status[0], &code));
            MUST(code == CUPVA_ERROR_NONE);
        }
        OK(CupvaCmdDestroy(&program));
        MUST(CupvaParameterSetValueArray(&parameter, &value, sizeof value) ==
             CUPVA_UNINITIALIZED_OBJECT);
        OK(CupvaExecutableDestroy(executable));
    }
    OK(CupvaCmdDestroy(&copy));
    OK(CupvaSyncObjDestroy(sync));
    OK(CupvaStreamDestroy(stream));
    OK(CupvaMemFree(from));
    OK(CupvaMemFree(to));
}

int main(int argc, char **argv)
{
    int const frames = argc > 1 ? atoi(argv[1]) : 100;
    int frame = 0;
    long half = 0;
    struct lasting lasting;
    OK(CupvaStreamCreate(&lasting.stream, CUPVA_PVA0, CUPVA_VPU_ANY));
    OK(CupvaSyncObjCreate(&lasting.sync, false, CUPVA_SIGNALER_WAITER, CUPVA_SYNC_YIELD));
    OK(CupvaFenceInit(&lasting.fence, lasting.sync));
    OK(CupvaCmdRequestFencesInit(&lasting.request, &lasting.fence, 1));
    OK(CupvaCmdWaitOnFencesInit(&lasting.waiting, &lasting.fence, 1));
    OK(CupvaCmdBarrierInit(&lasting.barrier));
    for (; frame < frames; frame++) {
        one(frame, &lasting, 1);
        if (frame == frames / 2)
            half = resident_kb();
    }
    printf("%ld %ld\n", half, resident_kb());
    return 0;
}
