/* Objects of NvSci that a DLA and the CPU share. */
#ifndef REFERENCE_CUDLA_OBJECTS_H
#define REFERENCE_CUDLA_OBJECTS_H

#include <cudla.h>
#include <nvscibuf.h>
#include <nvscisync.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"

static NvSciBufModule buf_module;
static NvSciSyncModule sync_module;
static NvSciSyncCpuWaitContext context;

static void open_modules(void)
{
    CHECK(NvSciBufModuleOpen(&buf_module) == NvSciError_Success);
    CHECK(NvSciSyncModuleOpen(&sync_module) == NvSciError_Success);
    CHECK(NvSciSyncCpuWaitContextAlloc(sync_module, &context) == NvSciError_Success);
}

static NvSciBufObj buffer_of(uint64_t size, void **cpu)
{
    NvSciBufType type = NvSciBufType_RawBuffer;
    NvSciBufAttrValAccessPerm perm = NvSciBufAccessPerm_ReadWrite;
    uint64_t align = 512;
    bool used = true;
    NvSciBufAttrKeyValuePair pairs[] = {
        {NvSciBufGeneralAttrKey_Types, &type, sizeof type},
        {NvSciBufGeneralAttrKey_NeedCpuAccess, &used, sizeof used},
        {NvSciBufGeneralAttrKey_RequiredPerm, &perm, sizeof perm},
        {NvSciBufRawBufferAttrKey_Size, &size, sizeof size},
        {NvSciBufRawBufferAttrKey_Align, &align, sizeof align},
    };
    NvSciBufAttrList list, conflict;
    NvSciBufObj buffer;
    CHECK(NvSciBufAttrListCreate(buf_module, &list) == NvSciError_Success);
    CHECK(NvSciBufAttrListSetAttrs(list, pairs, 5) == NvSciError_Success);
    CHECK(NvSciBufAttrListReconcileAndObjAlloc(&list, 1, &buffer, &conflict) == NvSciError_Success);
    CHECK(NvSciBufObjGetCpuPtr(buffer, cpu) == NvSciError_Success);
    NvSciBufAttrListFree(list);
    return buffer;
}

/* `use` is the part of the DLA; the CPU has the other one. */
static NvSciSyncObj sync_with(cudlaNvSciSyncAttributes use)
{
    bool used = true;
    NvSciSyncAccessPerm perm = NvSciSyncAccessPerm_WaitOnly;
    if (use == CUDLA_NVSCISYNC_ATTR_WAIT) {
        perm = NvSciSyncAccessPerm_SignalOnly;
    }
    NvSciSyncAttrKeyValuePair pairs[] = {
        {NvSciSyncAttrKey_NeedCpuAccess, &used, sizeof used},
        {NvSciSyncAttrKey_RequiredPerm, &perm, sizeof perm},
    };
    NvSciSyncAttrList sides[2], conflict;
    NvSciSyncObj made;
    CHECK(NvSciSyncAttrListCreate(sync_module, &sides[0]) == NvSciError_Success);
    CHECK(NvSciSyncAttrListCreate(sync_module, &sides[1]) == NvSciError_Success);
    CHECK(NvSciSyncAttrListSetAttrs(sides[0], pairs, 2) == NvSciError_Success);
    CHECK(cudlaGetNvSciSyncAttributes((uint64_t *)sides[1], use) == cudlaSuccess);
    CHECK(NvSciSyncAttrListReconcileAndObjAlloc(sides, 2, &made, &conflict) == NvSciError_Success);
    NvSciSyncAttrListFree(sides[0]);
    NvSciSyncAttrListFree(sides[1]);
    return made;
}

#endif
