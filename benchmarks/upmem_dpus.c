/* Transfers, launches and memory of simulated DPUs: prints "name value" lines.
   usage: upmem_dpus dpu-program */
#define _GNU_SOURCE
#include <dirent.h>
#include <dpu.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 7, DPUS = 64, BYTES = 1 << 20 }; /* BYTES for each DPU: 64 MiB in all */

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times)
{
    qsort(times, RUNS, sizeof *times, compare);
    return times[RUNS / 2];
}

/* The median of what STATEMENT takes, after one run that does not count. */
#define SECONDS(result, STATEMENT)                                                                 \
    do {                                                                                           \
        double times_[RUNS];                                                                       \
        for (int run_ = -1; run_ < RUNS; run_++) {                                                 \
            const double begin_ = now_s();                                                         \
            STATEMENT;                                                                             \
            if (run_ >= 0)                                                                         \
                times_[run_] = now_s() - begin_;                                                   \
        }                                                                                          \
        (result) = median(times_);                                                                 \
    } while (0)

static uint8_t *reference_from, *reference_to;

/* Prints the median speed of STATEMENT against REFERENCE, which moves as many bytes, right before. */
#define AGAINST(name, REFERENCE, STATEMENT)                                                        \
    do {                                                                                           \
        double ratios_[RUNS], copies_[RUNS];                                                       \
        for (int run_ = -1; run_ < RUNS; run_++) {                                                 \
            const double begin_ = now_s();                                                         \
            REFERENCE;                                                                             \
            const double middle_ = now_s();                                                        \
            STATEMENT;                                                                             \
            if (run_ >= 0) {                                                                       \
                copies_[run_] = middle_ - begin_;                                                  \
                ratios_[run_] = copies_[run_] / (now_s() - middle_);                               \
            }                                                                                      \
        }                                                                                          \
        printf("%s %g\n", name, median(ratios_));                                                  \
        memcpy_mb_s = (double)DPUS * BYTES / median(copies_) / 1e6;                                \
    } while (0)

#define AGAINST_MEMCPY(name, STATEMENT)                                                            \
    AGAINST(name, memcpy(reference_to, reference_from, (size_t)DPUS *BYTES), STATEMENT)

struct blocks {
    uint8_t *memory;
    uint32_t size;
};

/* The blocks of all DPUs alternate in host memory. */
static bool get_block(struct sg_block_info *out, uint32_t dpu, uint32_t block, void *args)
{
    const struct blocks *blocks = args;
    if (block >= BYTES / blocks->size)
        return false;
    out->addr = blocks->memory + ((size_t)block * DPUS + dpu) * blocks->size;
    out->length = blocks->size;
    return true;
}

static void push(struct dpu_set_t set, uint8_t *memory, dpu_xfer_t direction, size_t bytes)
{
    struct dpu_set_t dpu;
    uint32_t index;
    DPU_FOREACH(set, dpu, index) {
        DPU_ASSERT(dpu_prepare_xfer(dpu, memory + (size_t)index * bytes));
    }
    DPU_ASSERT(dpu_push_xfer(set, direction, DPU_MRAM_HEAP_POINTER_NAME, 0, bytes,
                             DPU_XFER_DEFAULT));
}

/* The same blocks one by one, as a program without scatter/gather would collect them. */
static void copy_blocks(uint8_t *to, const uint8_t *from, uint32_t size)
{
    for (size_t block = 0; block < BYTES / size; block++)
        for (size_t dpu = 0; dpu < DPUS; dpu++)
            memcpy(to + dpu * BYTES + block * size, from + (block * DPUS + dpu) * size, size);
}

static void push_blocks(struct dpu_set_t set, uint8_t *memory, uint32_t size, dpu_xfer_t direction)
{
    struct blocks blocks = { memory, size };
    get_block_t get = { get_block, &blocks, sizeof blocks };
    DPU_ASSERT(dpu_push_sg_xfer(set, direction, DPU_MRAM_HEAP_POINTER_NAME, 0, BYTES, &get,
                                DPU_SG_XFER_DEFAULT));
}

static void expect_equal(const uint8_t *sent, const uint8_t *received, size_t size)
{
    if (memcmp(sent, received, size) != 0) {
        fprintf(stderr, "what came back differs\n");
        exit(1);
    }
}

static void transfers(const char *program)
{
    const size_t all = (size_t)DPUS * BYTES;
    uint8_t *from = malloc(all), *to = malloc(all);
    struct dpu_set_t set;
    double memcpy_mb_s = 0;
    char name[32];

    reference_from = malloc(all);
    reference_to = malloc(all);
    memset(reference_from, 3, all);
    memset(reference_to, 4, all);
    for (size_t i = 0; i < all; i++)
        from[i] = (uint8_t)(i * 2654435761u >> 13);
    memset(to, 2, all);
    DPU_ASSERT(dpu_alloc(DPUS, "sgXferEnable=true,sgXferMaxBlocksPerDpu=16384", &set));
    DPU_ASSERT(dpu_load(set, program, NULL));
    AGAINST_MEMCPY("push_to", push(set, from, DPU_XFER_TO_DPU, BYTES));
    AGAINST_MEMCPY("push_from", push(set, to, DPU_XFER_FROM_DPU, BYTES));
    printf("memcpy_mb_s %g\n", memcpy_mb_s);
    expect_equal(from, to, all);
    for (uint32_t size = 4096; size >= 64; size /= 64) {
        memset(to, 2, all);
        snprintf(name, sizeof name, "sg_to_%u", size);
        AGAINST(name, copy_blocks(reference_to, reference_from, size),
                push_blocks(set, from, size, DPU_XFER_TO_DPU));
        snprintf(name, sizeof name, "sg_from_%u", size);
        AGAINST(name, copy_blocks(reference_to, reference_from, size),
                push_blocks(set, to, size, DPU_XFER_FROM_DPU));
        expect_equal(from, to, all);
    }
    DPU_ASSERT(dpu_free(set));
    free(from);
    free(to);
    free(reference_from);
    free(reference_to);
}

/* Microseconds of one push to `count` DPUs, `bytes` each. */
static void small(const char *program, uint32_t count, size_t bytes)
{
    enum { REPEATED = 100 };
    uint8_t *memory = malloc(count * bytes);
    struct dpu_set_t set;
    double seconds;

    memset(memory, 1, count * bytes);
    DPU_ASSERT(dpu_alloc(count, NULL, &set));
    DPU_ASSERT(dpu_load(set, program, NULL));
    SECONDS(seconds, for (int i = 0; i < REPEATED; i++) push(set, memory, DPU_XFER_TO_DPU, bytes));
    printf("push_%zu_%u_us %g\n", bytes, count, seconds / REPEATED * 1e6);
    DPU_ASSERT(dpu_free(set));
    free(memory);
}

/*
 * The first bytes of MRAM: a push into DPUs that hold nothing yet against memset of fresh memory. Each
 * run has DPUs and memory of its own, so that nothing was touched before.
 */
static void fresh(const char *program)
{
    const size_t each = 8 << 20, all = 16 * each;
    uint8_t *memory = malloc(all);
    double ratios[RUNS];

    memset(memory, 1, all);
    for (int run = 0; run < RUNS; run++) {
        struct dpu_set_t set;
        DPU_ASSERT(dpu_alloc(16, NULL, &set));
        DPU_ASSERT(dpu_load(set, program, NULL));
        uint8_t *new = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        const double begin = now_s();
        memset(new, 2, all);
        const double middle = now_s();
        push(set, memory, DPU_XFER_TO_DPU, each);
        ratios[run] = (middle - begin) / (now_s() - middle);
        munmap(new, all);
        DPU_ASSERT(dpu_free(set));
    }
    printf("fresh %g\n", median(ratios));
    free(memory);
}

static void launches(const char *program, uint32_t count)
{
    struct dpu_set_t set;
    double seconds;

    DPU_ASSERT(dpu_alloc(count, NULL, &set));
    DPU_ASSERT(dpu_load(set, program, NULL));
    SECONDS(seconds, DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS)));
    printf("launch_%u_us %g\n", count, seconds / count * 1e6);
    DPU_ASSERT(dpu_free(set));
}

static double status_kib(const char *process, const char *field)
{
    char path[64], line[256];
    double found = 0;
    snprintf(path, sizeof path, "/proc/%s/status", process);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, field, strlen(field)) == 0)
            found = atof(line + strlen(field));
    fclose(file);
    return found;
}

/* MiB of this process and its workers: their own pages, and the pages of the DPUs' memory once. */
static double resident_mib(void)
{
    double kib = 0;
    char self[16], path[300];
    struct dirent *entry;
    struct stat state;

    snprintf(self, sizeof self, "%d", getpid());
    DIR *processes = opendir("/proc");
    while ((entry = readdir(processes)) != NULL)
        if (strcmp(entry->d_name, self) == 0
            || (entry->d_name[0] >= '1' && entry->d_name[0] <= '9'
                && status_kib(entry->d_name, "PPid:") == getpid()))
            kib += status_kib(entry->d_name, "RssAnon:") + status_kib(entry->d_name, "RssFile:");
    closedir(processes);
    DIR *files = opendir("/proc/self/fd");
    while ((entry = readdir(files)) != NULL) {
        char target[64] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
        if (readlink(path, target, sizeof target - 1) > 0 && strncmp(target, "/memfd:", 7) == 0
            && stat(path, &state) == 0)
            kib += (double)state.st_blocks / 2;
    }
    closedir(files);
    return kib / 1024;
}

int main(int argc, char **argv)
{
    struct dpu_set_t set;

    if (argc != 2) {
        fprintf(stderr, "usage: %s dpu-program\n", argv[0]);
        return 2;
    }
    DPU_ASSERT(dpu_alloc(2048, NULL, &set)); /* first: nothing has touched MRAM yet */
    DPU_ASSERT(dpu_load(set, argv[1], NULL));
    printf("resident_2048_mib %g\n", resident_mib());
    DPU_ASSERT(dpu_free(set));
    transfers(argv[1]);
    small(argv[1], 64, 64);
    small(argv[1], 512, 64);
    small(argv[1], 64, 64 << 10);
    fresh(argv[1]);
    launches(argv[1], 64);
    launches(argv[1], 512);
    launches(argv[1], 2048);
    return 0;
}
