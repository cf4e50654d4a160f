/* What a camera and a display want of one buffer: lists are read, copied, joined and checked. */
#include <nvscibuf.h>

#include <string.h>

#include "check.h"

static NvSciBufAttrList wish(NvSciBufModule module, uint64_t size, bool cpu)
{
    NvSciBufType type = NvSciBufType_RawBuffer;
    uint64_t align = 64;
    NvSciBufAttrKeyValuePair pairs[] = {
        {NvSciBufGeneralAttrKey_Types, &type, sizeof type},
        {NvSciBufRawBufferAttrKey_Size, &size, sizeof size},
        {NvSciBufRawBufferAttrKey_Align, &align, sizeof align},
        {NvSciBufGeneralAttrKey_NeedCpuAccess, &cpu, sizeof cpu},
    };
    NvSciBufAttrList list;
    CHECK(NvSciBufAttrListCreate(module, &list) == NvSciError_Success);
    CHECK(NvSciBufAttrListSetAttrs(list, pairs, 4) == NvSciError_Success);
    return list;
}

int main(void)
{
    NvSciBufModule module;
    NvSciBufAttrList copy, joined, reconciled, conflict;
    NvSciError error;
    CHECK(NvSciBufModuleOpen(&module) == NvSciError_Success);
    NvSciBufAttrList camera = wish(module, 1000, false);
    NvSciBufAttrList display = wish(module, 4096, true);
    NvSciBufAttrList wishes[] = {camera, display};

    /* Values are lent by the list; a key that nobody set has length 0. */
    NvSciBufAttrKeyValuePair pairs[] = {{NvSciBufRawBufferAttrKey_Size, NULL, 0},
                                        {NvSciBufGeneralAttrKey_RequiredPerm, NULL, 0}};
    error = NvSciBufAttrListGetAttrs(camera, pairs, 2);
    CHECK(error == NvSciError_Success);
    CHECK(pairs[0].len == sizeof(uint64_t) && *(const uint64_t *)pairs[0].value == 1000);
    CHECK(pairs[1].len == 0 && pairs[1].value == NULL);

    /* A copy goes its own way. */
    NvSciBufAttrValAccessPerm perm = NvSciBufAccessPerm_ReadWrite;
    NvSciBufAttrKeyValuePair write = {NvSciBufGeneralAttrKey_RequiredPerm, &perm, sizeof perm};
    error = NvSciBufAttrListClone(camera, &copy);
    CHECK(error == NvSciError_Success && copy != camera);
    CHECK(NvSciBufAttrListSetAttrs(copy, &write, 1) == NvSciError_Success);
    CHECK(NvSciBufAttrListGetAttrs(copy, pairs, 2) == NvSciError_Success);
    CHECK(*(const uint64_t *)pairs[0].value == 1000);
    CHECK(*(const NvSciBufAttrValAccessPerm *)pairs[1].value == perm);
    CHECK(NvSciBufAttrListGetAttrs(camera, pairs, 2) == NvSciError_Success && pairs[1].len == 0);

    /* What the original has set is set anew in the copy, once; what was read before stays valid. */
    uint64_t size_of_copy = 2000;
    const uint64_t *before = pairs[0].value;
    NvSciBufAttrKeyValuePair anew = {NvSciBufRawBufferAttrKey_Size, &size_of_copy, 8};
    CHECK(NvSciBufAttrListSetAttrs(copy, &anew, 1) == NvSciError_Success);
    CHECK(NvSciBufAttrListSetAttrs(copy, &anew, 1) == NvSciError_BadParameter);
    CHECK(NvSciBufAttrListSetAttrs(camera, &anew, 1) == NvSciError_BadParameter);
    CHECK(NvSciBufAttrListGetAttrs(copy, pairs, 1) == NvSciError_Success);
    CHECK(*(const uint64_t *)pairs[0].value == 2000 && *before == 1000);

    /* Joined lists keep a slot each. */
    error = NvSciBufAttrListAppendUnreconciled(wishes, 2, &joined);
    CHECK(error == NvSciError_Success);
    size_t slots = NvSciBufAttrListGetSlotCount(joined);
    CHECK(slots == 2 && NvSciBufAttrListGetSlotCount(camera) == 1);
    for (size_t slot = 0; slot < slots; slot++) {
        error = NvSciBufAttrListSlotGetAttrs(joined, slot, pairs, 1);
        CHECK(error == NvSciError_Success);
        CHECK(*(const uint64_t *)pairs[0].value == (slot == 0 ? 1000 : 4096));
    }
    error = NvSciBufAttrListSlotGetAttrs(joined, slots, pairs, 1);
    CHECK(error == NvSciError_BadParameter);

    /* Nothing is written to what was joined, even of one list; a copy of that is writable. */
    NvSciBufAttrList alone, copy_of_alone;
    CHECK(NvSciBufAttrListAppendUnreconciled(&camera, 1, &alone) == NvSciError_Success);
    CHECK(NvSciBufAttrListSetAttrs(alone, &write, 1) == NvSciError_BadParameter);
    CHECK(NvSciBufAttrListClone(alone, &copy_of_alone) == NvSciError_Success);
    CHECK(NvSciBufAttrListSetAttrs(copy_of_alone, &write, 1) == NvSciError_Success);
    NvSciBufAttrListFree(alone);
    NvSciBufAttrListFree(copy_of_alone);

    /* The joined list stands for both in a reconciliation: the larger size wins. */
    error = NvSciBufAttrListReconcile(&joined, 1, &reconciled, &conflict);
    CHECK(error == NvSciError_Success && conflict == NULL);
    pairs[1].key = NvSciBufGeneralAttrKey_ActualPerm;
    CHECK(NvSciBufAttrListGetAttrs(reconciled, pairs, 2) == NvSciError_Success);
    CHECK(*(const uint64_t *)pairs[0].value == 4096);
    CHECK(*(const NvSciBufAttrValAccessPerm *)pairs[1].value == NvSciBufAccessPerm_Readonly);
    bool done = false;
    error = NvSciBufAttrListIsReconciled(reconciled, &done);
    CHECK(error == NvSciError_Success && done);
    CHECK(NvSciBufAttrListIsReconciled(joined, &done) == NvSciError_Success && !done);

    /* Wishes are read before the reconciliation and answers after it; a refused call writes none. */
    error = NvSciBufAttrListGetAttrs(camera, pairs + 1, 1);
    CHECK(error == NvSciError_BadParameter);
    pairs[0].len = 99;
    pairs[1].key = NvSciBufGeneralAttrKey_RequiredPerm;
    error = NvSciBufAttrListGetAttrs(reconciled, pairs, 2);
    CHECK(error == NvSciError_BadParameter && pairs[0].len == 99);

    /* A copy of a reconciled list is as good as the list, and as final. */
    NvSciBufAttrList twin;
    NvSciBufObj buffer;
    CHECK(NvSciBufAttrListClone(reconciled, &twin) == NvSciError_Success);
    CHECK(NvSciBufAttrListIsReconciled(twin, &done) == NvSciError_Success && done);
    CHECK(NvSciBufAttrListSetAttrs(twin, &write, 1) == NvSciError_BadParameter);
    CHECK(NvSciBufObjAlloc(twin, &buffer) == NvSciError_Success);
    NvSciBufAttrListFree(twin);
    NvSciBufObjFree(buffer);

    /* It gives what both want, but not what the copy wants: nobody asked to write. */
    bool valid = false;
    error = NvSciBufAttrListValidateReconciled(reconciled, wishes, 2, &valid);
    CHECK(error == NvSciError_Success && valid);
    CHECK(NvSciBufAttrListValidateReconciled(reconciled, &copy, 1, &valid) != NvSciError_Success);
    CHECK(!valid);
    uint64_t enough = 4096, too_much = 4097;
    NvSciBufAttrKeyValuePair size = {NvSciBufRawBufferAttrKey_Size, &enough, sizeof enough};
    error = NvSciBufAttrListValidateReconciledAgainstAttrs(reconciled, &size, 1);
    CHECK(error == NvSciError_Success);
    size.value = &too_much;
    error = NvSciBufAttrListValidateReconciledAgainstAttrs(reconciled, &size, 1);
    CHECK(error == NvSciError_AttrListValidationFailed);

    void *text;
    size_t length;
    error = NvSciBufAttrListDebugDump(reconciled, &text, &length);
    CHECK(error == NvSciError_Success && length == strlen(text) + 1);
    CHECK(strstr(text, "RawBuffer Size = 4096") != NULL);
    CHECK(strstr(text, "NeedCpuAccess = True") != NULL);
    free(text);

    NvSciBufAttrList all[] = {camera, display, copy, joined, reconciled};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        NvSciBufAttrListFree(all[i]);
    }
    NvSciBufModuleClose(module);
    puts("ok");
    return 0;
}
