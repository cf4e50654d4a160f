/*
 * A filter of system calls (seccomp): what the runtimes of DPU and VPU programs and the C library need
 * is allowed, everything else is refused with EPERM, as if the user had no right to it. The filter knows
 * no paths (Landlock does, paths.c), but it is there where Landlock is not.
 */
#define _GNU_SOURCE
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#define FOREIGN_NUMBERS 0x40000000u /* those of x32 */
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#define FOREIGN_NUMBERS 0xffffffffu
#else
#error "the system calls of this processor have no names here"
#endif

#define FAIL(number) (SECCOMP_RET_ERRNO | ((number) & SECCOMP_RET_DATA))
#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

/* Whatever their arguments: memory, time, threads, open files, looking at oneself. The most frequent
   ones come first. */
static const int plain[] = {
    SYS_sched_yield, SYS_recvfrom, SYS_sendto, SYS_read, SYS_write, SYS_futex, SYS_mmap, SYS_munmap,
    SYS_mprotect, SYS_madvise, SYS_mincore, SYS_setitimer, SYS_getitimer, SYS_rt_sigprocmask, SYS_rt_sigreturn,
    SYS_rt_sigaction, SYS_sigaltstack, SYS_rt_sigtimedwait, SYS_rt_sigpending, SYS_rt_sigsuspend,
    SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_clock_nanosleep, SYS_nanosleep,
    SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_preadv, SYS_pwritev, SYS_lseek, SYS_close,
    SYS_fstat, SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_readlinkat, SYS_getdents64, SYS_getcwd,
    SYS_dup, SYS_dup3, SYS_fsync, SYS_fdatasync, SYS_brk, SYS_mremap, SYS_msync, SYS_exit, SYS_exit_group,
    SYS_getpid, SYS_gettid, SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getpgid,
    SYS_uname, SYS_sysinfo, SYS_getrusage, SYS_times, SYS_getrandom, SYS_getcpu, SYS_sched_getaffinity,
    SYS_set_tid_address, SYS_set_robust_list, SYS_get_robust_list, SYS_membarrier, SYS_recvmsg, SYS_ppoll,
    SYS_restart_syscall, SYS_pipe2, SYS_eventfd2, SYS_pselect6, SYS_epoll_create1, SYS_epoll_ctl,
    SYS_epoll_pwait,
#ifdef SYS_rseq
    SYS_rseq,
#endif
#ifdef SYS_faccessat2
    SYS_faccessat2,
#endif
#ifdef SYS_futex_waitv
    SYS_futex_waitv,
#endif
#ifdef SYS_close_range
    SYS_close_range,
#endif
#ifdef SYS_stat /* the older forms, of x86 */
    SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_getdents, SYS_dup2, SYS_arch_prctl, SYS_time, SYS_alarm,
    SYS_pause, SYS_poll, SYS_select, SYS_pipe, SYS_eventfd, SYS_epoll_wait, SYS_getpgrp,
#endif
};

static const int network[] = {
    SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_getsockname,
    SYS_getpeername, SYS_setsockopt, SYS_getsockopt, SYS_shutdown, SYS_sendmsg, SYS_sendmmsg, SYS_recvmmsg,
};

static const int files[] = {
    SYS_openat, SYS_truncate, SYS_ftruncate, SYS_fallocate, SYS_mkdirat, SYS_unlinkat, SYS_renameat2,
    SYS_linkat, SYS_symlinkat, SYS_fchmodat, SYS_fchmod, SYS_utimensat, SYS_copy_file_range, SYS_sendfile,
    SYS_flock, SYS_chdir, SYS_fchdir, SYS_umask, SYS_statfs, SYS_fstatfs, SYS_fadvise64,
#ifdef SYS_openat2
    SYS_openat2,
#endif
#ifdef SYS_renameat
    SYS_renameat,
#endif
#ifdef SYS_creat
    SYS_open, SYS_creat, SYS_mkdir, SYS_unlink, SYS_rmdir, SYS_rename, SYS_link, SYS_symlink, SYS_chmod,
    SYS_utime, SYS_utimes, SYS_futimesat,
#endif
};

#define MOST 512
static struct sock_filter program[MOST];
static unsigned short length;

static void add(unsigned short code, unsigned char yes, unsigned char no, uint32_t value)
{
    if (length < MOST)
        program[length++] = (struct sock_filter){code, yes, no, value};
}

static void load(size_t offset)
{
    add(BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

static void load_argument(int index)
{
    load(offsetof(struct seccomp_data, args) + 8u * (unsigned)index); /* the low half */
}

static void allow(const int *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)numbers[i]);
        add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
    }
}

/* `number` with an argument that has none of the bits of `mask`. */
static void allow_without(int number, int index, uint32_t mask, int refusal)
{
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 4, (uint32_t)number);
    load_argument(index);
    add(BPF_JMP | BPF_JSET | BPF_K, 0, 1, mask);
    add(BPF_RET | BPF_K, 0, 0, FAIL(refusal));
    add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
}

/* `number` with an argument that has all bits of `mask`, which is one bit. */
static void allow_with(int number, int index, uint32_t mask)
{
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 4, (uint32_t)number);
    load_argument(index);
    add(BPF_JMP | BPF_JSET | BPF_K, 1, 0, mask);
    add(BPF_RET | BPF_K, 0, 0, FAIL(EPERM));
    add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
}

/* `number` with an argument that is one of `values`. */
static void allow_values(int number, int index, const uint32_t *values, unsigned char count)
{
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, (unsigned char)(count + 3), (uint32_t)number);
    load_argument(index);
    for (unsigned char i = 0; i < count; i++)
        add(BPF_JMP | BPF_JEQ | BPF_K, (unsigned char)(count - i), 0, values[i]);
    add(BPF_RET | BPF_K, 0, 0, FAIL(EPERM));
    add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
}

/* `number` with an argument that is 0, all of it. */
static void allow_null(int number, int index)
{
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 6, (uint32_t)number);
    load_argument(index);
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 3, 0);
    load(offsetof(struct seccomp_data, args) + 8u * (unsigned)index + 4);
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
    add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
    add(BPF_RET | BPF_K, 0, 0, FAIL(EPERM));
}

static void refuse(int number, int with)
{
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)number);
    add(BPF_RET | BPF_K, 0, 0, FAIL(with));
}

#define ALLOW(list) allow(list, sizeof list / sizeof list[0])
#define VALUES(number, index, ...)                                                               \
    do {                                                                                         \
        const uint32_t values[] = {__VA_ARGS__};                                                 \
        allow_values(number, index, values, sizeof values / sizeof values[0]);                   \
    } while (0)

int confine_calls_possible(void)
{
    uint32_t action = SECCOMP_RET_ERRNO;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0 ? CONFINED_CALLS : 0;
}

int confine_calls(uint32_t allowed, int image)
{
    uint32_t own = (uint32_t)getpid();
    length = 0;
    load(offsetof(struct seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, OWN_ARCH);
    add(BPF_RET | BPF_K, 0, 0, FAIL(ENOSYS));
    load(offsetof(struct seccomp_data, nr));
    add(BPF_JMP | BPF_JGE | BPF_K, 0, 1, FOREIGN_NUMBERS);
    add(BPF_RET | BPF_K, 0, 0, FAIL(ENOSYS));
    ALLOW(plain);
    if (allowed & ALLOW_NETWORK)
        ALLOW(network);
    if (allowed & ALLOW_FILES)
        ALLOW(files);
    else {
        allow_without(SYS_openat, 2, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC, EACCES);
#ifdef SYS_open
        allow_without(SYS_open, 1, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC, EACCES);
#endif
    }
    VALUES(SYS_execveat, 0, (uint32_t)image); /* what comes next: no other program is open there */
    VALUES(SYS_kill, 0, own);
    VALUES(SYS_tgkill, 0, own);
    VALUES(SYS_rt_sigqueueinfo, 0, own);
    VALUES(SYS_ioctl, 1, TCGETS, FIONREAD);
    VALUES(SYS_fcntl, 1, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD, F_DUPFD_CLOEXEC, F_GETLK); /* no owner */
    VALUES(SYS_prctl, 0, PR_SET_NAME, PR_GET_NAME, 0x53564d41 /* PR_SET_VMA */, PR_GET_DUMPABLE);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    static const int limits[] = {SYS_prlimit64}; /* the sanitizer sets its own */
    ALLOW(limits);
#else
    allow_null(SYS_prlimit64, 2); /* asked, not set */
#endif
    allow_with(SYS_clone, 0, CLONE_THREAD); /* threads, no processes */
#ifdef SYS_clone3
    refuse(SYS_clone3, ENOSYS); /* its flags lie in memory: the library asks with clone then */
#endif
    add(BPF_RET | BPF_K, 0, 0, FAIL(EPERM));
    struct sock_fprog all = {length, program};
    /* Without the flag some processors run a program's vectors slower. */
    if (length < MOST &&
        (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &all) == 0 ||
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) == 0))
        return CONFINED_CALLS;
    return 0;
}
