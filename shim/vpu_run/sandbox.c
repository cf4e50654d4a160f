/*
 * What a kernel cannot do to this machine: a VPU reaches its VMEM and what its DMA moves, nothing
 * else. So the process of a kernel has no network, cannot write to files of the host (nor remove,
 * rename or create them), and cannot reach other processes. What is open already stays in use: that
 * is how printf comes out.
 *
 * Two layers, each where the system offers it: a filter of system calls (seccomp), which knows no
 * paths, and Landlock, which checks every path and scopes signals. A child that a kernel forks
 * inherits both, and cannot leave the process group that dies with the host.
 */
#define _GNU_SOURCE
#include "rt.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
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

/* Roads around the filter, and into other processes. Never allowed. */
static const int always[] = {
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_bpf, SYS_setpgid, SYS_setsid,
    SYS_mount, SYS_umount2, SYS_chroot, SYS_pivot_root, SYS_unshare, SYS_setns, SYS_kexec_load,
    SYS_add_key, SYS_request_key, SYS_keyctl, SYS_perf_event_open, SYS_userfaultfd,
#ifdef SYS_io_uring_setup
    SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
#endif
#ifdef SYS_pidfd_getfd
    SYS_pidfd_getfd,
#endif
};

static const int network[] = {SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen,
                              SYS_accept, SYS_accept4};

/* Changes to files that need no open file, and those that are asked for a path. */
static const int files[] = {
    SYS_truncate, SYS_mkdirat, SYS_mknodat, SYS_unlinkat, SYS_renameat2, SYS_linkat, SYS_symlinkat,
    SYS_fchmodat, SYS_fchownat, SYS_utimensat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr,
    SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, SYS_fchmod, SYS_fchown,
    SYS_open_by_handle_at,
#ifdef SYS_openat2 /* flags in memory, which a filter cannot see; the library asks with openat */
    SYS_openat2,
#endif
#ifdef SYS_renameat
    SYS_renameat,
#endif
#ifdef SYS_fchmodat2
    SYS_fchmodat2,
#endif
#ifdef SYS_creat /* the older forms, of x86 */
    SYS_creat, SYS_mkdir, SYS_mknod, SYS_unlink, SYS_rmdir, SYS_rename, SYS_link, SYS_symlink,
    SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
#endif
};

#define MOST 256
static struct sock_filter program[MOST];
static unsigned short length;

static void add(unsigned short code, unsigned char yes, unsigned char no, uint32_t value)
{
    program[length++] = (struct sock_filter){code, yes, no, value};
}

static void load(size_t offset)
{
    add(BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

static void deny(const int *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)numbers[i]);
        add(BPF_RET | BPF_K, 0, 0, FAIL(EPERM));
    }
}

/* Opening is allowed for reading only; argument `index` has the flags. */
static void deny_writing(int number, int index)
{
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 4, (uint32_t)number);
    load(offsetof(struct seccomp_data, args) + 8u * (unsigned)index);
    add(BPF_JMP | BPF_JSET | BPF_K, 0, 1, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC);
    add(BPF_RET | BPF_K, 0, 0, FAIL(EACCES));
    load(offsetof(struct seccomp_data, nr));
}

#define DENY(list) deny(list, sizeof list / sizeof list[0])

static void filter_calls(uint32_t allowed)
{
    length = 0;
    load(offsetof(struct seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, OWN_ARCH);
    add(BPF_RET | BPF_K, 0, 0, FAIL(ENOSYS));
    load(offsetof(struct seccomp_data, nr));
    add(BPF_JMP | BPF_JGE | BPF_K, 0, 1, FOREIGN_NUMBERS);
    add(BPF_RET | BPF_K, 0, 0, FAIL(ENOSYS));
    DENY(always);
    if (!(allowed & PVA_ALLOW_NETWORK))
        DENY(network);
    if (!(allowed & PVA_ALLOW_FILES)) {
        DENY(files);
        deny_writing(SYS_openat, 2);
#ifdef SYS_open
        deny_writing(SYS_open, 1);
#endif
    }
    add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
    struct sock_fprog all = {length, program};
    /* Without the flag some processors run the kernel's vectors slower. */
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &all) != 0)
        (void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all);
}

/* The rules of a newer system than the headers know are named by their numbers. */
struct ruleset {
    uint64_t fs, net, scoped;
};
#define EVERY_WRITE (0x1ffeull & ~(1ull << 2) & ~(1ull << 3)) /* bits 1 to 12 without the reads */

static void bar_paths(uint32_t allowed)
{
    long version = syscall(444, 0, 0, 1); /* landlock_create_ruleset, its version */
    if (version < 1)
        return;
    struct ruleset rules = {0, 0, 0};
    if (!(allowed & PVA_ALLOW_FILES)) {
        rules.fs = EVERY_WRITE;
        if (version >= 2)
            rules.fs |= 1ull << 13; /* moving between folders */
        if (version >= 3)
            rules.fs |= 1ull << 14; /* cutting off */
    }
    if (!(allowed & PVA_ALLOW_NETWORK) && version >= 4)
        rules.net = 3; /* TCP: bind and connect */
    if (version >= 6)
        rules.scoped = 3; /* abstract sockets and signals: among kernels only */
    size_t size = version >= 6 ? sizeof rules : version >= 4 ? 16 : 8;
    if (rules.fs == 0 && rules.net == 0 && rules.scoped == 0)
        return;
    long made = syscall(444, &rules, size, 0);
    if (made < 0)
        return;
    (void)!syscall(446, made, 0); /* landlock_restrict_self */
    close((int)made);
}

void rt_sandbox(uint32_t allowed)
{
    static int done;
    if (done)
        return;
    done = 1;
    if (allowed == PVA_ALLOW_ALL || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return;
    bar_paths(allowed);
    filter_calls(allowed);
}
