/*
 * Preloaded: the n-th call of one kind fails, counted from fail_begin() on, in this process and the
 * processes that it forks. fail_end() disarms and answers how many calls there were.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { NONE, MALLOC, MMAP, MEMFD, THREAD, FORK, EXEC, WRITE };

static const char *const names[] = {"none", "malloc", "mmap", "memfd", "thread",
                                    "fork", "exec", "write"};

/*
 * Python, numpy and cffi are not written for a malloc that fails: some paths of theirs crash, and
 * the C library ends a process that has no memory for thread-local variables. Those ends are told
 * apart: "crash in LIBRARY" names the innermost of them and ours that was running.
 */
static const char *const suspects[] = {"libcudla", "cudla_sim/", "numpy", "_cffi_backend"};

static void name_crash(int signal)
{
    void *frames[60];
    int const count = backtrace(frames, 60);
    const char *found = "the program";
    for (int i = 1; i < count; i++) {
        Dl_info info;
        if (dladdr(frames[i], &info) == 0 || info.dli_fname == NULL)
            continue;
        if (strstr(info.dli_fname, "libpython") != NULL)
            found = "libpython";
        for (int s = 0; s < (int)(sizeof suspects / sizeof *suspects); s++)
            if (strstr(info.dli_fname, suspects[s]) != NULL) {
                found = suspects[s];
                i = count;
                break;
            }
    }
    dprintf(2, "crash in %s, signal %d\n", found, signal);
    _exit(99);
}

/* Shared with children. */
static struct state {
    int kind;
    long nth, calls;
} *state, nobody;

__attribute__((constructor)) static void begin(void)
{
    void *page = (void *)syscall(SYS_mmap, NULL, sizeof *state, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0L);
    state = page == MAP_FAILED ? &nobody : page;
    void *frame;
    backtrace(&frame, 1); /* loads what it needs */
    signal(SIGSEGV, name_crash);
    signal(SIGABRT, name_crash);
}

void fail_begin(const char *what, long nth)
{
    for (int k = 0; k < (int)(sizeof names / sizeof *names); k++)
        if (strcmp(names[k], what) == 0) {
            state->calls = 0;
            state->nth = nth;
            __atomic_store_n(&state->kind, k, __ATOMIC_SEQ_CST);
        }
}

long fail_end(void)
{
    __atomic_store_n(&state->kind, NONE, __ATOMIC_SEQ_CST);
    return state->calls;
}

static int fails(int kind)
{
    if (state == NULL || __atomic_load_n(&state->kind, __ATOMIC_RELAXED) != kind)
        return 0;
    return __atomic_add_fetch(&state->calls, 1, __ATOMIC_SEQ_CST) == state->nth;
}

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static void *none(void)
{
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t size) { return fails(MALLOC) ? none() : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return fails(MALLOC) ? none() : __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { return fails(MALLOC) ? none() : __libc_realloc(old, size); }

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (real == NULL) \
        real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
    if (fails(MMAP)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, at, size, protection, flags, file, offset);
}

void *mmap64(void *at, size_t size, int protection, int flags, int file, off64_t offset)
{
    return mmap(at, size, protection, flags, file, offset);
}

int memfd_create(const char *name, unsigned flags)
{
    if (fails(MEMFD)) {
        errno = EMFILE;
        return -1;
    }
    return (int)syscall(SYS_memfd_create, name, flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    REAL(int, "pthread_create", pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    return fails(THREAD) ? EAGAIN : real(thread, attributes, run, argument);
}

pid_t fork(void)
{
    REAL(pid_t, "fork", void);
    if (fails(FORK)) {
        errno = EAGAIN;
        return -1;
    }
    return real();
}

/* A function around vfork cannot return twice. As there, no fork handlers run. */
pid_t vfork(void)
{
    if (fails(FORK)) {
        errno = EAGAIN;
        return -1;
    }
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, NULL, NULL, 0);
}

int execve(const char *path, char *const arguments[], char *const environment[])
{
    if (fails(EXEC)) {
        errno = ENOMEM;
        return -1;
    }
    return (int)syscall(SYS_execve, path, arguments, environment);
}

extern char **environ;

int execv(const char *path, char *const arguments[]) { return execve(path, arguments, environ); }

int execveat(int folder, const char *path, char *const arguments[], char *const environment[],
             int flags)
{
    if (fails(EXEC)) {
        errno = ENOMEM;
        return -1;
    }
    return (int)syscall(SYS_execveat, folder, path, arguments, environment, flags);
}

int fexecve(int file, char *const arguments[], char *const environment[])
{
    return execveat(file, "", arguments, environment, 0x1000 /* AT_EMPTY_PATH */);
}

ssize_t write(int file, const void *data, size_t size)
{
    if (fails(WRITE)) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_write, file, data, size);
}

ssize_t pwrite(int file, const void *data, size_t size, off_t offset)
{
    if (fails(WRITE)) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_pwrite64, file, data, size, offset);
}

ssize_t pwrite64(int file, const void *data, size_t size, off64_t offset)
{
    return pwrite(file, data, size, offset);
}
