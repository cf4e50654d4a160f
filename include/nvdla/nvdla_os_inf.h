/*
 * nvdla_os_inf.h - what the user-mode driver needs from the operating system. These are thin
 * wrappers of the C library, no part of the simulation.
 */
#ifndef _NVDLA_OS_INF_H_
#define _NVDLA_OS_INF_H_

#include <dirent.h>
#include <stddef.h>

#include "dlaerror.h"
#include "dlatypes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How NvDlaFopen opens; the sensible combinations of these are accepted. */
#define NVDLA_OPEN_WRITE (0x1)
#define NVDLA_OPEN_READ (0x2)
#define NVDLA_OPEN_CREATE (0x4)
#define NVDLA_OPEN_APPEND (0x8)

struct NvDlaThreadRec {
    void *handle;
};
typedef struct NvDlaThreadRec NvDlaThread;
typedef struct NvDlaThreadRec *NvDlaThreadHandle;
typedef void (*NvDlaThreadFunction)(void *args);

typedef enum {
    NvDlaFileType_Unknown = 0,
    NvDlaFileType_File = 1,
    NvDlaFileType_Directory = 2,
    NvDlaFileType_Fifo = 3,
    NvDlaFileType_CharacterDevice = 4,
    NvDlaFileType_BlockDevice = 5,
    NvDlaFileType_Force32 = 0x7FFFFFFF
} NvDlaFileType;

struct NvDlaStatTypeRec {
    NvU64 size;
    NvDlaFileType type;
    NvU64 mtime;
};
typedef struct NvDlaStatTypeRec NvDlaStatType;

enum NvDlaSeek { NvDlaSeek_Set = 0, NvDlaSeek_Cur = 1, NvDlaSeek_End = 2 };
typedef enum NvDlaSeek NvDlaSeekEnum;

struct NvDlaFileRec {
    int fd;
};
typedef struct NvDlaFileRec NvDlaFile;
typedef struct NvDlaFileRec *NvDlaFileHandle;

struct NvDlaDirRec {
    DIR *dir;
};
typedef struct NvDlaDirRec NvDlaDir;
typedef struct NvDlaDirRec *NvDlaDirHandle;

/* heap and console */
void *NvDlaAlloc(size_t size);
void NvDlaFree(void *ptr);
void NvDlaMemset(void *s, NvU8 c, size_t size);
void NvDlaDebugPrintf(const char *format, ...);

/* time: NvDlaGetTimeMS counts from an arbitrary start */
NvU32 NvDlaGetTimeMS(void);
void NvDlaSleepMS(NvU32 msec);

/* threads; NvDlaThreadJoin also frees the handle */
NvDlaError NvDlaThreadCreate(NvDlaThreadFunction function, void *args, NvDlaThreadHandle *thread);
void NvDlaThreadJoin(NvDlaThreadHandle thread);
void NvDlaThreadYield(void);

/* files; NvDlaFread answers NvDlaError_EndOfFile when it reads fewer bytes than asked for */
NvDlaError NvDlaStat(const char *filename, NvDlaStatType *stat);
NvDlaError NvDlaMkdir(char *dirname);
NvDlaError NvDlaFremove(const char *filename);
NvDlaError NvDlaFopen(const char *path, NvU32 flags, NvDlaFileHandle *file);
void NvDlaFclose(NvDlaFileHandle stream);
NvDlaError NvDlaFwrite(NvDlaFileHandle stream, const void *ptr, size_t size);
NvDlaError NvDlaFread(NvDlaFileHandle stream, void *ptr, size_t size, size_t *bytes);
NvDlaError NvDlaFseek(NvDlaFileHandle file, NvS64 offset, NvDlaSeekEnum whence);
NvDlaError NvDlaFstat(NvDlaFileHandle file, NvDlaStatType *stat);
NvU64 NvDlaStatGetSize(NvDlaStatType *stat);
NvDlaError NvDlaFgetc(NvDlaFileHandle stream, NvU8 *c);

/* folders */
NvDlaError NvDlaOpendir(const char *path, NvDlaDirHandle *dir);
NvDlaError NvDlaReaddir(NvDlaDirHandle dir, char *name, size_t size);
void NvDlaClosedir(NvDlaDirHandle dir);

#ifdef __cplusplus
}
#endif

#endif
