/* The plain C half of the user-mode portability layer. Argument: an empty folder. */
#include <stdio.h>
#include <string.h>

#include "nvdla/nvdla_os_inf.h"

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            printf("line %d: %s\n", __LINE__, #condition); \
            return 1; \
        } \
    } while (0)

static int ran;

static void body(void *args)
{
    ran = *(int *)args;
}

int main(int argc, char **argv)
{
    char path[500], text[16] = "", folder[400];
    int seven = 7;
    size_t got = 0;
    NvDlaThreadHandle thread;
    NvDlaFileHandle file;
    NvDlaDirHandle dir;
    NvDlaStatType stat;
    NvU8 c;
    CHECK(argc == 2);
    snprintf(folder, sizeof folder, "%s/sub", argv[1]);
    snprintf(path, sizeof path, "%s/f.bin", folder);
    CHECK(NvDlaMkdir(folder) == NvDlaSuccess && NvDlaMkdir(folder) != NvDlaSuccess);
    CHECK(NvDlaFopen(path, NVDLA_OPEN_READ, &file) == NvDlaError_FileOperationFailed);
    CHECK(NvDlaFopen(path, NVDLA_OPEN_CREATE, &file) == NvDlaError_BadParameter);
    CHECK(NvDlaFopen(path, 0x10, &file) == NvDlaError_BadParameter);
    CHECK(NvDlaFopen(path, NVDLA_OPEN_WRITE, &file) == NvDlaSuccess);
    CHECK(NvDlaFwrite(file, "hello", 5) == NvDlaSuccess);
    NvDlaFclose(file);
    CHECK(NvDlaFopen(path, NVDLA_OPEN_APPEND | NVDLA_OPEN_READ, &file) == NvDlaSuccess);
    CHECK(NvDlaFwrite(file, "!", 1) == NvDlaSuccess);
    CHECK(NvDlaFseek(file, 1, NvDlaSeek_Set) == NvDlaSuccess);
    CHECK(NvDlaFread(file, text, 4, &got) == NvDlaSuccess && got == 4);
    CHECK(memcmp(text, "ello", 4) == 0);
    CHECK(NvDlaFgetc(file, &c) == NvDlaSuccess && c == '!');
    CHECK(NvDlaFread(file, text, 4, &got) == NvDlaError_EndOfFile && got == 0);
    CHECK(NvDlaFread(file, text, 0, &got) == NvDlaSuccess && got == 0);
    CHECK(NvDlaFseek(file, -99, NvDlaSeek_Cur) == NvDlaError_FileOperationFailed);
    CHECK(NvDlaFstat(file, &stat) == NvDlaSuccess && NvDlaStatGetSize(&stat) == 6);
    CHECK(stat.type == NvDlaFileType_File);
    NvDlaFclose(file);
    CHECK(NvDlaStat(folder, &stat) == NvDlaSuccess && stat.type == NvDlaFileType_Directory);
    CHECK(NvDlaStat("/no/such", &stat) == NvDlaSuccess && stat.type == NvDlaFileType_Unknown);
    CHECK(NvDlaOpendir("/no/such", &dir) == NvDlaError_DirOperationFailed);
    CHECK(NvDlaOpendir(folder, &dir) == NvDlaSuccess);
    int entries = 0;
    while (NvDlaReaddir(dir, text, sizeof text) == NvDlaSuccess) {
        entries++;
    }
    CHECK(entries == 3 && NvDlaReaddir(dir, text, sizeof text) == NvDlaError_EndOfDirList);
    NvDlaClosedir(dir);
    CHECK(NvDlaFremove(path) == NvDlaSuccess);
    CHECK(NvDlaFremove(path) == NvDlaError_FileOperationFailed);
    CHECK(NvDlaThreadCreate(body, &seven, &thread) == NvDlaSuccess);
    NvDlaThreadJoin(thread);
    CHECK(ran == 7);
    NvU32 before = NvDlaGetTimeMS();
    NvDlaSleepMS(20);
    CHECK(NvDlaGetTimeMS() - before >= 19);
    char *memory = NvDlaAlloc(8);
    NvDlaMemset(memory, 3, 8);
    CHECK(memory[7] == 3);
    NvDlaFree(memory);
    NvDlaThreadYield();
    NvDlaDebugPrintf("%s %d\n", "printed", 1);

    /* NULL for every pointer */
    NvDlaFree(NULL);
    NvDlaMemset(NULL, 0, 1);
    NvDlaDebugPrintf(NULL);
    NvDlaFclose(NULL);
    NvDlaClosedir(NULL);
    NvDlaThreadJoin(NULL);
    CHECK(NvDlaThreadCreate(NULL, NULL, &thread) == NvDlaError_BadParameter);
    CHECK(NvDlaThreadCreate(body, NULL, NULL) == NvDlaError_BadParameter);
    CHECK(NvDlaStat(NULL, &stat) == NvDlaError_BadParameter);
    CHECK(NvDlaStat(path, NULL) == NvDlaError_BadParameter);
    CHECK(NvDlaMkdir(NULL) == NvDlaError_BadParameter);
    CHECK(NvDlaFremove(NULL) == NvDlaError_BadParameter);
    CHECK(NvDlaFopen(NULL, NVDLA_OPEN_READ, &file) == NvDlaError_BadParameter);
    CHECK(NvDlaFopen(path, NVDLA_OPEN_READ, NULL) == NvDlaError_BadParameter);
    CHECK(NvDlaFwrite(NULL, "", 1) == NvDlaError_BadParameter);
    CHECK(NvDlaFread(NULL, text, 1, NULL) == NvDlaError_BadParameter);
    CHECK(NvDlaFseek(NULL, 0, NvDlaSeek_Set) == NvDlaError_BadParameter);
    CHECK(NvDlaFstat(NULL, &stat) == NvDlaError_BadParameter);
    CHECK(NvDlaStatGetSize(NULL) == 0);
    CHECK(NvDlaFgetc(NULL, &c) == NvDlaError_BadParameter);
    CHECK(NvDlaOpendir(NULL, &dir) == NvDlaError_BadParameter);
    CHECK(NvDlaReaddir(NULL, text, 1) == NvDlaError_BadParameter);
    return 0;
}
