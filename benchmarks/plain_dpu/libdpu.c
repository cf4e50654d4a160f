/*
 * The least that a libdpu can do: it copies the same bytes into fresh shared memory and runs the
 * programs as plain C threads (runtime.c), without any check. What PrIM's hosts call, no more.
 */
#define _GNU_SOURCE
#include <dpu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "slots.h"

#define MOST_DPUS 2560
#define MOST_SYMBOLS 512

static uint32_t dpus;
static int file, work[2], done[2];
static long cores;
static char *memory;
static void *buffers[MOST_DPUS];
static struct dpu_rank_t *ranks[1];
static struct {
    char name[64];
    unsigned long address;
} symbols[MOST_SYMBOLS];
static int known;
static unsigned long first; /* of the variables */

static struct dpu_set_t one(uint32_t index)
{
    return (struct dpu_set_t){.kind = DPU_SET_DPU, .dpu = (struct dpu_t *)(uintptr_t)(index + 1)};
}

static uint32_t index_of(struct dpu_set_t set)
{
    return (uint32_t)(uintptr_t)set.dpu - 1;
}

dpu_error_t dpu_alloc(uint32_t number, const char *profile, struct dpu_set_t *set)
{
    (void)profile;
    size_t size = SLOTS + number * SLOT_STRIDE;
    dpus = number;
    cores = sysconf(_SC_NPROCESSORS_ONLN);
    file = memfd_create("plain", 0);
    if (number > MOST_DPUS || ftruncate(file, (off_t)size) != 0)
        return DPU_ERR_ALLOCATION;
    memory = mmap(NULL, size, 3, MAP_SHARED | MAP_NORESERVE, file, 0);
    *set = (struct dpu_set_t){.kind = DPU_SET_RANKS, .list = {1, ranks}};
    return memory == MAP_FAILED ? DPU_ERR_ALLOCATION : DPU_OK;
}

dpu_error_t dpu_free(struct dpu_set_t set)
{
    (void)set;
    close(work[1]);
    munmap(memory, SLOTS + dpus * SLOT_STRIDE);
    close(file);
    return DPU_OK;
}

static void read_symbols(const char *path)
{
    char line[300], name[200], kind;
    unsigned long address;
    snprintf(line, sizeof line, "%s.plain.symbols", path);
    FILE *list = fopen(line, "r");
    while (list != NULL && fgets(line, sizeof line, list) != NULL)
        if (sscanf(line, "%lx %c %199s", &address, &kind, name) == 3) {
            if (strcmp(name, "__start_wram_host") == 0)
                first = address;
            else if (known < MOST_SYMBOLS && strchr("dDbB", kind) != NULL) {
                snprintf(symbols[known].name, sizeof symbols[known].name, "%s", name);
                symbols[known++].address = address;
            }
        }
    if (list != NULL)
        fclose(list);
}

dpu_error_t dpu_load(struct dpu_set_t set, const char *path, struct dpu_program_t **program)
{
    char binary[300], numbers[3][16];
    (void)set, (void)program;
    read_symbols(path);
    snprintf(binary, sizeof binary, "%s.plain", path);
    if (pipe(work) != 0 || pipe(done) != 0)
        return DPU_ERR_SYSTEM;
    snprintf(numbers[0], 16, "%d", file);
    snprintf(numbers[1], 16, "%d", work[0]);
    snprintf(numbers[2], 16, "%d", done[1]);
    for (long i = 0; i < cores; i++)
        if (fork() == 0) {
            close(work[1]);
            execl(binary, binary, numbers[0], numbers[1], numbers[2], (char *)NULL);
            _exit(1);
        }
    close(done[1]);
    return DPU_OK;
}

dpu_error_t dpu_launch(struct dpu_set_t set, dpu_launch_policy_t policy)
{
    struct launch *launch = (struct launch *)(void *)memory;
    int word = 1;
    (void)set, (void)policy;
    launch->next = 0;
    launch->slots = (int)dpus;
    for (long i = 0; i < cores; i++)
        if (write(work[1], &word, sizeof word) != sizeof word)
            return DPU_ERR_SYSTEM;
    for (long i = 0; i < cores; i++)
        if (read(done[0], &word, sizeof word) != sizeof word)
            return DPU_ERR_DPU_FAULT;
    return DPU_OK;
}

dpu_error_t dpu_get_nr_dpus(struct dpu_set_t set, uint32_t *number)
{
    (void)set;
    *number = dpus;
    return DPU_OK;
}

struct dpu_set_dpu_iterator_t dpu_set_dpu_iterator_from(struct dpu_set_t *set)
{
    (void)set;
    return (struct dpu_set_dpu_iterator_t){.has_next = true, .next = one(0)};
}

void dpu_set_dpu_iterator_next(struct dpu_set_dpu_iterator_t *iterator)
{
    iterator->has_next = ++iterator->count < dpus;
    iterator->next = one(iterator->count);
}

static char *place(uint32_t dpu, const char *name)
{
    char *slot = memory + SLOTS + dpu * SLOT_STRIDE;
    if (strcmp(name, DPU_MRAM_HEAP_POINTER_NAME) == 0)
        return slot;
    for (int i = 0; i < known; i++)
        if (strcmp(symbols[i].name, name) == 0)
            return slot + SLOT_MRAM + (symbols[i].address - first);
    fprintf(stderr, "plain libdpu: no symbol %s\n", name);
    exit(1);
}

dpu_error_t dpu_prepare_xfer(struct dpu_set_t set, void *buffer)
{
    if (set.kind == DPU_SET_DPU)
        buffers[index_of(set)] = buffer;
    for (uint32_t i = 0; i < dpus && set.kind == DPU_SET_RANKS; i++)
        buffers[i] = buffer;
    return DPU_OK;
}

dpu_error_t dpu_push_xfer(struct dpu_set_t set, dpu_xfer_t direction, const char *name,
                          uint32_t offset, size_t length, dpu_xfer_flags_t flags)
{
    (void)set, (void)flags;
    for (uint32_t i = 0; i < dpus; i++) {
        if (buffers[i] == NULL)
            continue;
        char *there = place(i, name) + offset;
        if (direction == DPU_XFER_TO_DPU)
            memcpy(there, buffers[i], length);
        else
            memcpy(buffers[i], there, length);
        buffers[i] = NULL;
    }
    return DPU_OK;
}

dpu_error_t dpu_copy_to(struct dpu_set_t set, const char *name, uint32_t offset, const void *from,
                        size_t length)
{
    for (uint32_t i = 0; i < dpus; i++)
        if (set.kind == DPU_SET_RANKS || i == index_of(set))
            memcpy(place(i, name) + offset, from, length);
    return DPU_OK;
}

dpu_error_t dpu_copy_from(struct dpu_set_t set, const char *name, uint32_t offset, void *to,
                          size_t length)
{
    memcpy(to, place(index_of(set), name) + offset, length);
    return DPU_OK;
}

dpu_error_t dpu_log_read(struct dpu_set_t set, FILE *stream)
{
    (void)set, (void)stream;
    return DPU_OK;
}

char *dpu_error_to_string(dpu_error_t status)
{
    (void)status;
    return strdup("an error of the plain libdpu");
}
