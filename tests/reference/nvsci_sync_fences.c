/* A CPU thread signals; waiting for the signal, a second fence for it, when it came and how. */
#include <nvscisync.h>

#include <pthread.h>
#include <time.h>

#include "check.h"

enum { SECOND_US = 1000000 };

static NvSciSyncAttrList side(NvSciSyncModule module, NvSciSyncAccessPerm perm)
{
    bool cpu = true, timestamps = perm == NvSciSyncAccessPerm_WaitOnly;
    NvSciSyncAttrKeyValuePair pairs[] = {
        {NvSciSyncAttrKey_NeedCpuAccess, &cpu, sizeof cpu},
        {NvSciSyncAttrKey_RequiredPerm, &perm, sizeof perm},
        {NvSciSyncAttrKey_WaiterRequireTimestamps, &timestamps, sizeof timestamps},
    };
    NvSciSyncAttrList list;
    CHECK(NvSciSyncAttrListCreate(module, &list) == NvSciError_Success);
    CHECK(NvSciSyncAttrListSetAttrs(list, pairs, 3) == NvSciError_Success);
    return list;
}

static void *signal_later(void *object)
{
    struct timespec pause = {0, 20 * 1000 * 1000};
    nanosleep(&pause, NULL);
    CHECK(NvSciSyncObjSignal(object) == NvSciError_Success);
    return NULL;
}

int main(void)
{
    NvSciSyncModule module;
    NvSciSyncCpuWaitContext context;
    NvSciSyncAttrList conflict, list;
    NvSciSyncObj object, second;
    NvSciError error;
    CHECK(NvSciSyncModuleOpen(&module) == NvSciError_Success);
    CHECK(NvSciSyncCpuWaitContextAlloc(module, &context) == NvSciError_Success);
    NvSciSyncAttrList sides[] = {side(module, NvSciSyncAccessPerm_SignalOnly),
                                 side(module, NvSciSyncAccessPerm_WaitOnly)};
    error = NvSciSyncAttrListReconcileAndObjAlloc(sides, 2, &object, &conflict);
    CHECK(error == NvSciError_Success);

    /* The list that the object was made from stays the object's: it is not freed. */
    NvSciSyncAttrKeyValuePair perm = {NvSciSyncAttrKey_ActualPerm, NULL, 0};
    error = NvSciSyncObjGetAttrList(object, &list);
    CHECK(error == NvSciError_Success);
    CHECK(NvSciSyncAttrListGetAttrs(list, &perm, 1) == NvSciError_Success);
    CHECK(*(const NvSciSyncAccessPerm *)perm.value == NvSciSyncAccessPerm_WaitSignal);

    /* Two handles are one object: what one is signaled with, fences of the other see. */
    error = NvSciSyncObjDup(object, &second);
    CHECK(error == NvSciError_Success && second != object);
    error = NvSciSyncObjValidate(second);
    CHECK(error == NvSciError_Success);
    NvSciSyncFence fence = NvSciSyncFenceInitializer, copy = NvSciSyncFenceInitializer;
    CHECK(NvSciSyncObjGenerateFence(object, &fence) == NvSciError_Success);
    error = NvSciSyncFenceDup(&fence, &copy);
    CHECK(error == NvSciError_Success);
    CHECK(NvSciSyncFenceWait(&copy, context, 0) == NvSciError_Timeout);

    /* A status is Invalid until the signaler has said one. */
    NvSciSyncTaskStatus status;
    CHECK(NvSciSyncFenceGetTaskStatus(&fence, &status) == NvSciError_Success);
    CHECK(status.status == NvSciSyncTaskStatus_Invalid);

    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, signal_later, second) == 0);
    error = NvSciSyncFenceWaitWithMode(&fence, context, 10 * SECOND_US, NvSciSyncWaitMode_Blocking);
    CHECK(error == NvSciError_Success);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(NvSciSyncFenceWait(&copy, context, 0) == NvSciError_Success);

    error = NvSciSyncFenceGetTaskStatus(&fence, &status);
    CHECK(error == NvSciError_Success && status.status == NvSciSyncTaskStatus_Success);
    uint64_t first_us, copy_us, second_us;
    error = NvSciSyncFenceGetTimestamp(&fence, &first_us);
    CHECK(error == NvSciError_Success && first_us > 0);
    CHECK(NvSciSyncFenceGetTimestamp(&copy, &copy_us) == NvSciError_Success && copy_us == first_us);

    /* The next signal comes 20 ms later, and the time between both is known. */
    CHECK(NvSciSyncObjGenerateFence(object, &copy) == NvSciError_Success);
    signal_later(object);
    CHECK(NvSciSyncFenceGetTimestamp(&copy, &second_us) == NvSciError_Success);
    CHECK(second_us - first_us >= 20000 && second_us - first_us < 60 * SECOND_US);

    /* A cleared fence has no time, and its copy is cleared too. */
    NvSciSyncFenceClear(&fence);
    CHECK(NvSciSyncFenceGetTimestamp(&fence, &first_us) == NvSciError_ClearedFence);
    CHECK(NvSciSyncFenceDup(&fence, &copy) == NvSciError_Success);
    CHECK(NvSciSyncFenceGetTaskStatus(&copy, &status) == NvSciError_ClearedFence);

    NvSciSyncObjFree(object);
    NvSciSyncObjFree(second);
    CHECK(NvSciSyncObjValidate(second) == NvSciError_BadParameter);
    NvSciSyncAttrListFree(sides[0]);
    NvSciSyncAttrListFree(sides[1]);
    NvSciSyncCpuWaitContextFree(context);
    NvSciSyncModuleClose(module);
    puts("ok");
    return 0;
}
