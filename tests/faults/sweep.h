/*
 * sweep KIND FIRST STEP MOST: lets the n-th call of a kind fail, n = FIRST, FIRST + STEP, ... until
 * a scenario passes without a failure, or MOST times. Each n runs in a child of a process that has
 * everything warm. Prints a line for each n that ended badly, and one with the number of runs and
 * the calls there were.
 *
 * The program includes this file and defines scenario(): 0 when all went well and the results are
 * right, WRONG when they are not, else the status of the call that failed (after it cleaned up).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cudla_sim.h"

enum { WRONG = -777 };

static int scenario(void);

/* The first status that is not 0 is the scenario's; what comes after it only cleans up. */
static int first_status;
static const char *first_call = "";
#define TRY(call) \
    do { \
        int const status_ = (int)(call); \
        if (status_ != 0 && first_status == 0) { \
            first_status = status_; \
            first_call = #call; \
        } \
    } while (0)
#define GOOD (first_status == 0)

static int attempt(void)
{
    first_status = 0;
    first_call = "";
    return scenario();
}

static char why[400];

/* How a child ended: 0 as if nothing was, 1 with a status and an explanation, 2 badly, 3 in code
 * that is not ours. */
static int one(const char *kind, long nth, long *calls)
{
    static void (*begin)(const char *, long);
    static long (*end)(void);
    if (begin == NULL) {
        begin = (void (*)(const char *, long))dlsym(RTLD_DEFAULT, "fail_begin");
        end = (long (*)(void))dlsym(RTLD_DEFAULT, "fail_end");
    }
    int report[2], place = open("/tmp", O_TMPFILE | O_RDWR, 0600);
    if (pipe(report) != 0 || place < 0)
        exit(3);
    fflush(NULL);
    pid_t const child = fork();
    if (child == 0) {
        alarm(30);
        dup2(place, 2);
        char text[400] = "";
        begin(kind, nth);
        int const status = attempt();
        long const counted = end();
        if (status == WRONG)
            snprintf(text, sizeof text, "wrong result");
        else if (status != 0) {
            char explanation[200] = "";
            simExplain(explanation, sizeof explanation);
            snprintf(text, sizeof text, "%s -> %d: %s", first_call, status, explanation);
        }
        int verdict = status == 0 ? 0 : status == WRONG ? 2 : 1;
        if (verdict != 2) {
            int const again = attempt();
            if (again != 0) {
                char first[200];
                snprintf(first, sizeof first, "%.190s", text);
                snprintf(text, sizeof text, "[%s], and without a failure again %s -> %d", first,
                         first_call, again);
                verdict = 2;
            }
        }
        if (write(report[1], &counted, sizeof counted) < 0 || write(report[1], text, sizeof text) < 0)
            _exit(4);
        _exit(verdict);
    }
    close(report[1]);
    int how = 0;
    char text[400] = "", said[60000];
    if (read(report[0], calls, sizeof *calls) == (ssize_t)sizeof *calls &&
        read(report[0], text, sizeof text) < 0)
        text[0] = '\0';
    close(report[0]);
    waitpid(child, &how, 0);
    ssize_t const size = pread(place, said, sizeof said - 1, 0);
    said[size > 0 ? size : 0] = '\0';
    close(place);
    static const char *const foreign[] = {"crash in numpy", "crash in _cffi_backend",
                                          "crash in libpython", "for thread-local data: ABORT"};
    for (int i = 0; i < (int)(sizeof foreign / sizeof *foreign); i++)
        if (strstr(said, foreign[i]) != NULL)
            return 3;
    const char *internal = strstr(said, "internal error");
    if (internal == NULL)
        internal = strstr(said, "crash in");
    if (internal == NULL)
        internal = strstr(said, "Traceback");
    if (internal == NULL)
        internal = strstr(said, "Fatal Python error");
    if (WIFSIGNALED(how))
        snprintf(why, sizeof why, "signal %d%s%.300s", WTERMSIG(how), internal ? ": " : "",
                 internal ? internal : "");
    else if (internal != NULL)
        snprintf(why, sizeof why, "%.390s", internal);
    else
        snprintf(why, sizeof why, "%s", text);
    if (getenv("SWEEP_SHOW"))
        printf("  %s %ld: %s\n%s\n", kind, nth, why, said);
    return !WIFEXITED(how) || internal != NULL || WEXITSTATUS(how) > 2 ? 2 : WEXITSTATUS(how);
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        puts("sweep KIND FIRST STEP MOST");
        return 2;
    }
    for (int warm = 0; warm < 2; warm++)
        if (attempt() != 0) {
            char explanation[400] = "";
            simExplain(explanation, sizeof explanation);
            printf("the scenario does not pass: %s -> %d %s\n", first_call, first_status, explanation);
            return 1;
        }
    long nth = atol(argv[2]), step = atol(argv[3]), most = atol(argv[4]), calls = 0, runs = 0;
    long bad = 0, refused = 0, foreign = 0;
    for (; runs < most; runs++, nth += step) {
        long counted = 0;
        int const verdict = one(argv[1], nth, &counted);
        if (counted > calls)
            calls = counted;
        if (verdict == 2) {
            printf("%s %ld: %s\n", argv[1], nth, why);
            bad++;
        }
        refused += verdict == 1;
        foreign += verdict == 3;
        if (verdict == 0 && counted < nth)
            break;
    }
    printf("%ld runs, %ld refused, %ld foreign, %ld bad, %ld calls\n", runs, refused, foreign, bad,
           calls);
    return 0;
}
