/* The PVA waits for a fence of the CPU, copies within a buffer of NvSci, signals another fence. */
#include <cupva_host.h>
#include <cupva_host_nvsci.h>

#include "check.h"

enum { HALF = 4096 };

static NvSciSyncModule sync_module;

static NvSciBufObj allocate(NvSciBufModule module)
{
    NvSciBufType type = NvSciBufType_RawBuffer;
    uint64_t size = 2 * HALF, align = 64;
    NvSciBufAttrKeyValuePair pairs[] = {
        {NvSciBufGeneralAttrKey_Types, &type, sizeof type},
        {NvSciBufRawBufferAttrKey_Size, &size, sizeof size},
        {NvSciBufRawBufferAttrKey_Align, &align, sizeof align},
    };
    NvSciBufAttrList list, conflict;
    NvSciBufObj buffer;
    CHECK(NvSciBufAttrListCreate(module, &list) == NvSciError_Success);
    CHECK(NvSciBufAttrListSetAttrs(list, pairs, 3) == NvSciError_Success);
    cupvaError_t error = CupvaMemFillAttributes(list);
    CHECK(error == CUPVA_ERROR_NONE);
    CHECK(NvSciBufAttrListReconcileAndObjAlloc(&list, 1, &buffer, &conflict) == NvSciError_Success);
    NvSciBufAttrListFree(list);
    return buffer;
}

/* A sync object with the PVA on one side and the CPU on the other. */
static NvSciSyncObj between(cupvaSyncClientType_t pva)
{
    bool cpu = true;
    NvSciSyncAccessPerm perm = NvSciSyncAccessPerm_WaitOnly;
    if (pva == CUPVA_WAITER) {
        perm = NvSciSyncAccessPerm_SignalOnly;
    }
    NvSciSyncAttrKeyValuePair pairs[] = {
        {NvSciSyncAttrKey_NeedCpuAccess, &cpu, sizeof cpu},
        {NvSciSyncAttrKey_RequiredPerm, &perm, sizeof perm},
    };
    NvSciSyncAttrList sides[2], conflict;
    NvSciSyncObj made;
    CHECK(NvSciSyncAttrListCreate(sync_module, &sides[0]) == NvSciError_Success);
    CHECK(NvSciSyncAttrListCreate(sync_module, &sides[1]) == NvSciError_Success);
    CHECK(NvSciSyncAttrListSetAttrs(sides[0], pairs, 2) == NvSciError_Success);
    cupvaError_t error = CupvaSyncObjFillAttributes(&sides[1], pva);
    CHECK(error == CUPVA_ERROR_NONE);
    CHECK(NvSciSyncAttrListReconcileAndObjAlloc(sides, 2, &made, &conflict) == NvSciError_Success);
    NvSciSyncAttrListFree(sides[0]);
    NvSciSyncAttrListFree(sides[1]);
    return made;
}

int main(void)
{
    NvSciBufModule buf_module;
    NvSciSyncCpuWaitContext context;
    cupvaError_t error;
    void *device, *host;
    CHECK(NvSciBufModuleOpen(&buf_module) == NvSciError_Success);
    CHECK(NvSciSyncModuleOpen(&sync_module) == NvSciError_Success);
    CHECK(NvSciSyncCpuWaitContextAlloc(sync_module, &context) == NvSciError_Success);

    NvSciBufObj buffer = allocate(buf_module);
    CHECK(NvSciBufObjGetCpuPtr(buffer, &host) == NvSciError_Success);
    error = CupvaMemImport(&device, buffer, CUPVA_READ_WRITE);
    CHECK(error == CUPVA_ERROR_NONE);
    uint8_t *bytes = (uint8_t *)host;

    NvSciSyncObj ready = between(CUPVA_WAITER), done = between(CUPVA_SIGNALER);
    NvSciSyncFence sci_ready = NvSciSyncFenceInitializer, sci_done = NvSciSyncFenceInitializer;
    cupvaSyncObj_t pva_done;
    cupvaFence_t fences[2];
    error = CupvaSyncObjCreateFromNvsci(&pva_done, done, CUPVA_SIGNALER);
    CHECK(error == CUPVA_ERROR_NONE);
    CHECK(NvSciSyncObjGenerateFence(ready, &sci_ready) == NvSciError_Success);
    error = CupvaFenceImport(&fences[0], &sci_ready);
    CHECK(error == CUPVA_ERROR_NONE);
    CHECK(CupvaFenceInit(&fences[1], pva_done) == CUPVA_ERROR_NONE);

    cupvaCmd_t wait, copy, request;
    cupvaCmdMemcpyBufferParams_t params = {.ptrSrc = device, .ptrDst = (char *)device + HALF};
    CHECK(CupvaCmdWaitOnFencesInit(&wait, &fences[0], 1) == CUPVA_ERROR_NONE);
    CHECK(CupvaCmdMemcpyCreate(&copy, &params, HALF) == CUPVA_ERROR_NONE);
    CHECK(CupvaCmdRequestFencesInit(&request, &fences[1], 1) == CUPVA_ERROR_NONE);
    cupvaCmd_t const *commands[] = {&wait, &copy, &request};
    cupvaStream_t stream;
    CHECK(CupvaStreamCreate(&stream, CUPVA_PVA0, CUPVA_VPU_ANY) == CUPVA_ERROR_NONE);
    CHECK(CupvaStreamSubmit(stream, commands, NULL, 3, CUPVA_IN_ORDER, -1, -1) == CUPVA_ERROR_NONE);

    /* A fence means something since its request was submitted. */
    error = CupvaFenceExport(&fences[1], &sci_done);
    CHECK(error == CUPVA_ERROR_NONE);
    CHECK(NvSciSyncFenceWait(&sci_done, context, 10000) == NvSciError_Timeout);
    for (int i = 0; i < HALF; i++) {
        bytes[i] = (uint8_t)(i * 3 + i / 256);
        CHECK(bytes[HALF + i] == 0);
    }
    CHECK(NvSciSyncObjSignal(ready) == NvSciError_Success);
    CHECK(NvSciSyncFenceWait(&sci_done, context, 10000000) == NvSciError_Success);
    for (int i = 0; i < HALF; i++) {
        CHECK(bytes[HALF + i] == (uint8_t)(i * 3 + i / 256));
    }

    CHECK(CupvaStreamDestroy(stream) == CUPVA_ERROR_NONE);
    CHECK(CupvaCmdDestroy(&copy) == CUPVA_ERROR_NONE);
    CHECK(CupvaSyncObjDestroy(pva_done) == CUPVA_ERROR_NONE);
    CHECK(CupvaMemFree(device) == CUPVA_ERROR_NONE);
    NvSciSyncFenceClear(&sci_ready);
    NvSciSyncFenceClear(&sci_done);
    NvSciSyncObjFree(ready);
    NvSciSyncObjFree(done);
    NvSciBufObjFree(buffer);
    NvSciSyncCpuWaitContextFree(context);
    NvSciSyncModuleClose(sync_module);
    NvSciBufModuleClose(buf_module);
    puts("ok");
    return 0;
}
