/* A signaler and a waiter say what they need: lists are read, copied, joined and checked. */
#include <nvscisync.h>

#include <string.h>

#include "check.h"

static NvSciSyncAttrList side(NvSciSyncModule module, NvSciSyncAccessPerm perm)
{
    bool cpu = true;
    NvSciSyncAttrKeyValuePair pairs[] = {
        {NvSciSyncAttrKey_NeedCpuAccess, &cpu, sizeof cpu},
        {NvSciSyncAttrKey_RequiredPerm, &perm, sizeof perm},
    };
    NvSciSyncAttrList list;
    CHECK(NvSciSyncAttrListCreate(module, &list) == NvSciError_Success);
    CHECK(NvSciSyncAttrListSetAttrs(list, pairs, 2) == NvSciError_Success);
    return list;
}

static NvSciSyncAccessPerm perm_of(NvSciSyncAttrKeyValuePair pair)
{
    CHECK(pair.len == sizeof(NvSciSyncAccessPerm));
    return *(const NvSciSyncAccessPerm *)pair.value;
}

int main(void)
{
    NvSciSyncModule module;
    NvSciSyncAttrList copy, joined, reconciled, conflict;
    NvSciError error;
    CHECK(NvSciSyncModuleOpen(&module) == NvSciError_Success);
    NvSciSyncAttrList signaler = side(module, NvSciSyncAccessPerm_SignalOnly);
    NvSciSyncAttrList waiter = side(module, NvSciSyncAccessPerm_WaitOnly);
    NvSciSyncAttrList sides[] = {signaler, waiter};

    /* Values are lent by the list; a key that nobody set has length 0. */
    NvSciSyncAttrKeyValuePair pairs[] = {{NvSciSyncAttrKey_RequiredPerm, NULL, 0},
                                         {NvSciSyncAttrKey_WaiterRequireTimestamps, NULL, 0}};
    error = NvSciSyncAttrListGetAttrs(waiter, pairs, 2);
    CHECK(error == NvSciError_Success && perm_of(pairs[0]) == NvSciSyncAccessPerm_WaitOnly);
    CHECK(pairs[1].len == 0 && pairs[1].value == NULL);
    const void *value;
    size_t length;
    error = NvSciSyncAttrListGetAttr(waiter, NvSciSyncAttrKey_NeedCpuAccess, &value, &length);
    CHECK(error == NvSciError_Success && length == sizeof(bool) && *(const bool *)value);

    /* A copy goes its own way: it asks for timestamps, the original does not. */
    bool yes = true;
    NvSciSyncAttrKeyValuePair stamps = {NvSciSyncAttrKey_WaiterRequireTimestamps, &yes, sizeof yes};
    error = NvSciSyncAttrListClone(waiter, &copy);
    CHECK(error == NvSciError_Success && copy != waiter);
    CHECK(NvSciSyncAttrListSetAttrs(copy, &stamps, 1) == NvSciError_Success);
    CHECK(NvSciSyncAttrListGetAttrs(copy, pairs, 2) == NvSciError_Success);
    CHECK(perm_of(pairs[0]) == NvSciSyncAccessPerm_WaitOnly && *(const bool *)pairs[1].value);
    CHECK(NvSciSyncAttrListGetAttrs(waiter, pairs, 2) == NvSciError_Success && pairs[1].len == 0);

    /* Joined lists keep a slot each. */
    error = NvSciSyncAttrListAppendUnreconciled(sides, 2, &joined);
    CHECK(error == NvSciError_Success);
    size_t slots = NvSciSyncAttrListGetSlotCount(joined);
    CHECK(slots == 2 && NvSciSyncAttrListGetSlotCount(waiter) == 1);
    for (size_t slot = 0; slot < slots; slot++) {
        error = NvSciSyncAttrListSlotGetAttrs(joined, slot, pairs, 1);
        CHECK(error == NvSciError_Success);
        CHECK(perm_of(pairs[0]) ==
              (slot == 0 ? NvSciSyncAccessPerm_SignalOnly : NvSciSyncAccessPerm_WaitOnly));
    }

    /* A list takes part once, and what was joined is written no more. */
    NvSciSyncAttrList twice[] = {signaler, waiter, signaler}, none;
    CHECK(NvSciSyncAttrListAppendUnreconciled(twice, 3, &none) == NvSciError_BadParameter);
    CHECK(NvSciSyncAttrListReconcile(twice, 3, &none, &conflict) == NvSciError_BadParameter);
    CHECK(NvSciSyncAttrListSetAttrs(joined, &stamps, 1) == NvSciError_BadParameter);

    /* The joined list stands for both in a reconciliation. */
    error = NvSciSyncAttrListReconcile(&joined, 1, &reconciled, &conflict);
    CHECK(error == NvSciError_Success && conflict == NULL);
    bool done = false;
    CHECK(NvSciSyncAttrListValidateReconciled(reconciled, twice, 3, &done) ==
          NvSciError_BadParameter);

    /* A copy of a reconciled list is as good as the list. */
    NvSciSyncAttrList twin;
    NvSciSyncObj object;
    CHECK(NvSciSyncAttrListClone(reconciled, &twin) == NvSciError_Success);
    CHECK(NvSciSyncObjAlloc(twin, &object) == NvSciError_Success);
    NvSciSyncAttrListFree(twin);
    NvSciSyncObjFree(object);
    error = NvSciSyncAttrListIsReconciled(reconciled, &done);
    CHECK(error == NvSciError_Success && done);
    CHECK(NvSciSyncAttrListIsReconciled(joined, &done) == NvSciError_Success && !done);
    pairs[0].attrKey = NvSciSyncAttrKey_ActualPerm;
    CHECK(NvSciSyncAttrListGetAttrs(reconciled, pairs, 1) == NvSciError_Success);
    CHECK(perm_of(pairs[0]) == NvSciSyncAccessPerm_WaitSignal);

    /* It gives what both want, but no timestamps, which only the copy asks for. */
    bool valid = false;
    error = NvSciSyncAttrListValidateReconciled(reconciled, sides, 2, &valid);
    CHECK(error == NvSciError_Success && valid);
    CHECK(NvSciSyncAttrListValidateReconciled(reconciled, &copy, 1, &valid) != NvSciError_Success);
    CHECK(!valid);
    NvSciSyncAttrKeyValuePair cpu = {NvSciSyncAttrKey_NeedCpuAccess, &yes, sizeof yes};
    NvSciSyncAccessPerm wait = NvSciSyncAccessPerm_WaitOnly;
    error = NvSciSyncAttrListValidateReconciledAgainstAttrs(reconciled, &cpu, 1, wait);
    CHECK(error == NvSciError_Success);

    void *text;
    error = NvSciSyncAttrListDebugDump(waiter, &text, &length);
    CHECK(error == NvSciError_Success && length == strlen(text) + 1);
    CHECK(strstr(text, "NeedCpuAccess = True") != NULL);
    CHECK(strstr(text, "RequiredPerm = 1") != NULL);
    free(text);

    NvSciSyncAttrList all[] = {signaler, waiter, copy, joined, reconciled};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        NvSciSyncAttrListFree(all[i]);
    }
    NvSciSyncModuleClose(module);
    puts("ok");
    return 0;
}
