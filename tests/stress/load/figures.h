/* What a process holds: resident KiB, of its children too, open descriptors, processes below it. */
#ifndef LOAD_FIGURES_H
#define LOAD_FIGURES_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CHECK(call)                                                         \
    do {                                                                    \
        int status_ = (int)(call);                                          \
        if (status_ != 0) {                                                 \
            fprintf(stderr, "%s answered %#x\n", #call, (unsigned)status_); \
            exit(1);                                                        \
        }                                                                   \
    } while (0)

static inline double load_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Private memory: pages that are shared with devices belong to them. */
static inline long load_resident(void)
{
    long size = 0, all = 0, shared = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld %ld", &size, &all, &shared) != 3)
        return 0;
    fclose(file);
    return (all - shared) * 4;
}

static inline long load_descriptors(void)
{
    long count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder != NULL && readdir(folder) != NULL)
        count++;
    if (folder != NULL)
        closedir(folder);
    return count;
}

/* "early" after a tenth, "end": resident KiB, descriptors, seconds since the start. */
static inline void load_figures(const char *when, double begin)
{
    printf("%s %ld %ld %.1f\n", when, load_resident(), load_descriptors(), load_now() - begin);
    fflush(stdout);
}

#endif
