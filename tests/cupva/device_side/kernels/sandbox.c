/* Tries one thing with `path`, and returns errno, or 0. */
#include <cupva_device.h>
#include <cupva_device_debug.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
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
    if (child == 0)
        _exit(open_with(O_WRONLY | O_CREAT));
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 255;
    return WEXITSTATUS(status);
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
