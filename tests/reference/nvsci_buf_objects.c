/* One piece of memory with several handles, of which one may only read. */
#include <nvscibuf.h>

#include <string.h>

#include "check.h"

enum { SIZE = 4096 };

static NvSciBufAttrValAccessPerm perm_of(NvSciBufObj buffer)
{
    NvSciBufAttrList list;
    NvSciBufAttrKeyValuePair perm = {NvSciBufGeneralAttrKey_ActualPerm, NULL, 0};
    CHECK(NvSciBufObjGetAttrList(buffer, &list) == NvSciError_Success);
    CHECK(NvSciBufAttrListGetAttrs(list, &perm, 1) == NvSciError_Success);
    return *(const NvSciBufAttrValAccessPerm *)perm.value;
}

static NvSciBufObj allocate(NvSciBufModule module, bool cpu)
{
    NvSciBufType type = NvSciBufType_RawBuffer;
    NvSciBufAttrValAccessPerm perm = NvSciBufAccessPerm_ReadWrite;
    uint64_t size = SIZE, align = 64;
    NvSciBufAttrKeyValuePair pairs[] = {
        {NvSciBufGeneralAttrKey_Types, &type, sizeof type},
        {NvSciBufGeneralAttrKey_NeedCpuAccess, &cpu, sizeof cpu},
        {NvSciBufGeneralAttrKey_RequiredPerm, &perm, sizeof perm},
        {NvSciBufRawBufferAttrKey_Size, &size, sizeof size},
        {NvSciBufRawBufferAttrKey_Align, &align, sizeof align},
    };
    NvSciBufAttrList list, conflict;
    NvSciBufObj buffer;
    CHECK(NvSciBufAttrListCreate(module, &list) == NvSciError_Success);
    CHECK(NvSciBufAttrListSetAttrs(list, pairs, 5) == NvSciError_Success);
    CHECK(NvSciBufAttrListReconcileAndObjAlloc(&list, 1, &buffer, &conflict) == NvSciError_Success);
    NvSciBufAttrListFree(list);
    return buffer;
}

int main(void)
{
    NvSciBufModule module;
    NvSciBufObj second, reader;
    NvSciError error;
    void *writable;
    const void *readable;
    CHECK(NvSciBufModuleOpen(&module) == NvSciError_Success);
    NvSciBufObj buffer = allocate(module, true);
    CHECK(NvSciBufObjGetCpuPtr(buffer, &writable) == NvSciError_Success);

    /* The list that the buffer was made from stays the buffer's: it is not freed. */
    NvSciBufAttrList list;
    NvSciBufAttrKeyValuePair size = {NvSciBufRawBufferAttrKey_Size, NULL, 0};
    error = NvSciBufObjGetAttrList(buffer, &list);
    CHECK(error == NvSciError_Success);
    CHECK(NvSciBufAttrListGetAttrs(list, &size, 1) == NvSciError_Success);
    CHECK(*(const uint64_t *)size.value == SIZE);
    error = NvSciBufObjValidate(buffer);
    CHECK(error == NvSciError_Success);

    error = NvSciBufObjDup(buffer, &second);
    CHECK(error == NvSciError_Success && second != buffer);
    error = NvSciBufObjDupWithReducePerm(buffer, NvSciBufAccessPerm_Readonly, &reader);
    CHECK(error == NvSciError_Success && reader != buffer);

    /* Rights that were given up do not come back. */
    NvSciBufObj writer = NULL;
    error = NvSciBufObjDupWithReducePerm(reader, NvSciBufAccessPerm_ReadWrite, &writer);
    CHECK(error == NvSciError_BadParameter && writer == NULL);

    /* Each handle's list tells what that handle may do, and so do those made from it. */
    NvSciBufObj reader_too;
    CHECK(NvSciBufObjDup(reader, &reader_too) == NvSciError_Success);
    CHECK(perm_of(reader) == NvSciBufAccessPerm_Readonly);
    CHECK(perm_of(reader_too) == NvSciBufAccessPerm_Readonly);
    CHECK(perm_of(buffer) == NvSciBufAccessPerm_ReadWrite);
    CHECK(perm_of(second) == NvSciBufAccessPerm_ReadWrite);
    NvSciBufObjFree(reader_too);

    /* All of this happens in one process, so the endpoint may be 0. */
    NvSciBufAttrValAccessPerm most = NvSciBufAccessPerm_Invalid;
    error = NvSciBufObjGetMaxPerm(second, 0, &most);
    CHECK(error == NvSciError_Success && most == NvSciBufAccessPerm_ReadWrite);
    error = NvSciBufObjGetMaxPerm(reader, 0, &most);
    CHECK(error == NvSciError_Success && most == NvSciBufAccessPerm_Readonly);

    /* Both handles see what the first one wrote. */
    memset(writable, 0x5a, SIZE);
    error = NvSciBufObjFlushCpuCacheRange(buffer, 0, SIZE);
    CHECK(error == NvSciError_Success);
    CHECK(NvSciBufObjFlushCpuCacheRange(buffer, SIZE / 2, SIZE) == NvSciError_BadParameter);
    CHECK(NvSciBufObjFlushCpuCacheRange(buffer, 0, 0) == NvSciError_BadParameter);
    CHECK(NvSciBufObjFlushCpuCacheRange(buffer, UINT64_MAX, 2) == NvSciError_Overflow);
    NvSciBufObj hidden = allocate(module, false);
    CHECK(NvSciBufObjFlushCpuCacheRange(hidden, 0, 1) == NvSciError_NotPermitted);
    NvSciBufObjFree(hidden);
    CHECK(NvSciBufObjGetCpuPtr(reader, &writable) == NvSciError_BadParameter);
    error = NvSciBufObjGetConstCpuPtr(reader, &readable);
    CHECK(error == NvSciError_Success);
    for (int i = 0; i < SIZE; i++) {
        CHECK(((const unsigned char *)readable)[i] == 0x5a);
    }

    /* The memory goes with its last handle. */
    NvSciBufObjFree(buffer);
    CHECK(NvSciBufObjGetCpuPtr(second, &writable) == NvSciError_Success && writable == readable);
    NvSciBufObjFree(second);
    CHECK(((const unsigned char *)readable)[SIZE - 1] == 0x5a);
    NvSciBufObjFree(reader);
    error = NvSciBufObjValidate(reader);
    CHECK(error == NvSciError_BadParameter);
    NvSciBufModuleClose(module);
    puts("ok");
    return 0;
}
