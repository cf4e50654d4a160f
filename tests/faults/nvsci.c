/* A buffer and a sync object of NvSci, made, used and freed. */
#include "sweep.h"

#include "nvscibuf.h"
#include "nvscisync.h"

static int scenario(void)
{
    NvSciBufModule buf_module = NULL;
    NvSciBufAttrList wish = NULL, outcome = NULL, conflict = NULL;
    NvSciBufObj buffer = NULL;
    NvSciSyncModule sync_module = NULL;
    NvSciSyncAttrList both = NULL, sync_conflict = NULL;
    NvSciSyncObj sync = NULL;
    NvSciSyncCpuWaitContext context = NULL;
    NvSciSyncFence fence = NvSciSyncFenceInitializer;
    NvSciBufType type = NvSciBufType_RawBuffer;
    NvSciBufAttrValAccessPerm access = NvSciBufAccessPerm_ReadWrite;
    NvSciSyncAccessPerm perm = NvSciSyncAccessPerm_WaitSignal;
    uint64_t size = 1 << 16, align = 4096;
    bool cpu = true;
    void *data = NULL;
    NvSciBufAttrKeyValuePair buf[] = {
        {NvSciBufGeneralAttrKey_Types, &type, sizeof type},
        {NvSciBufGeneralAttrKey_NeedCpuAccess, &cpu, sizeof cpu},
        {NvSciBufGeneralAttrKey_RequiredPerm, &access, sizeof access},
        {NvSciBufRawBufferAttrKey_Size, &size, sizeof size},
        {NvSciBufRawBufferAttrKey_Align, &align, sizeof align},
    };
    NvSciSyncAttrKeyValuePair pairs[] = {
        {NvSciSyncAttrKey_NeedCpuAccess, &cpu, sizeof cpu},
        {NvSciSyncAttrKey_RequiredPerm, &perm, sizeof perm},
    };
    TRY(NvSciBufModuleOpen(&buf_module));
    TRY(NvSciSyncModuleOpen(&sync_module));
    if (GOOD)
        TRY(NvSciBufAttrListCreate(buf_module, &wish));
    if (GOOD)
        TRY(NvSciBufAttrListSetAttrs(wish, buf, 5));
    if (GOOD)
        TRY(NvSciBufAttrListReconcile(&wish, 1, &outcome, &conflict));
    if (GOOD)
        TRY(NvSciBufObjAlloc(outcome, &buffer));
    if (GOOD)
        TRY(NvSciBufObjGetCpuPtr(buffer, &data));
    if (GOOD)
        TRY(NvSciSyncAttrListCreate(sync_module, &both));
    if (GOOD)
        TRY(NvSciSyncAttrListSetAttrs(both, pairs, 2));
    if (GOOD)
        TRY(NvSciSyncAttrListReconcileAndObjAlloc(&both, 1, &sync, &sync_conflict));
    if (GOOD)
        TRY(NvSciSyncCpuWaitContextAlloc(sync_module, &context));
    if (GOOD)
        TRY(NvSciSyncObjGenerateFence(sync, &fence));
    if (GOOD)
        TRY(NvSciSyncObjSignal(sync));
    if (GOOD)
        TRY(NvSciSyncFenceWait(&fence, context, 1000000));
    int wrong = 0;
    if (GOOD) {
        memset(data, 7, size);
        wrong = ((unsigned char *)data)[size - 1] != 7;
    }
    NvSciSyncFenceClear(&fence);
    if (context != NULL)
        NvSciSyncCpuWaitContextFree(context);
    if (sync != NULL)
        NvSciSyncObjFree(sync);
    if (both != NULL)
        NvSciSyncAttrListFree(both);
    if (buffer != NULL)
        NvSciBufObjFree(buffer);
    if (outcome != NULL)
        NvSciBufAttrListFree(outcome);
    if (wish != NULL)
        NvSciBufAttrListFree(wish);
    if (sync_module != NULL)
        NvSciSyncModuleClose(sync_module);
    if (buf_module != NULL)
        NvSciBufModuleClose(buf_module);
    return wrong ? WRONG : first_status;
}
