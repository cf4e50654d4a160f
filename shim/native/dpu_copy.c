/*
 * Copies between host memory and the memories of many DPUs, whose addresses and offsets are checked
 * (dpu_span.h).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dpu.h"
#include "dpu_run/protocol.h"
#include "native/block_copy.h"
#include "native/dpu_native.h"
#include "native/dpu_span.h"
#include "native/dpu_turn.h"
#include "native/native.h"
#include "native/parallel.h"

static const size_t STRIDE = SLOT_END;

int sim_dpu_may_copy(uint64_t end, uint32_t unit, uint64_t offset, uint64_t size)
{
    return sim_dpu_keeps_to(end, unit, offset, size);
}

void sim_dpu_await_turn(uint32_t *words)
{
    /* After the store of the taken word: a copy that did not see it is seen here. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (unsigned look = 0; __atomic_load_n(&words[SIM_DPU_COPYING], __ATOMIC_SEQ_CST) != 0; look++) {
        struct timespec pause = {0, look < 100 ? 0 : 50000};
        nanosleep(&pause, NULL);
    }
}

static void mark(uint8_t *written, uint64_t offset, uint64_t size)
{
    uint64_t first = offset >> 3, last = (offset + size + 7) >> 3;
    for (; first < last && (first & 7) != 0; first++) {
        written[first >> 3] |= (uint8_t)(1u << (first & 7));
    }
    if (first < last) {
        memset(written + (first >> 3), 0xff, (last >> 3) - (first >> 3));
        for (first = last & ~7ull; first < last; first++) {
            written[first >> 3] |= (uint8_t)(1u << (first & 7));
        }
    }
}

/* Whether all of these bytes were written before: `mark` without something to do. */
static int marked(const uint8_t *written, uint64_t offset, uint64_t size)
{
    uint64_t first = offset >> 3, last = (offset + size + 7) >> 3;
    for (; first < last && (first & 7) != 0; first++) {
        if ((written[first >> 3] >> (first & 7) & 1) == 0) {
            return 0;
        }
    }
    for (; first < last && (last & 7) != 0; last--) {
        if ((written[(last - 1) >> 3] >> ((last - 1) & 7) & 1) == 0) {
            return 0;
        }
    }
    const uint8_t *whole = written + (first >> 3);
    size_t bytes = (last - first) >> 3;
    return bytes == 0 || (whole[0] == 0xff && memcmp(whole, whole + 1, bytes - 1) == 0);
}

/*
 * The first host range that is not memory, or -1. Buffers of one transfer mostly lie in one array:
 * then one question for all of them is enough. What lies between them must not be touched for
 * nothing: asking for pages that can be written makes them, asking for readable ones does not.
 */
static int64_t first_unmapped(const struct sim_dpu_place *place, const uint64_t *hosts,
                              size_t count)
{
    uint64_t low = UINT64_MAX, high = 0, used = 0;
    for (size_t i = 0; i < count; i++) {
        if (hosts[i] != 0) {
            low = hosts[i] < low ? hosts[i] : low;
            high = hosts[i] > high ? hosts[i] : high;
            used += place->size;
        }
    }
    if (used == 0) {
        return -1;
    }
    uint64_t room = place->to_dpu ? 64 * used + (1 << 20) : 2 * used + (1 << 14);
    if (high <= UINT64_MAX - place->size && high - low <= room &&
        sim_host_mapped((uintptr_t)low, high - low + place->size, !place->to_dpu)) {
        return -1;
    }
    uint64_t known = 0; /* a broadcast has the same address many times */
    for (size_t i = 0; i < count; i++) {
        if (hosts[i] != 0 && hosts[i] != known) {
            if (!sim_host_mapped((uintptr_t)hosts[i], place->size, !place->to_dpu)) {
                return (int64_t)i;
            }
            known = hosts[i];
        }
    }
    return -1;
}

struct transfer {
    const struct sim_dpu_place *place;
    const uint32_t *slots;
    const uint64_t *hosts;
    int file, stream; /* file: of the memories, see sim_dpu_write */
    size_t count, next; /* next: atomic, the first DPU that no thread has taken */
};

static void copy_one(const struct transfer *t, size_t i)
{
    const struct sim_dpu_place *place = t->place;
    uint8_t *slot = (uint8_t *)(uintptr_t)place->base + t->slots[i] * STRIDE;
    uint8_t *here = slot + place->offset, *host = (uint8_t *)(uintptr_t)t->hosts[i];
    if (host == NULL) {
        return;
    }
    if (place->to_dpu && place->offset < MRAM_SIZE) {
        /* What was written before has its pages: asking for each costs more than the copy. */
        if (marked(slot + SLOT_WRITTEN, place->offset, place->size)) {
            sim_copy_block(here, host, place->size, t->stream);
        } else {
            sim_dpu_write(t->file, place->base, slot, place->offset, host, place->size);
            mark(slot + SLOT_WRITTEN, place->offset, place->size);
        }
    } else if (place->to_dpu) {
        sim_copy_block(here, host, place->size, t->stream);
    } else {
        sim_copy_block(host, here, place->size, t->stream);
    }
}

static void copy_some(void *argument)
{
    struct transfer *t = argument;
    for (;;) {
        size_t i = __atomic_fetch_add(&t->next, 1, __ATOMIC_RELAXED);
        if (i >= t->count) {
            break;
        }
        copy_one(t, i);
    }
    sim_streamed();
}

/* Threads for so many bytes: waking one, 10 to 30 us, must cost less than it saves. */
enum { BYTES_PER_THREAD = 4 << 20, MAX_THREADS = 16 };

static size_t threads_for(uint64_t bytes, size_t count)
{
    cpu_set_t allowed;
    size_t threads = bytes / BYTES_PER_THREAD;
    if (threads < 2 || sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return 1;
    }
    size_t cores = (size_t)CPU_COUNT(&allowed);
    threads = threads < cores ? threads : cores;
    threads = threads < count ? threads : count;
    return threads < MAX_THREADS ? threads : MAX_THREADS;
}

/* Smaller pieces are copied. */
enum { LARGE = 64 << 10 };

int64_t sim_dpu_transfer(const struct sim_dpu_place *place, const uint32_t *slots,
                         const uint64_t *hosts, size_t count)
{
    int64_t wrong = first_unmapped(place, hosts, count);
    if (wrong < 0) {
        int file = place->to_dpu && place->size >= LARGE ? sim_dpu_file(place->base) : -1;
        int stream = count * place->size >= SIM_STREAM_FROM;
        struct transfer transfer = {place, slots, hosts, file, stream, count, 0};
        sim_parallel(copy_some, &transfer, threads_for(count * place->size, count));
    }
    return wrong;
}

/* The blocks of one DPU. */
struct blocks {
    struct sg_block_info *list;
    uint32_t count, room;
    uint64_t bytes;
};

/*
 * Which parts of host memory are known to be mapped: the mapping that the last block was in, where
 * the system tells, else one system call for each 64 KiB.
 */
enum { GRANULE_BITS = 16, GRANULES = 4096 };
struct known {
    uintptr_t low, high;
    uint64_t granule[GRANULES]; /* number + 1 */
    int write;
};

static int granule_mapped(struct known *known, uint64_t number, uintptr_t address, size_t size)
{
    uint64_t *entry = &known->granule[number % GRANULES];
    if (*entry == number + 1) {
        return 1;
    }
    if (sim_host_mapped((uintptr_t)number << GRANULE_BITS, (size_t)1 << GRANULE_BITS, known->write)) {
        *entry = number + 1;
        return 1;
    }
    /* A granule at the edge of a mapping: only the bytes that are asked for count. */
    uintptr_t begin = (uintptr_t)number << GRANULE_BITS, end = begin + ((uintptr_t)1 << GRANULE_BITS);
    uintptr_t low = address > begin ? address : begin;
    uintptr_t high = address + size < end ? address + size : end;
    return sim_host_mapped(low, high - low, known->write);
}

static int block_mapped(struct known *known, uintptr_t address, size_t size)
{
    if (address == 0 || size > UINTPTR_MAX - address) {
        return 0;
    }
    if (address >= known->low && address + size <= known->high) {
        return 1;
    }
    if (sim_host_mapping(address, known->write, &known->low, &known->high) &&
        address + size <= known->high) {
        return 1;
    }
    uint64_t last = (address + size - 1) >> GRANULE_BITS;
    for (uint64_t number = address >> GRANULE_BITS; number <= last; number++) {
        if (!granule_mapped(known, number, address, size)) {
            return 0;
        }
    }
    return 1;
}

static int append(struct blocks *blocks, const struct sg_block_info *block)
{
    if (blocks->count == blocks->room) {
        uint32_t room = blocks->room ? blocks->room * 2 : 16;
        struct sg_block_info *list = realloc(blocks->list, room * sizeof *list);
        if (list == NULL) {
            return -1;
        }
        blocks->list = list;
        blocks->room = room;
    }
    blocks->list[blocks->count++] = *block;
    blocks->bytes += block->length;
    return 0;
}

/* Asks for all blocks of one DPU; what is beyond place->size is cut off or an error. Blocks are asked
   for until the function answers false, and all of them count, empty ones too (sg_xfer_rank_handler
   of the SDK's library). */
static int collect(const struct sim_dpu_place *place, const struct sim_dpu_sg *sg, uint32_t dpu,
                   struct blocks *blocks, struct known *known, struct sim_dpu_sg_result *result)
{
    get_block_func_t function = (get_block_func_t)sg->function;
    result->dpu = dpu;
    for (;;) {
        struct sg_block_info block = {NULL, 0};
        result->block = blocks->count;
        if (!function(&block, dpu, blocks->count, sg->arguments)) {
            break;
        }
        if (blocks->count >= sg->max_blocks) {
            return SIM_SG_BLOCKS;
        }
        uint64_t left = blocks->bytes < place->size ? place->size - blocks->bytes : 0;
        if (block.length != 0 && left == 0 && sg->check_length) {
            result->found = blocks->bytes + block.length;
            return SIM_SG_LENGTH;
        }
        if (block.length > left && !sg->check_length) {
            block.length = (uint32_t)left;
        }
        if (block.length != 0 && !block_mapped(known, (uintptr_t)block.addr, block.length)) {
            result->found = (uint64_t)(uintptr_t)block.addr;
            return SIM_SG_ADDRESS;
        }
        if (append(blocks, &block) != 0) {
            return SIM_SG_MEMORY;
        }
    }
    if (sg->check_length && blocks->bytes != place->size) {
        result->found = blocks->bytes;
        return SIM_SG_LENGTH;
    }
    return SIM_SG_DONE;
}

/* Blocks of `count` DPUs, `step` of each in turn; a thread takes `each` DPUs at a time. */
struct turns {
    int to_dpu, stream;
    const struct blocks *all;
    uint8_t **cursors;
    size_t count;
    uint32_t most, step;
    size_t each, next; /* next: atomic, the first DPU that no thread has taken */
};

/* The blocks of one DPU that are its turn. */
static uint8_t *move_some(const struct turns *turns, const struct blocks *blocks, uint32_t first,
                          uint8_t *cursor)
{
    uint32_t last = first + turns->step;
    for (uint32_t number = first; number < last && number < blocks->count; number++) {
        const struct sg_block_info *block = &blocks->list[number];
        if (turns->to_dpu) {
            sim_copy_block(cursor, block->addr, block->length, turns->stream);
        } else {
            sim_copy_block(block->addr, cursor, block->length, turns->stream);
        }
        cursor += block->length;
    }
    return cursor;
}

static void move_turns(void *argument)
{
    struct turns *turns = argument;
    for (;;) {
        size_t begin = __atomic_fetch_add(&turns->next, turns->each, __ATOMIC_RELAXED);
        if (begin >= turns->count) {
            break;
        }
        size_t end = begin + turns->each < turns->count ? begin + turns->each : turns->count;
        for (uint32_t first = 0; first < turns->most; first += turns->step) {
            for (size_t i = begin; i < end; i++) {
                turns->cursors[i] = move_some(turns, &turns->all[i], first, turns->cursors[i]);
            }
        }
    }
    sim_streamed();
}

/* Whether a block begins where the one before it ended, or later. */
static int follows(const struct blocks *blocks, uint32_t number, uintptr_t *end)
{
    if (number >= blocks->count || blocks->list[number].length == 0) {
        return 1;
    }
    const struct sg_block_info *block = &blocks->list[number];
    if ((uintptr_t)block->addr < *end) {
        return 0;
    }
    *end = (uintptr_t)block->addr + block->length;
    return 1;
}

/* True when no two blocks share a byte: they ascend, counted across the DPUs or DPU by DPU. */
static int disjoint(const struct blocks *all, size_t count, uint32_t most)
{
    uintptr_t end = 0;
    int across = 1, along = 1;
    for (uint32_t number = 0; across && number < most; number++) {
        for (size_t i = 0; across && i < count; i++) {
            across = follows(&all[i], number, &end);
        }
    }
    end = 0;
    for (size_t i = 0; !across && along && i < count; i++) {
        for (uint32_t number = 0; along && number < all[i].count; number++) {
            along = follows(&all[i], number, &end);
        }
    }
    return across || along;
}

/* Looks for blocks that share bytes; 0 when there is no memory to look. */
static int overlap(const struct blocks *all, const uint32_t *indexes, size_t count, size_t blocks,
                   struct sim_dpu_sg_result *result)
{
    struct sim_extent *extents = malloc(blocks * sizeof *extents);
    size_t known = 0;
    for (size_t i = 0; extents != NULL && i < count; i++) {
        for (uint32_t number = 0; number < all[i].count; number++) {
            const struct sg_block_info *block = &all[i].list[number];
            uint64_t start = (uint64_t)(uintptr_t)block->addr;
            if (block->length != 0) {
                extents[known++] =
                    (struct sim_extent){start, start + block->length, indexes[i], number};
            }
        }
    }
    const struct sim_extent *other = NULL;
    const struct sim_extent *one = known != 0 ? sim_overlap(extents, known, &other) : NULL;
    if (one != NULL) {
        *result = (struct sim_dpu_sg_result){one->dpu, one->block, one->start, 1, other->dpu,
                                             other->block};
    }
    free(extents);
    return one != NULL;
}

/*
 * Block 0 of all DPUs, then block 1 of all: the order in which the ranks see them, and it decides what
 * a byte holds that several DPUs write. Where none does, a few blocks of each DPU in turn, which is
 * kinder to the caches.
 */
enum { BLOCKS_IN_TURN = 64 };
static int move(const struct sim_dpu_place *place, const uint32_t *slots, const uint32_t *indexes,
                struct blocks *all, uint8_t **cursors, size_t count, const struct sim_dpu_sg *sg,
                struct sim_dpu_sg_result *result)
{
    uint32_t most = 0;
    size_t blocks = 0;
    for (size_t i = 0; i < count; i++) {
        most = all[i].count > most ? all[i].count : most;
        blocks += all[i].count;
        uint8_t *slot = cursors[i] - place->offset;
        if (place->to_dpu && place->offset < MRAM_SIZE &&
            !marked(slot + SLOT_WRITTEN, place->offset, place->size)) {
            sim_dpu_large_pages(slot, place->offset, place->size);
        }
    }
    uint32_t step = place->to_dpu || disjoint(all, count, most) ? BLOCKS_IN_TURN : 1;
    if (step == 1 && blocks <= sg->most_compared && overlap(all, indexes, count, blocks, result) &&
        sg->overlap_fails) {
        return SIM_SG_OVERLAP;
    }
    int stream = count * place->size >= SIM_STREAM_FROM;
    struct turns turns = {place->to_dpu, stream, all, cursors, count, most, step, count, 0};
    /* Blocks that share bytes keep their order: they are one thread's. */
    size_t threads = step == 1 ? 1 : threads_for(count * place->size, count);
    turns.each = (count + threads - 1) / threads;
    sim_parallel(move_turns, &turns, threads);
    for (size_t i = 0; i < count && place->to_dpu; i++) {
        memset(cursors[i], 0, place->size - all[i].bytes);
        uint8_t *slot = (uint8_t *)(uintptr_t)place->base + slots[i] * STRIDE;
        mark(slot + SLOT_WRITTEN, place->offset, place->size);
    }
    return SIM_SG_DONE;
}

/*
 * The lists of the last transfer, for the next one: getting fresh memory for a million blocks takes as
 * long as moving them.
 */
enum { KEPT_BLOCKS = 2 << 20 };
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static struct blocks *kept;
static size_t kept_count;

static void drop(struct blocks *all, size_t count)
{
    for (size_t i = 0; all != NULL && i < count; i++) {
        free(all[i].list);
    }
    free(all);
}

static struct blocks *take_lists(size_t count)
{
    struct blocks *all = NULL;
    if (pthread_mutex_trylock(&kept_lock) == 0) { /* a forked child may find it locked for ever */
        if (kept_count == count) {
            all = kept;
            kept = NULL;
            kept_count = 0;
        }
        pthread_mutex_unlock(&kept_lock);
    }
    for (size_t i = 0; all != NULL && i < count; i++) {
        all[i].count = 0;
        all[i].bytes = 0;
    }
    return all != NULL ? all : calloc(count + 1, sizeof *all);
}

static void give_lists(struct blocks *all, size_t count)
{
    size_t room = 0;
    for (size_t i = 0; all != NULL && i < count; i++) {
        room += all[i].room;
    }
    if (room != 0 && room <= KEPT_BLOCKS && pthread_mutex_trylock(&kept_lock) == 0) {
        struct blocks *old = kept;
        size_t old_count = kept_count;
        kept = all;
        kept_count = count;
        pthread_mutex_unlock(&kept_lock);
        all = old;
        count = old_count;
    }
    drop(all, count);
}

static int scatter_gather(const struct sim_dpu_place *place, const uint32_t *slots,
                          const uint32_t *indexes, size_t count, const struct sim_dpu_sg *sg,
                          struct sim_dpu_sg_result *result)
{
    int status = SIM_SG_DONE;
    struct blocks *all = take_lists(count);
    uint8_t **cursors = malloc((count + 1) * sizeof *cursors);
    struct known *known = calloc(1, sizeof *known);
    if (all == NULL || cursors == NULL || known == NULL) {
        status = SIM_SG_MEMORY;
    }
    if (known != NULL) {
        known->write = !place->to_dpu;
    }
    for (size_t i = 0; i < count && status == SIM_SG_DONE; i++) {
        status = collect(place, sg, indexes[i], &all[i], known, result);
        cursors[i] = (uint8_t *)(uintptr_t)place->base + slots[i] * STRIDE + place->offset;
    }
    if (status == SIM_SG_DONE) {
        status = move(place, slots, indexes, all, cursors, count, sg, result);
    }
    give_lists(all, count);
    free(cursors);
    free(known);
    return status;
}

struct job {
    const struct sim_dpu_place *place;
    const uint32_t *slots, *indexes;
    size_t count;
    const struct sim_dpu_sg *sg;
    struct sim_dpu_sg_result *result;
    int status;
};

static void run(void *argument)
{
    struct job *job = argument;
    sim_dpu_set_token(job->sg->token);
    job->status = scatter_gather(job->place, job->slots, job->indexes, job->count, job->sg,
                                 job->result);
    sim_dpu_set_token(0);
}

int sim_dpu_scatter_gather(const struct sim_dpu_place *place, const uint32_t *slots,
                           const uint32_t *indexes, size_t count, const struct sim_dpu_sg *sg,
                           struct sim_dpu_sg_result *result)
{
    /* get_block belongs to the program: it must not run above a Python frame. */
    struct job job = {place, slots, indexes, count, sg, result, SIM_SG_MEMORY};
    return sim_run_callback((void *)run, &job) == SIM_CALLED ? job.status : SIM_SG_THREAD;
}
