/* A fence is told in which slot of its object's buffers the signaler leaves time and status. */
#include <nvscisync.h>

#include "check.h"

static NvSciSyncAttrList side(NvSciSyncModule module, NvSciSyncAccessPerm perm)
{
    bool cpu = true, timestamps = true;
    uint32_t slots = 4;
    NvSciSyncAttrKeyValuePair pairs[] = {
        {NvSciSyncAttrKey_NeedCpuAccess, &cpu, sizeof cpu},
        {NvSciSyncAttrKey_RequiredPerm, &perm, sizeof perm},
        {NvSciSyncAttrKey_WaiterRequireTimestamps, &timestamps, sizeof timestamps},
        {NvSciSyncAttrKey_NumTimestampSlots, &slots, sizeof slots},
        {NvSciSyncAttrKey_NumTaskStatusSlots, &slots, sizeof slots},
    };
    NvSciSyncAttrList list;
    CHECK(NvSciSyncAttrListCreate(module, &list) == NvSciError_Success);
    CHECK(NvSciSyncAttrListSetAttrs(list, pairs, 5) == NvSciError_Success);
    return list;
}

int main(void)
{
    NvSciSyncModule module;
    NvSciSyncAttrList conflict;
    NvSciSyncObj object;
    NvSciSyncFence fence = NvSciSyncFenceInitializer;
    uint32_t slot = 0;
    uint64_t time_us = 0;
    NvSciSyncTaskStatus status;
    NvSciError error;
    CHECK(NvSciSyncModuleOpen(&module) == NvSciError_Success);
    NvSciSyncAttrList sides[] = {side(module, NvSciSyncAccessPerm_SignalOnly),
                                 side(module, NvSciSyncAccessPerm_WaitOnly)};
    error = NvSciSyncAttrListReconcileAndObjAlloc(sides, 2, &object, &conflict);
    CHECK(error == NvSciError_Success);

    /* Only a fence that belongs to an object has slots. */
    CHECK(NvSciSyncFenceAddTimestampSlot(&fence, 2) == NvSciError_ClearedFence);
    CHECK(NvSciSyncObjGenerateFence(object, &fence) == NvSciError_Success);
    error = NvSciSyncFenceAddTimestampSlot(&fence, 2);
    CHECK(error == NvSciError_Success);
    error = NvSciSyncFenceExtractTimestampSlot(&fence, &slot);
    CHECK(error == NvSciError_Success && slot == 2);
    error = NvSciSyncFenceAddTaskStatusSlot(&fence, 3);
    CHECK(error == NvSciError_Success);

    /* The buffers have four places: there is no slot 4. */
    CHECK(NvSciSyncFenceAddTimestampSlot(&fence, 4) == NvSciError_BadParameter);
    CHECK(NvSciSyncFenceAddTaskStatusSlot(&fence, 4) == NvSciError_BadParameter);
    CHECK(NvSciSyncFenceExtractTimestampSlot(&fence, &slot) == NvSciError_Success && slot == 2);

    /* A copy knows the slots, too; nothing is a copy of itself. */
    NvSciSyncFence copy = NvSciSyncFenceInitializer;
    CHECK(NvSciSyncFenceDup(&fence, &copy) == NvSciError_Success);
    slot = 0;
    CHECK(NvSciSyncFenceExtractTimestampSlot(&copy, &slot) == NvSciError_Success && slot == 2);
    CHECK(NvSciSyncFenceDup(&fence, &fence) == NvSciError_BadParameter);
    NvSciSyncFenceClear(&copy);

    CHECK(NvSciSyncObjSignal(object) == NvSciError_Success);
    CHECK(NvSciSyncFenceGetTimestamp(&fence, &time_us) == NvSciError_Success && time_us > 0);
    CHECK(NvSciSyncFenceGetTaskStatus(&fence, &status) == NvSciError_Success);
    CHECK(status.status == NvSciSyncTaskStatus_Success && status.timestamp == time_us);

    NvSciSyncFenceClear(&fence);
    NvSciSyncObjFree(object);
    NvSciSyncAttrListFree(sides[0]);
    NvSciSyncAttrListFree(sides[1]);
    NvSciSyncModuleClose(module);
    puts("ok");
    return 0;
}
