/* Times a call into an embedding that does nothing but answer; benchmarks/cudla_calls.py builds it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

int empty_call(uint64_t *version);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    uint64_t version = 0;
    double samples[101], begin;
    struct rusage used;
    if (empty_call(&version) != 0 || version != 1) {
        return 1;
    }
    getrusage(RUSAGE_SELF, &used);
    printf("cpu_s %f\n", (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                             (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6);
    for (int s = 0; s < 101; s++) {
        begin = now();
        for (int i = 0; i < 2000; i++) {
            empty_call(&version);
        }
        samples[s] = (now() - begin) / 2000;
    }
    qsort(samples, 101, sizeof *samples, ascending);
    printf("empty_call_us %f\n", samples[50] * 1e6);
    return 0;
}
