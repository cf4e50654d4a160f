/* SDP in fp16 on a cube in memory, or on FP32 numbers of a convolution: the arithmetic of
 * nvdla/hw/units/sdp/reference, FP32 numbers in tiles.
 *
 * Source of the rules: nvdla/hw cmod/hls/sdp/sdp_x.cpp, sdp_y_core.cpp, sdp_c.cpp.
 */
#include <stdlib.h>
#include <string.h>

#include "native/cpu.h"
#include "native/half.h"
#include "native/half_lines.h"
#include "native/half_lut.h"
#include "native/int_sdp.h"
#include "native/parallel.h"
#include "native/sdp_map.h"

#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")

struct half_run {
    struct sim_sdp *sdp;
    const struct sim_cube *input;
    double *operands[3][2]; /* per channel, [stage][alu, mul]; NULL: one for each element */
    void (*tile)(const struct half_run *run, struct sim_tile *tile);
    int next;
};

/* --- moving ---------------------------------------------------------------------------------- */

INLINE double number(const uint8_t *at, int nan_to_zero)
{
    uint16_t pattern = (uint16_t)(at[0] | at[1] << 8);
    pattern = nan_to_zero && (pattern & 0x7fff) > 0x7c00 ? 0 : pattern;
    return half_value(pattern, FP32.largest);
}

INLINE double single_number(const uint8_t *at, int nan_to_zero)
{
    uint32_t pattern;
    memcpy(&pattern, at, sizeof pattern);
    double value = single_value(pattern);
    return choose(FLAG(nan_to_zero) & FLAG(value != value), 0.0, value);
}

INLINE void load_body(const struct half_run *run, const struct sim_cube *cube,
                        const struct sim_tile *tile, double *values)
{
    int width = run->sdp->width, zero = run->sdp->nan_to_zero;
    int y = tile->pixel / width, x = tile->pixel % width;
    for (int p = 0; p < tile->pixels; p++) {
        const uint8_t *at = cube->base + y * cube->line + x * cube->pixel;
        for (int done = 0; done < tile->channels;) {
            int channel = tile->channel + done, inside = channel % cube->atom;
            int count = cube->atom - inside;
            count = count < tile->channels - done ? count : tile->channels - done;
            double *to = values + p * tile->channels + done;
            const uint8_t *from =
                at + channel / cube->atom * cube->surface + inside * cube->element;
            if (channel >= cube->channels)
                memset(to, 0, sizeof *to * (size_t)count);
            else if (cube->item == 4)
                for (int i = 0; i < count; i++)
                    to[i] = single_number(from + 4 * i, zero);
            else if (cube->element == 2)
                for (int i = 0; i < count; i++)
                    to[i] = number(from + 2 * i, zero);
            else
                for (int i = 0; i < count; i++)
                    to[i] = number(from + i * cube->element, zero);
            done += count;
        }
        if (++x == width) {
            x = 0;
            y++;
        }
    }
}

LEVELS(void, load, (const struct half_run *run, const struct sim_cube *cube, const struct sim_tile *tile, double *values), (run, cube, tile, values))

/* Halves away from zero; a NaN is the least number. */
INLINE int16_t integer(uint16_t pattern)
{
    double value = half_value(pattern, 65504.0);
    value = choose(FLAG(value != value), -32768.0, value);
    value = __builtin_trunc(value + __builtin_copysign(0.5, value));
    value = value < -32768.0 ? -32768.0 : value > 32767.0 ? 32767.0 : value;
    return (int16_t)(int32_t)value;
}

/* The converter, and what is counted of its results. */
INLINE void convert(const struct half_run *run, struct sim_tile *tile, uint16_t *results)
{
    const struct sim_sdp *sdp = run->sdp;
    int total = tile->pixels * tile->channels;
    for (int i = 0; i < total; i++)
        results[i] = half_pattern(tile->values[i]);
    if (sdp->output_half) {
        if (sdp->count_saturation)
            for (int i = 0; i < total; i++)
                tile->saturated += (results[i] & 0x7fff) == 0x7bff;
        if (sdp->count_nan)
            for (int i = 0; i < total; i++)
                tile->nans += (results[i] & 0x7fff) > 0x7c00;
        return;
    }
    for (int i = 0; i < total; i++)
        results[i] = (uint16_t)integer(results[i]);
}

INLINE void store(const struct half_run *run, const struct sim_tile *tile, const uint16_t *results)
{
    const struct sim_cube *cube = &run->sdp->output;
    int width = run->sdp->width, y = tile->pixel / width, x = tile->pixel % width;
    for (int p = 0; p < tile->pixels; p++) {
        uint8_t *at = cube->base + y * cube->line + x * cube->pixel;
        for (int done = 0; done < tile->channels;) {
            int channel = tile->channel + done, inside = channel % cube->atom;
            int count = cube->atom - inside;
            count = count < tile->channels - done ? count : tile->channels - done;
            if (channel >= cube->channels)
                break;
            memcpy(at + channel / cube->atom * cube->surface + inside * 2,
                   results + p * tile->channels + done, 2 * (size_t)count);
            done += count;
        }
        if (++x == width) {
            x = 0;
            y++;
        }
    }
}

/* --- stages ---------------------------------------------------------------------------------- */

/* The operand of a tile: repeated every *period values. */
INLINE const double *operand_of(const struct half_run *run, int stage, int which,
                                struct sim_tile *tile, int *period)
{
    const struct sim_stage *s = &run->sdp->stages[stage];
    const struct sim_operand *operand = which ? &s->mul_operand : &s->alu_operand;
    if (operand->kind != SIM_ELEMENTS) {
        *period = tile->channels;
        return run->operands[stage][which] + tile->channel;
    }
    load(run, &operand->cube, tile, tile->operand);
    *period = tile->pixels * tile->channels;
    return tile->operand;
}

#define OVER(expression)                                     \
    for (int first = 0; first < total; first += period)      \
        for (int i = 0; i < period; i++) {                   \
            double v = values[first + i], o = operand[i];    \
            values[first + i] = (expression);                \
        }

INLINE void alu(const struct half_run *run, int stage, struct sim_tile *tile)
{
    int total = tile->pixels * tile->channels, period;
    double *restrict values = tile->values;
    const double *restrict operand = operand_of(run, stage, 0, tile, &period);
    switch (run->sdp->stages[stage].alu) {
    case SIM_ALU_MAX:
        OVER(half_larger(v, o))
        break;
    case SIM_ALU_MIN:
        OVER(half_smaller(v, o))
        break;
    default:
        OVER(half_add(v, o, FP32))
    }
}

INLINE void multiply(const struct half_run *run, int stage, struct sim_tile *tile)
{
    int total = tile->pixels * tile->channels, period;
    double *restrict values = tile->values;
    const double *restrict operand = operand_of(run, stage, 1, tile, &period);
    if (run->sdp->stages[stage].prelu)
        OVER(choose(FLAG(bits_of(v) >> 63), half_multiply(v, o, FP32), v))
    else
        OVER(half_multiply(v, o, FP32))
}

INLINE void all_stages(const struct half_run *run, struct sim_tile *tile, uint16_t *results)
{
    const struct sim_sdp *sdp = run->sdp;
    int total = tile->pixels * tile->channels;
    double *values = tile->values;
    for (int s = 0; s < sdp->stage_count; s++) {
        const struct sim_stage *stage = &sdp->stages[s];
        if (stage->y && stage->mul)
            multiply(run, s, tile);
        if (stage->alu != SIM_ALU_NONE)
            alu(run, s, tile);
        if (!stage->y && stage->mul)
            multiply(run, s, tile);
        if (stage->relu)
            for (int i = 0; i < total; i++)
                values[i] = choose(FLAG(bits_of(values[i]) >> 63) & FLAG(values[i] == values[i]),
                                   0.0, values[i]);
    }
    if (sdp->lut != NULL)
        sim_half_lut_apply(sdp->lut, values, total, &tile->looked_up);
    convert(run, tile, results);
}

INLINE void whole_tile(const struct half_run *run, struct sim_tile *tile)
{
    uint16_t results[SIM_TILE_PIXELS * SIM_TILE_CHANNELS];
    load(run, run->input, tile, tile->values);
    all_stages(run, tile, results);
    store(run, tile, results);
}

static uint16_t one_element(const void *argument, uint16_t pattern, struct sim_tile *tile)
{
    const struct half_run *run = argument;
    uint16_t result;
    tile->values[0] = number((const uint8_t *)&pattern, run->sdp->nan_to_zero);
    all_stages(run, tile, &result);
    return result;
}

#define TILE(name, attributes)                                                          \
    attributes static void name(const struct half_run *run, struct sim_tile *tile)      \
    {                                                                                   \
        whole_tile(run, tile);                                                          \
    }

TILE(tile_plain, )
#if defined(__x86_64__)
TILE(tile_512, WIDE_VECTORS)
TILE(tile_256, __attribute__((target("avx2"))))
#endif

/* --- the layer ------------------------------------------------------------------------------- */

static int channel_operand(const struct sim_sdp *sdp, const struct sim_operand *operand,
                           double **values)
{
    if (operand->kind == SIM_ELEMENTS)
        return 0;
    *values = malloc(sizeof(double) * (size_t)sdp->channels);
    if (*values == NULL)
        return -1;
    const struct sim_cube *cube = &operand->cube;
    for (int c = 0; c < sdp->channels; c++)
        (*values)[c] = operand->kind == SIM_NUMBER
                           ? operand->number
                           : number(cube->base + c * cube->element, sdp->nan_to_zero);
    return 0;
}

static void count_inputs(const struct half_run *run, int line, int64_t *nans, int64_t *infinities)
{
    const struct sim_cube *cube = run->input;
    for (int surface = 0; surface < cube->channels / cube->atom; surface++)
        for (int x = 0; x < run->sdp->width; x++) {
            const uint8_t *at =
                cube->base + surface * cube->surface + line * cube->line + x * cube->pixel;
            for (int c = 0; c < cube->atom; c++) {
                int size = (at[2 * c] | at[2 * c + 1] << 8) & 0x7fff;
                *nans += size > 0x7c00;
                *infinities += size == 0x7c00;
            }
        }
}

enum { PIXELS_OF_STEP = 256, CHANNELS_OF_STEP = 32 };

static void work(void *argument)
{
    struct half_run *run = argument;
    struct sim_sdp *sdp = run->sdp;
    struct sim_tile tile;
    int all = sdp->height * sdp->width;
    int steps = (all + PIXELS_OF_STEP - 1) / PIXELS_OF_STEP;
    int blocks = (sdp->channels + CHANNELS_OF_STEP - 1) / CHANNELS_OF_STEP;
    sim_tile_begin(&tile);
    for (;;) {
        int number_ = __atomic_fetch_add(&run->next, 1, __ATOMIC_RELAXED);
        if (number_ >= steps * blocks)
            break;
        int first = number_ / blocks * PIXELS_OF_STEP;
        int last = first + PIXELS_OF_STEP < all ? first + PIXELS_OF_STEP : all;
        tile.channel = number_ % blocks * CHANNELS_OF_STEP;
        tile.channels = sdp->channels - tile.channel;
        tile.channels = tile.channels < CHANNELS_OF_STEP ? tile.channels : CHANNELS_OF_STEP;
        for (tile.pixel = first; tile.pixel < last; tile.pixel += tile.pixels) {
            tile.pixels = last - tile.pixel < SIM_TILE_PIXELS ? last - tile.pixel : SIM_TILE_PIXELS;
            run->tile(run, &tile);
        }
    }
    __atomic_fetch_add(&sdp->saturated, tile.saturated, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sdp->nan_outputs, tile.nans, __ATOMIC_RELAXED);
    if (sdp->lut != NULL)
        sim_lut_add(sdp->lut, &tile.looked_up);
}

int sim_half_sdp(const struct sim_cube *input, struct sim_sdp *sdp)
{
    struct half_run run = {.sdp = sdp, .input = input, .tile = tile_plain};
    int failed = 0;
#if defined(__x86_64__)
    int cpu = sim_cpu();
    run.tile = cpu & SIM_CPU_AVX512 ? tile_512 : cpu & SIM_CPU_AVX2 ? tile_256 : tile_plain;
#endif
    sdp->clipped = sdp->saturated = 0;
    sdp->nan_inputs = sdp->infinite_inputs = sdp->nan_outputs = 0;
    if (sdp->lut != NULL)
        sim_half_lut_begin(sdp->lut);
    for (int s = 0; s < sdp->stage_count; s++) {
        const struct sim_stage *stage = &sdp->stages[s];
        if (stage->alu != SIM_ALU_NONE)
            failed |= channel_operand(sdp, &stage->alu_operand, &run.operands[s][0]);
        if (stage->mul)
            failed |= channel_operand(sdp, &stage->mul_operand, &run.operands[s][1]);
    }
    if (!failed && !sim_sdp_map(input, sdp, one_element, &run) &&
        !sim_half_lines(input, sdp, run.operands)) {
        if (sdp->count_nan_inputs) /* before any of them may be overwritten */
            for (int y = 0; y < sdp->height; y++)
                count_inputs(&run, y, &sdp->nan_inputs, &sdp->infinite_inputs);
        double steps = 2 + 2 * sdp->stage_count + (sdp->lut != NULL ? 10 : 0);
        double elements = (double)sdp->height * sdp->width * sdp->channels;
        sim_parallel(work, &run, sim_threads_for(elements * steps / 2));
    }
    for (int s = 0; s < 3; s++)
        for (int i = 0; i < 2; i++)
            free(run.operands[s][i]);
    return failed ? -1 : 0;
}
