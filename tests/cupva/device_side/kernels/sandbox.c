/* Tries one thing with `path`, and returns errno, or 0. */
#include <cupva_device.h>
#include <cupva_device_debug.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox.h"

VMEM(A, int32_t, mode);
VMEM(A, int32_t, host);
VMEM(A, char, path, 256);
VMEM(A, int32_t, sum);

static int32_t open_with(int flags)
{
    int file = open(path, flags, 0644);
    if (file < 0)
        return errno;
    if (flags != O_RDONLY && write(file, "x", 1) != 1)
        return errno;
    close(file);
    return 0;
}

static int32_t outcome(int answer)
{
    return answer < 0 ? errno : 0;
}

static void *add(void *)
{
    sum += 41;
    return 0;
}

static int32_t in_a_child(void)
{
    pid_t child = fork();
    if (child < 0)
        return errno;
    if (child == 0)
        _exit(open_with(O_WRONLY | O_CREAT));
    int status = 0;
    if (waitpid(child, &status, 0) != child)
        return 255;
    return WEXITSTATUS(status);
}

/* Cuts off and empties whatever is open; EPERM when nothing let that happen. */
static int32_t cut_shared(void)
{
    for (int file = 3; file < 256; file++) {
        if (ftruncate(file, 0) == 0 || fallocate(file, 3 /* punch, keep size */, 0, 4096) == 0)
            return 0;
    }
    return EPERM;
}

/* 0 when eight GiB can be had, all of them written to. */
static int32_t much_memory(void)
{
    for (int part = 0; part < 8; part++) {
        char *got = (char *)malloc((size_t)1 << 30);
        if (!got)
            return ENOMEM;
        for (size_t at = 0; at < (size_t)1 << 30; at += 1 << 21)
            got[at] = 1;
    }
    return 0;
}

/* Runs before main() and before the runtime's first line. */
__attribute__((constructor)) static void before_everything(void)
{
    int file = open("a-constructor-was-here", O_WRONLY | O_CREAT, 0644);
    int found = socket(AF_INET, SOCK_STREAM, 0);
    if (file >= 0 && found >= 0)
        (void)!write(file, "both", 4);
    close(file);
    close(found);
}

CUPVA_VPU_MAIN()
{
    char other[300];
    snprintf(other, sizeof other, "%s.other", path);
    pthread_t thread;
    switch (mode) {
    case WRITE_FILE:
        return open_with(O_WRONLY | O_CREAT | O_TRUNC);
    case APPEND_FILE:
        return open_with(O_RDWR | O_APPEND);
    case REMOVE_FILE:
        return outcome(unlink(path));
    case MAKE_FOLDER:
        return outcome(mkdir(other, 0755));
    case RENAME_FILE:
        return outcome(rename(path, other));
    case CHANGE_MODE:
        return outcome(chmod(path, 0600));
    case CUT_FILE:
        return outcome(truncate(path, 0));
    case READ_FILE:
        return open_with(O_RDONLY);
    case OPEN_SOCKET:
        return outcome(socket(AF_INET, SOCK_STREAM, 0));
    case OPEN_LOCAL_SOCKET:
        return outcome(socket(AF_UNIX, SOCK_STREAM, 0));
    case SIGNAL_HOST:
        return outcome(kill(host, 0));
    case LEAVE_GROUP:
        return outcome(setpgid(0, 0)) ? errno : outcome(setsid());
    case FORK_AND_WRITE:
        return in_a_child();
    case FORK:
        return outcome(fork());
    case LIMIT_HOST: {
        struct rlimit none = {0, 0};
        return outcome(prlimit(host, RLIMIT_NOFILE, &none, 0));
    }
    case SLOW_HOST:
        return outcome(setpriority(PRIO_PROCESS, host, 10));
    case PIN_HOST: {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(0, &one);
        return outcome(sched_setaffinity(host, sizeof one, &one));
    }
    case SHARED_MEMORY:
        return outcome(shmget(IPC_PRIVATE, 4096, 0600));
    case QUEUE:
        return outcome(msgget(IPC_PRIVATE, 0600));
    case NAMESPACE:
        return outcome(unshare(CLONE_NEWUSER)) ? errno : outcome(syscall(SYS_clone, CLONE_NEWUSER, 0, 0, 0, 0));
    case MOUNT_API:
        return outcome(syscall(430 /* fsopen */, "tmpfs", 0)) ? errno
               : outcome(syscall(428 /* open_tree */, -100, "/", 0));
    case TERMINAL:
        return outcome(ioctl(1, TIOCSTI, "x"));
    case OWNER_OF_SIGNALS:
        return outcome(fcntl(1, F_SETOWN, host));
    case DUMP:
        return outcome(prctl(PR_SET_PTRACER, host, 0, 0, 0));
    case CUT_SHARED:
        return cut_shared();
    case MUCH_MEMORY:
        return much_memory();
    case EXECUTE:
        return outcome(execl("/bin/true", "true", (char *)0));
    case SAY:
        printf("a kernel speaks\n");
        return 0;
    case THREAD:
        if (pthread_create(&thread, 0, add, 0) || pthread_join(thread, 0))
            return errno;
        return sum == 41 ? 0 : 1;
    }
    return -1;
}
