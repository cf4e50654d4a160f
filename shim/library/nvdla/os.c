/*
 * The operating-system half of the NVDLA user-mode portability layer. Plain C: nothing here is
 * simulated, and nothing here starts Python. Functions call each other by their exported names, so
 * that a program which replaces one of them is heard everywhere.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "boot.h"
#include "nvdla/nvdla_os_inf.h"

#define NVDLA_UTILS_ERROR_TAG "nvdla"
#include "nvdla/ErrorMacros.h"

SIM_EXPORT void *NvDlaAlloc(size_t size)
{
    return malloc(size);
}

SIM_EXPORT void NvDlaFree(void *ptr)
{
    free(ptr);
}

SIM_EXPORT void NvDlaMemset(void *s, NvU8 c, size_t size)
{
    if (s != NULL) {
        memset(s, c, size);
    }
}

SIM_EXPORT void NvDlaDebugPrintf(const char *format, ...)
{
    if (format == NULL) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
}

SIM_EXPORT NvU32 NvDlaGetTimeMS(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (NvU32)((NvU64)now.tv_sec * 1000 + (NvU64)now.tv_nsec / 1000000);
}

SIM_EXPORT void NvDlaSleepMS(NvU32 msec)
{
    struct timespec left = {msec / 1000, (long)(msec % 1000) * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

/* --- threads ---------------------------------------------------------------------------------- */

/* The public handle type has one pointer; the rest of a thread lies behind it. */
struct thread {
    NvDlaThread public;
    pthread_t id;
    NvDlaThreadFunction function;
    void *args;
};

static void *thread_body(void *argument)
{
    struct thread *self = argument;
    self->function(self->args);
    return NULL;
}

SIM_EXPORT NvDlaError NvDlaThreadCreate(NvDlaThreadFunction function, void *args,
                                        NvDlaThreadHandle *thread)
{
    if (function == NULL || thread == NULL) {
        return NvDlaError_BadParameter;
    }
    struct thread *self = NvDlaAlloc(sizeof *self);
    if (self == NULL) {
        return NvDlaError_InsufficientMemory;
    }
    self->public.handle = &self->id;
    self->function = function;
    self->args = args;
    *thread = &self->public;
    if (pthread_create(&self->id, NULL, thread_body, self) != 0) {
        *thread = NULL;
        NvDlaFree(self);
        return NvDlaError_InsufficientMemory;
    }
    return NvDlaSuccess;
}

SIM_EXPORT void NvDlaThreadJoin(NvDlaThreadHandle thread)
{
    if (thread != NULL && pthread_join(*(pthread_t *)thread->handle, NULL) == 0) {
        NvDlaFree(thread); /* the first member of struct thread */
    }
}

SIM_EXPORT void NvDlaThreadYield(void)
{
    sched_yield();
}

/* --- files ------------------------------------------------------------------------------------ */

/* -1 for a combination that makes no sense. */
static int open_mode(NvU32 flags)
{
    const int reads = (flags & NVDLA_OPEN_READ) != 0;
    const int access = reads ? O_RDWR : O_WRONLY;
    if (flags > 0xF) {
        return -1;
    }
    if (flags & NVDLA_OPEN_APPEND) {
        return O_CREAT | O_APPEND | access;
    }
    if (flags & NVDLA_OPEN_WRITE) {
        if (reads && !(flags & NVDLA_OPEN_CREATE)) {
            return O_RDWR;
        }
        return O_CREAT | O_TRUNC | access;
    }
    return flags == NVDLA_OPEN_READ ? O_RDONLY : -1;
}

SIM_EXPORT NvDlaError NvDlaFopen(const char *path, NvU32 flags, NvDlaFileHandle *file)
{
    const int mode = open_mode(flags);
    if (path == NULL || file == NULL || mode < 0) {
        return NvDlaError_BadParameter;
    }
    NvDlaFile *opened = NvDlaAlloc(sizeof *opened);
    if (opened == NULL) {
        return NvDlaError_InsufficientMemory;
    }
    opened->fd = open(path, mode | O_LARGEFILE, 0666);
    if (opened->fd < 0) {
        NvDlaFree(opened);
        return NvDlaError_FileOperationFailed;
    }
    *file = opened;
    return NvDlaSuccess;
}

SIM_EXPORT void NvDlaFclose(NvDlaFileHandle stream)
{
    if (stream != NULL) {
        close(stream->fd);
        stream->fd = -1;
        NvDlaFree(stream);
    }
}

SIM_EXPORT NvDlaError NvDlaFwrite(NvDlaFileHandle stream, const void *ptr, size_t size)
{
    if (stream == NULL || ptr == NULL) {
        return NvDlaError_BadParameter;
    }
    const char *from = ptr;
    while (size > 0) {
        ssize_t done = write(stream->fd, from, size);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return NvDlaError_FileWriteFailed;
        }
        from += done;
        size -= (size_t)done;
    }
    return NvDlaSuccess;
}

SIM_EXPORT NvDlaError NvDlaFread(NvDlaFileHandle stream, void *ptr, size_t size, size_t *bytes)
{
    if (stream == NULL || ptr == NULL) {
        return NvDlaError_BadParameter;
    }
    if (size > SSIZE_MAX) {
        return NvDlaError_BadValue;
    }
    size_t got = 0;
    NvDlaError result = NvDlaSuccess;
    while (got < size) {
        ssize_t done = read(stream->fd, (char *)ptr + got, size - got);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done < 0) {
            return NvDlaError_FileReadFailed;
        }
        if (done == 0) {
            result = NvDlaError_EndOfFile;
            break;
        }
        got += (size_t)done;
    }
    if (bytes != NULL) {
        *bytes = got;
    }
    return result;
}

SIM_EXPORT NvDlaError NvDlaFgetc(NvDlaFileHandle stream, NvU8 *c)
{
    return NvDlaFread(stream, c, 1, NULL);
}

SIM_EXPORT NvDlaError NvDlaFseek(NvDlaFileHandle file, NvS64 offset, NvDlaSeekEnum whence)
{
    static const int origins[] = {SEEK_SET, SEEK_CUR, SEEK_END};
    if (file == NULL || (unsigned)whence > NvDlaSeek_End) {
        return NvDlaError_BadParameter;
    }
    return lseek64(file->fd, offset, origins[whence]) < 0 ? NvDlaError_FileOperationFailed
                                                          : NvDlaSuccess;
}

static NvDlaFileType type_of(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return NvDlaFileType_File;
    case S_IFDIR:
        return NvDlaFileType_Directory;
    case S_IFIFO:
        return NvDlaFileType_Fifo;
    case S_IFCHR:
        return NvDlaFileType_CharacterDevice;
    case S_IFBLK:
        return NvDlaFileType_BlockDevice;
    default:
        return NvDlaFileType_Unknown;
    }
}

SIM_EXPORT NvDlaError NvDlaFstat(NvDlaFileHandle file, NvDlaStatType *stat)
{
    struct stat64 found;
    if (file == NULL || stat == NULL) {
        return NvDlaError_BadParameter;
    }
    if (fstat64(file->fd, &found) != 0) {
        return NvDlaError_FileOperationFailed;
    }
    stat->size = (NvU64)found.st_size;
    stat->mtime = (NvU64)found.st_mtime;
    stat->type = type_of(found.st_mode);
    return NvDlaSuccess;
}

/* As in the public driver, a file that is not there is no error: its type is unknown, its size 0. */
SIM_EXPORT NvDlaError NvDlaStat(const char *filename, NvDlaStatType *stat)
{
    if (filename == NULL || stat == NULL) {
        return NvDlaError_BadParameter;
    }
    memset(stat, 0, sizeof *stat);
    NvDlaFileHandle file = NULL;
    if (NvDlaFopen(filename, NVDLA_OPEN_READ, &file) == NvDlaSuccess) {
        NvDlaError result = NvDlaFstat(file, stat);
        NvDlaFclose(file);
        return result;
    }
    return NvDlaSuccess;
}

SIM_EXPORT NvU64 NvDlaStatGetSize(NvDlaStatType *stat)
{
    return stat != NULL ? stat->size : 0;
}

SIM_EXPORT NvDlaError NvDlaMkdir(char *dirname)
{
    if (dirname == NULL) {
        return NvDlaError_BadParameter;
    }
    return mkdir(dirname, S_IRWXU) == 0 ? NvDlaSuccess : NvDlaError_FileOperationFailed;
}

SIM_EXPORT NvDlaError NvDlaFremove(const char *filename)
{
    if (filename == NULL) {
        return NvDlaError_BadParameter;
    }
    return unlink(filename) == 0 ? NvDlaSuccess : NvDlaError_FileOperationFailed;
}

/* --- folders ---------------------------------------------------------------------------------- */

SIM_EXPORT NvDlaError NvDlaOpendir(const char *path, NvDlaDirHandle *dir)
{
    if (path == NULL || dir == NULL) {
        return NvDlaError_BadParameter;
    }
    NvDlaDir *opened = NvDlaAlloc(sizeof *opened);
    if (opened == NULL) {
        return NvDlaError_InsufficientMemory;
    }
    opened->dir = opendir(path);
    if (opened->dir == NULL) {
        NvDlaFree(opened);
        return NvDlaError_DirOperationFailed;
    }
    *dir = opened;
    return NvDlaSuccess;
}

SIM_EXPORT NvDlaError NvDlaReaddir(NvDlaDirHandle dir, char *name, size_t size)
{
    if (dir == NULL || name == NULL || size == 0) {
        return NvDlaError_BadParameter;
    }
    if (dir->dir == NULL) {
        return NvDlaError_BadValue;
    }
    const struct dirent *entry = readdir(dir->dir);
    if (entry == NULL) {
        return NvDlaError_EndOfDirList;
    }
    snprintf(name, size, "%s", entry->d_name);
    return NvDlaSuccess;
}

SIM_EXPORT void NvDlaClosedir(NvDlaDirHandle dir)
{
    if (dir != NULL) {
        if (dir->dir != NULL) {
            closedir(dir->dir);
        }
        NvDlaFree(dir);
    }
}

/* --- ErrorMacros.h ---------------------------------------------------------------------------- */

/* The public library knows no names: it returns NULL, and the number is printed. */
SIM_EXPORT const char *NvDlaUtilsGetNvErrorString(NvDlaError e)
{
    (void)e;
    return NULL;
}

SIM_EXPORT void NvDlaUtilsLogError(const char *tag, const char *path, NvDlaError e,
                                   const char *file, const char *func, uint32_t line,
                                   bool propagating, const char *format, ...)
{
    char message[1024] = "";
    if (format != NULL) {
        va_list arguments;
        va_start(arguments, format);
        message[0] = ' ';
        vsnprintf(message + 1, sizeof message - 1, format, arguments);
        va_end(arguments);
    }
    const char *shown = file != NULL ? file : "?";
    if (path != NULL && strstr(shown, path) != NULL) {
        shown = strstr(shown, path) + strlen(path);
    }
    NvDlaDebugPrintf("(%s) Error 0x%08x:%s (%s %s, function %s(), line %u)\n",
                     tag != NULL ? tag : "", (unsigned)e, message,
                     propagating ? "propagating from" : "in", shown, func != NULL ? func : "?",
                     (unsigned)line);
}
