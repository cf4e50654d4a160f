/*
 * cudla-sim-confine - starts the program of a DPU or VPU as a worker, confined.
 *
 *     confine ALLOWED PROGRAM_FD SOCKET_FD REPORT_FD NAME [ARGUMENT...]
 *
 * A DPU reaches its memories, a VPU its VMEM and what its DMA moves, nothing else. So their programs
 * get no more of this machine than their runtime needs, and they get it before their first
 * instruction: constructors and whatever else comes before main() run confined, too. What is allowed
 * comes as an argument from the host; the program has no memory in which it could change it.
 *
 * The worker is a child of a child, so that the host's own wait() meets neither it nor who watches
 * it. Its first message, process id and what confines it, is sent from here. The watcher waits for
 * it and tells the host how it has ended: minus the signal, or -1000 - the exit status; that is
 * known even when the program holds its end of the socket in many places.
 */
#define _GNU_SOURCE
#include "confine.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

extern char **environ;

static void limit(int what, rlim_t most)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)what, &now) == 0 && now.rlim_cur > most) {
        now.rlim_cur = now.rlim_max = most;
        (void)setrlimit((__rlimit_resource_t)what, &now);
    }
}

/* In the host's process group, whose signals must not make it forget its duty. */
static _Noreturn void watch(pid_t worker, int socket, int report)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, 0);
    int status = 0;
    while (waitpid(worker, &status, 0) < 0 && errno == EINTR)
        ;
    int32_t number = WIFSIGNALED(status) ? -WTERMSIG(status) : EXITED - WEXITSTATUS(status);
    (void)!send(socket, &number, sizeof number, MSG_NOSIGNAL);
    if (report >= 0)
        (void)!send(report, &number, sizeof number, MSG_NOSIGNAL);
    _exit(0);
}

/* What a program may know of the user's environment. */
static char **environment(void)
{
    static const char *const kept[] = {"LD_LIBRARY_PATH=", "LANG=", "LC_ALL=", "TZ=", "ASAN_OPTIONS=",
                                       "UBSAN_OPTIONS=", "TSAN_OPTIONS=", "LD_PRELOAD="};
    int count = 0;
    for (char **from = environ; *from; from++)
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
            if (strncmp(*from, kept[i], strlen(kept[i])) == 0) {
                environ[count++] = *from;
                break;
            }
    environ[count] = 0;
    return environ;
}

int main(int count, char **words)
{
    if (count < 6) {
        fputs("cudla-sim starts its workers with this program; there is nothing to call it for\n", stderr);
        return 2;
    }
    uint32_t allowed = (uint32_t)strtoul(words[1], 0, 10);
    int program = atoi(words[2]), socket = atoi(words[3]), report = atoi(words[4]);
    pid_t child = fork();
    if (child != 0)
        _exit(child < 0 ? 123 : 0);
    child = fork();
    if (child != 0) {
        if (child < 0)
            _exit(123);
        watch(child, socket, report);
    }
    setpgid(0, 0); /* the group that dies with the host */
#ifdef PR_SET_PTRACER
    if (getenv("CUDLA_SIM_UPMEM_DEBUGGER")) /* gdb is no ancestor, and may be asked to be one (Yama) */
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
#endif
    char **variables = environ;
    struct confine_hello hello = {getpid(), CONFINED_FULLY};
    if (allowed != ALLOW_ALL) {
        limit(RLIMIT_CORE, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* shadow memory counts, too */
        limit(RLIMIT_DATA, MOST_DATA);
#endif
        limit(RLIMIT_NOFILE, MOST_FILES);
        limit(RLIMIT_CPU, MOST_SECONDS);
        variables = environment();
        hello.layers =
            prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ? 0 : confine_paths(allowed, program);
    }
    /* The filter allows this message no more; what it will say is known before. */
    if (allowed != ALLOW_ALL && hello.layers >= 0)
        hello.layers |= confine_calls_possible();
    if (send(socket, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello)
        _exit(0);
    if (allowed != ALLOW_ALL)
        (void)confine_calls(allowed, program);
    syscall(SYS_execveat, program, "", words + 5, variables, AT_EMPTY_PATH);
    int32_t why = NOT_STARTED - errno;
    (void)!send(socket, &why, sizeof why, MSG_NOSIGNAL);
    _exit(125);
}
