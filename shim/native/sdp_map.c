/*
 * What SDP made of a number, and what it counted, is kept in the layer's map: its stages see each number
 * once. That costs the stages an element at a time, so numbers of 16 bits are kept from a layer's second
 * run on, and those of 8 bits from the first.
 */
#include "native/sdp_map.h"

#include <string.h>

#include "native/cpu.h"
#include "native/parallel.h"
#include "native/parts.h"

#pragma GCC optimize("O3")

/* An entry of the map: the result in 16 bits, what is counted of it, and that it is known. */
enum {
    LE, LO, UNDER, OVER, CLIPPED, SATURATED, NAN_OUT, NAN_IN, INFINITE_IN, COUNTED,
    FIRST = 16,
    FLAGS = ((1 << COUNTED) - 1) << FIRST,
};
#define KNOWN 0x80000000u

struct map_run {
    const struct sim_cube *input;
    struct sim_sdp *sdp;
    sim_one_element *one;
    const void *run;
    int surfaces, next;
};

static uint32_t learn(const struct map_run *m, uint16_t pattern)
{
    const struct sim_sdp *sdp = m->sdp;
    struct sim_tile tile;
    sim_tile_begin(&tile);
    tile.pixel = tile.channel = 0;
    tile.pixels = tile.channels = 1;
    uint32_t entry = m->one(m->run, pattern, &tile) | KNOWN;
    const int64_t counted[COUNTED] = {
        tile.looked_up.le, tile.looked_up.lo, tile.looked_up.under, tile.looked_up.over,
        tile.clipped, tile.saturated, tile.nans,
        sdp->count_nan_inputs && (pattern & 0x7fff) > 0x7c00,
        sdp->count_nan_inputs && (pattern & 0x7fff) == 0x7c00,
    };
    for (int i = 0; i < COUNTED; i++)
        entry |= (uint32_t)(counted[i] != 0) << (FIRST + i);
    __atomic_store_n(&sdp->map[pattern], entry, __ATOMIC_RELAXED); /* another thread learns the same */
    return entry;
}

INLINE uint32_t entry_of(const uint32_t *map, uint16_t pattern)
{
    return __atomic_load_n(&map[pattern], __ATOMIC_RELAXED);
}

INLINE void part(const struct map_run *m, const uint8_t *from, uint8_t *to, const int count, const int in,
                 const int out, int64_t *counts)
{
    const uint32_t *map = m->sdp->map;
    uint32_t entries[PART], all = ~0u, any = 0;
    uint16_t patterns[PART];
    if (in == 2)
        memcpy(patterns, from, 2 * (size_t)count);
    else
        for (int i = 0; i < count; i++)
            patterns[i] = from[i];
    for (int i = 0; i < count; i++)
        entries[i] = entry_of(map, patterns[i]);
    for (int i = 0; i < count; i++) {
        all &= entries[i];
        any |= entries[i];
    }
    if ((all & KNOWN) == 0) {
        all = ~0u;
        for (int i = 0; i < count; i++) {
            if ((entries[i] & KNOWN) == 0)
                entries[i] = learn(m, patterns[i]);
            all &= entries[i];
            any |= entries[i];
        }
    }
    if (out == 2) {
        uint16_t results[PART];
        for (int i = 0; i < count; i++)
            results[i] = (uint16_t)entries[i];
        memcpy(to, results, 2 * (size_t)count);
    } else {
        for (int i = 0; i < count; i++)
            to[i] = (uint8_t)entries[i];
    }
    for (int f = 0; f < COUNTED; f++) {
        const uint32_t bit = 1u << (FIRST + f);
        if (all & bit) {
            counts[f] += count;
        } else if (any & bit) {
            int32_t some = 0;
            for (int i = 0; i < count; i++)
                some += (int32_t)(entries[i] >> (FIRST + f) & 1);
            counts[f] += some;
        }
    }
}

INLINE void line_of(const struct map_run *m, const uint8_t *from, uint8_t *to, int count, const int in,
                    const int out, int64_t *counts)
{
    int done = 0;
    for (; done + PART <= count; done += PART)
        part(m, from + done * in, to + done * out, PART, in, out, counts);
    if (done < count)
        part(m, from + done * in, to + done * out, count - done, in, out, counts);
}

INLINE void line_body(const struct map_run *m, const uint8_t *from, uint8_t *to, int count, int64_t *counts)
{
    const int in = m->input->item, out = m->sdp->output.item;
    if (in == 2 && out == 2)
        line_of(m, from, to, count, 2, 2, counts);
    else if (in == 2)
        line_of(m, from, to, count, 2, 1, counts);
    else if (out == 2)
        line_of(m, from, to, count, 1, 2, counts);
    else
        line_of(m, from, to, count, 1, 1, counts);
}

LEVELS(void, line,
       (const struct map_run *m, const uint8_t *from, uint8_t *to, int count, int64_t *counts),
       (m, from, to, count, counts))

static void some_lines(void *argument)
{
    struct map_run *m = argument;
    struct sim_sdp *sdp = m->sdp;
    const struct sim_cube *input = m->input, *output = &sdp->output;
    int64_t counts[COUNTED] = {0}, elements = 0;
    for (;;) {
        int number = __atomic_fetch_add(&m->next, 1, __ATOMIC_RELAXED);
        if (number >= m->surfaces * sdp->height)
            break;
        int surface = number / sdp->height, y = number % sdp->height;
        line(m, input->base + surface * input->surface + y * input->line,
             output->base + surface * output->surface + y * output->line, sdp->width * input->atom,
             counts);
        elements += sdp->width * input->atom;
    }
    const struct sim_lut_counts looked_up = {counts[LE], counts[LO], counts[UNDER], counts[OVER], elements};
    sim_lut_add(sdp->lut, &looked_up);
    __atomic_fetch_add(&sdp->clipped, counts[CLIPPED], __ATOMIC_RELAXED);
    __atomic_fetch_add(&sdp->saturated, counts[SATURATED], __ATOMIC_RELAXED);
    __atomic_fetch_add(&sdp->nan_outputs, counts[NAN_OUT], __ATOMIC_RELAXED);
    __atomic_fetch_add(&sdp->nan_inputs, counts[NAN_IN], __ATOMIC_RELAXED);
    __atomic_fetch_add(&sdp->infinite_inputs, counts[INFINITE_IN], __ATOMIC_RELAXED);
}

static int is_dense(const struct sim_cube *cube, int channels)
{
    return (cube->item == 1 || cube->item == 2) && cube->element == cube->item &&
           cube->pixel == (int64_t)cube->item * cube->atom && cube->channels >= channels &&
           channels % cube->atom == 0;
}

static int is_map(const struct sim_cube *input, const struct sim_sdp *sdp)
{
    for (int s = 0; s < sdp->stage_count; s++) {
        const struct sim_stage *stage = &sdp->stages[s];
        if ((stage->alu != SIM_ALU_NONE && stage->alu_operand.kind != SIM_NUMBER) ||
            (stage->mul && stage->mul_operand.kind != SIM_NUMBER))
            return 0;
    }
    return sdp->map != NULL && sdp->lut != NULL && input->atom == sdp->output.atom &&
           is_dense(input, sdp->channels) && is_dense(&sdp->output, sdp->channels);
}

int sim_sdp_map(const struct sim_cube *input, struct sim_sdp *sdp, sim_one_element *one, const void *run)
{
    struct map_run m = {input, sdp, one, run, 0, 0};
    if (!is_map(input, sdp) || (input->item == 2 && sdp->map_uses++ == 0))
        return 0;
    m.surfaces = sdp->channels / input->atom;
    double elements = (double)sdp->channels * sdp->height * sdp->width;
    sim_parallel(some_lines, &m, sim_threads_for(elements / 2));
    return 1;
}
