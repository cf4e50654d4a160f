/* A VPU program with a dataflow, copies, fences; linked with a kernel (PVA_DECLARE_EXECUTABLE). */
#include "sweep.h"

#include <cupva_host.h>
#include <cupva_host_nonsafety.h>
#include <cupva_platform.h>

PVA_DECLARE_EXECUTABLE(subject)

static int scenario(void)
{
    enum { SIZE = 4096 };
    cupvaStream_t stream = NULL;
    cupvaSyncObj_t sync = NULL;
    cupvaFence_t fence;
    cupvaExecutable_t executable = NULL;
    cupvaCmd_t copy = {{0}}, kernel = {{0}}, mover = {{0}}, request = {{0}};
    cupvaCmdStatus_t status[4] = {NULL, NULL, NULL, NULL};
    cupvaDataFlow_t flow = NULL;
    void *memory[3] = {NULL, NULL, NULL}, *host[3];
    TRY(CupvaStreamCreate(&stream, CUPVA_PVA0, CUPVA_VPU_ANY));
    if (GOOD)
        TRY(CupvaSyncObjCreate(&sync, false, CUPVA_SIGNALER_WAITER, CUPVA_SYNC_YIELD));
    for (int i = 0; i < 3; i++) {
        if (GOOD)
            TRY(CupvaMemAlloc(&memory[i], SIZE, CUPVA_READ_WRITE, CUPVA_ALLOC_DRAM));
        if (GOOD)
            TRY(CupvaMemGetHostPointer(&host[i], memory[i]));
        if (GOOD)
            memset(host[i], i + 1, SIZE);
    }
    if (GOOD)
        TRY(CupvaExecutableCreate(&executable, PVA_EXECUTABLE_DATA(subject),
                                  PVA_EXECUTABLE_SIZE(subject)));
    if (GOOD)
        TRY(CupvaCmdProgramCreate(&kernel, executable));
    if (GOOD)
        TRY(CupvaCmdProgramCreate(&mover, NULL));
    if (GOOD)
        TRY(CupvaCmdProgramAddDataFlowHead(&mover, &flow, CUPVA_STATIC_DATAFLOW, 0, 1.0f));
    if (GOOD) {
        cupvaStaticDataFlowParams_t whole = {.bpp = 1, .tileWidth = 64, .tileHeight = 64,
                                             .ptrSrc = memory[1], .ptrDst = memory[2],
                                             .linePitchSrc = 64, .linePitchDst = 64};
        TRY(CupvaStaticDataFlowSetParams(flow, &whole));
    }
    if (GOOD)
        TRY(CupvaCmdProgramCompileDataFlows(&mover));
    if (GOOD) {
        cupvaCmdMemcpyBufferParams_t params = {.ptrSrc = memory[0], .ptrDst = memory[1]};
        TRY(CupvaCmdMemcpyCreate(&copy, &params, SIZE));
    }
    if (GOOD)
        TRY(CupvaFenceInit(&fence, sync));
    if (GOOD)
        TRY(CupvaCmdRequestFencesInit(&request, &fence, 1));
    if (GOOD) {
        cupvaCmd_t const *cmds[] = {&copy, &kernel, &mover, &request};
        bool reached = false;
        TRY(CupvaStreamSubmit(stream, cmds, status, 4, CUPVA_IN_ORDER, -1, -1));
        if (GOOD)
            TRY(CupvaFenceWait(&fence, 20 * 1000 * 1000, &reached));
        if (GOOD && !reached)
            return WRONG;
    }
    int wrong = 0;
    for (int i = 0; i < 4 && GOOD; i++) {
        cupvaError_t code = CUPVA_ERROR_NONE;
        TRY(CupvaCheckCommandStatus(status[i], &code));
        TRY(code);
    }
    if (GOOD)
        wrong = memcmp(host[0], host[2], SIZE) != 0;
    if (stream != NULL) {
        TRY(CupvaStreamSynchronize(stream));
        TRY(CupvaStreamDestroy(stream));
    }
    TRY(CupvaCmdDestroy(&copy));
    TRY(CupvaCmdDestroy(&mover));
    TRY(CupvaCmdDestroy(&kernel));
    if (executable != NULL)
        TRY(CupvaExecutableDestroy(executable));
    if (sync != NULL)
        TRY(CupvaSyncObjDestroy(sync));
    for (int i = 0; i < 3; i++)
        if (memory[i] != NULL)
            TRY(CupvaMemFree(memory[i]));
    return wrong ? WRONG : first_status;
}
