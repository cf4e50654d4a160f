/* The integer stages of SDP on tiles: the arithmetic of nvdla/hw/units/sdp/reference,
 * number by number. Operands have at most 33 bits and factors 16, so double holds every product.
 *
 * Source of the rules: nvdla/hw cmod/hls/sdp/sdp_x.cpp, sdp_y_core.cpp, sdp_y_cvt.cpp, sdp_c.cpp.
 */
#include "native/cpu.h"
#include "native/int_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "native/parallel.h"
#include "native/sdp_map.h"

#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")

static const double MIN32 = -2147483648.0, MAX32 = 2147483647.0;

INLINE double clip(double value, double low, double high)
{
    value = value < low ? low : value;
    return value > high ? high : value;
}

INLINE double rounded(double value)
{
    return __builtin_trunc(value + __builtin_copysign(0.5, value));
}

INLINE double power(int shift)
{
    return ldexp(1.0, -shift);
}

/* --- operands -------------------------------------------------------------------------------- */

INLINE void convert_body(const struct sim_operand *operand, double *values, int count)
{
    if (operand->convert) {
        double offset = operand->offset, scale = operand->scale, by = power(operand->truncate);
        if (operand->truncate)
            for (int i = 0; i < count; i++)
                values[i] = clip(rounded((values[i] - offset) * scale * by), MIN32, MAX32);
        else
            for (int i = 0; i < count; i++)
                values[i] = clip((values[i] - offset) * scale, MIN32, MAX32);
    }
    if (operand->shift) {
        double by = ldexp(1.0, operand->shift);
        for (int i = 0; i < count; i++)
            values[i] = clip(values[i] * by, MIN32, MAX32);
    }
}

LEVELS(void, convert, (const struct sim_operand *operand, double *values, int count), (operand, values, count))

static double element(const uint8_t *at, int item)
{
    int16_t value;
    if (item == 1)
        return (int8_t)*at;
    memcpy(&value, at, sizeof value);
    return value;
}

static int is_usual(const struct sim_sdp *sdp);
static sim_usual *usual_of_machine(void);

static int channel_operand(const struct sim_sdp *sdp, const struct sim_operand *operand,
                           double **values)
{
    *values = NULL;
    if (operand->kind == SIM_ELEMENTS)
        return 0;
    *values = malloc(sizeof(double) * (size_t)sdp->channels);
    if (*values == NULL)
        return -1;
    const struct sim_cube *cube = &operand->cube;
    for (int c = 0; c < sdp->channels; c++)
        (*values)[c] = operand->kind == SIM_NUMBER
                           ? operand->number
                           : element(cube->base + c * cube->element, cube->item);
    convert(operand, *values, sdp->channels);
    return 0;
}

int sim_sdp_begin(struct sim_sdp_run *run, struct sim_sdp *sdp)
{
    int failed = 0;
    *run = (struct sim_sdp_run){sdp, {{NULL}}, is_usual(sdp) ? usual_of_machine() : NULL};
    sdp->clipped = sdp->saturated = 0;
    if (sdp->lut != NULL)
        sim_lut_begin(sdp->lut);
    for (int s = 0; s < sdp->stage_count; s++) {
        const struct sim_stage *stage = &sdp->stages[s];
        if (stage->alu != SIM_ALU_NONE)
            failed |= channel_operand(sdp, &stage->alu_operand, &run->operands[s][0]);
        if (stage->mul)
            failed |= channel_operand(sdp, &stage->mul_operand, &run->operands[s][1]);
    }
    if (failed)
        sim_sdp_end(run);
    return failed;
}

void sim_sdp_end(struct sim_sdp_run *run)
{
    for (int s = 0; s < 3; s++)
        for (int i = 0; i < 2; i++) {
            free(run->operands[s][i]);
            run->operands[s][i] = NULL;
        }
}

/* --- moving ---------------------------------------------------------------------------------- */

INLINE void load_part(const uint8_t *from, int item, int64_t step, double *to, int count)
{
    if (item == 1 && step == 1)
        for (int i = 0; i < count; i++)
            to[i] = (int8_t)from[i];
    else if (item == 2 && step == 2)
        for (int i = 0; i < count; i++)
            to[i] = (int16_t)(from[2 * i] | from[2 * i + 1] << 8);
    else
        for (int i = 0; i < count; i++)
            to[i] = element(from + i * step, item);
}

INLINE void sim_tile_load_level_body(const struct sim_cube *cube, int width, const struct sim_tile *tile,
                          double *values)
{
    int y = tile->pixel / width, x = tile->pixel % width;
    for (int p = 0; p < tile->pixels; p++) {
        const uint8_t *at = cube->base + y * cube->line + x * cube->pixel;
        for (int done = 0; done < tile->channels;) {
            int channel = tile->channel + done, inside = channel % cube->atom;
            int count = cube->atom - inside;
            count = count < tile->channels - done ? count : tile->channels - done;
            if (channel >= cube->channels) {
                memset(values + p * tile->channels + done, 0, sizeof *values * (size_t)count);
                done += count;
                continue;
            }
            load_part(at + channel / cube->atom * cube->surface + inside * cube->element,
                      cube->item, cube->element, values + p * tile->channels + done, count);
            done += count;
        }
        if (++x == width) {
            x = 0;
            y++;
        }
    }
}

LEVELS(void, sim_tile_load_level, (const struct sim_cube *cube, int width, const struct sim_tile *tile, double *values), (cube, width, tile, values))

void sim_tile_load(const struct sim_cube *cube, int width, const struct sim_tile *tile,
                          double *values)
{
    sim_tile_load_level(cube, width, tile, values);
}

INLINE void store_body(const struct sim_cube *cube, int width, const struct sim_tile *tile)
{
    int y = tile->pixel / width, x = tile->pixel % width;
    for (int p = 0; p < tile->pixels; p++) {
        uint8_t *at = cube->base + y * cube->line + x * cube->pixel;
        for (int done = 0; done < tile->channels;) {
            int channel = tile->channel + done, inside = channel % cube->atom;
            int count = cube->atom - inside;
            count = count < tile->channels - done ? count : tile->channels - done;
            if (channel >= cube->channels)
                break;
            const double *values = tile->values + p * tile->channels + done;
            uint8_t *to = at + channel / cube->atom * cube->surface + inside * cube->element;
            if (cube->item == 1) {
                for (int i = 0; i < count; i++)
                    to[i] = (uint8_t)(int32_t)values[i];
            } else {
                for (int i = 0; i < count; i++) {
                    int32_t value = (int32_t)values[i];
                    to[2 * i] = (uint8_t)value;
                    to[2 * i + 1] = (uint8_t)(value >> 8);
                }
            }
            done += count;
        }
        if (++x == width) {
            x = 0;
            y++;
        }
    }
}

LEVELS(void, store, (const struct sim_cube *cube, int width, const struct sim_tile *tile), (cube, width, tile))

/* --- stages ---------------------------------------------------------------------------------- */

/* The operand of a tile: repeated every *period values. */
INLINE const double *operand_of(const struct sim_sdp_run *run, int stage, int which,
                                struct sim_tile *tile, int *period)
{
    const struct sim_stage *s = &run->sdp->stages[stage];
    const struct sim_operand *operand = which ? &s->mul_operand : &s->alu_operand;
    int total = tile->pixels * tile->channels;
    if (operand->kind != SIM_ELEMENTS) {
        *period = tile->channels;
        return run->operands[stage][which] + tile->channel;
    }
    sim_tile_load(&operand->cube, run->sdp->width, tile, tile->operand);
    convert(operand, tile->operand, total);
    *period = total;
    return tile->operand;
}

/* for all values: v is the value, o the operand (1 where there is none) */
#define OVER(expression)                                            \
    do {                                                            \
        if (operand == NULL) {                                      \
            const double o = 1.0;                                   \
            (void)o;                                                \
            for (int i = 0; i < total; i++) {                       \
                double v = values[i];                               \
                values[i] = (expression);                           \
            }                                                       \
        } else {                                                    \
            for (int first = 0; first < total; first += period)     \
                for (int i = 0; i < period; i++) {                  \
                    double v = values[first + i], o = operand[i];   \
                    (void)o;                                        \
                    values[first + i] = (expression);               \
                }                                                   \
        }                                                           \
    } while (0)

INLINE void alu(const struct sim_sdp_run *run, int stage, struct sim_tile *tile)
{
    int total = tile->pixels * tile->channels, period;
    double *values = tile->values;
    const double *operand = operand_of(run, stage, 0, tile, &period);
    switch (run->sdp->stages[stage].alu) {
    case SIM_ALU_MAX:
        OVER(v > o ? v : o);
        break;
    case SIM_ALU_MIN:
        OVER(v < o ? v : o);
        break;
    case SIM_ALU_SUM:
        OVER(v + o);
        break;
    default:
        OVER(v != o ? 1.0 : 0.0);
    }
}

INLINE void stage_x_body(const struct sim_sdp_run *run, int stage, struct sim_tile *tile)
{
    const struct sim_stage *s = &run->sdp->stages[stage];
    int total = tile->pixels * tile->channels, period = 0;
    double by = power(s->shift), *values = tile->values;
    double low = s->relu ? 0.0 : MIN32;
    const double *operand = NULL;
    if (s->alu != SIM_ALU_NONE)
        alu(run, stage, tile);
    if (s->mul)
        operand = operand_of(run, stage, 1, tile, &period);
    if (s->prelu && s->mul) { /* negative values are multiplied, others pass, cut to 32 bits */
        double least = s->relu ? 0.0 : -INFINITY;
        OVER(clip(v < 0 ? clip(rounded(v * (o * by)), MIN32, MAX32)
                        : (v > MAX32 ? v - 4294967296.0 : v),
                  least, INFINITY));
        return;
    }
    if (s->shift)
        OVER(clip(rounded(v * (o * by)), low, MAX32));
    else if (s->mul)
        OVER(clip(v * o, low, MAX32));
    else
        OVER(clip(v, low, MAX32));
}

LEVELS(void, stage_x, (const struct sim_sdp_run *run, int stage, struct sim_tile *tile), (run, stage, tile))

INLINE double shifted(int64_t value, int shift)
{
    if (shift >= 63) { /* only +-2^62 at shift 63 still rounds to 1 */
        int64_t full = (int64_t)1 << 62;
        return shift > 63 ? 0.0 : value == full ? 1.0 : value == -full ? -1.0 : 0.0;
    }
    if (shift > 0)
        value = (value + ((int64_t)1 << (shift - 1)) + (value >> 63)) >> shift;
    return (double)value;
}

INLINE void stage_y_body(const struct sim_sdp_run *run, int stage, struct sim_tile *tile)
{
    const struct sim_stage *s = &run->sdp->stages[stage];
    int total = tile->pixels * tile->channels, period, shift = s->shift, prelu = s->prelu;
    double *values = tile->values;
    if (s->mul) {
        const double *operand = operand_of(run, stage, 1, tile, &period);
        OVER(prelu && v >= 0
                 ? v
                 : clip(shifted((int64_t)v * (int64_t)o, shift), MIN32, MAX32));
    }
    if (s->alu != SIM_ALU_NONE) {
        alu(run, stage, tile);
        for (int i = 0; i < total; i++)
            values[i] = clip(values[i], MIN32, MAX32);
    }
}

LEVELS(void, stage_y, (const struct sim_sdp_run *run, int stage, struct sim_tile *tile), (run, stage, tile))

/* C: sat17(RS((x - offset) * scale, shift)), then the range of the output. */
INLINE void convert_output_body(const struct sim_sdp *sdp, struct sim_tile *tile)
{
    int total = tile->pixels * tile->channels;
    double offset = sdp->offset, factor = sdp->factor, *values = tile->values;
    double low = sdp->low, high = sdp->high;
    int64_t clipped = 0, saturated = 0;
    if (offset != 0.0 || factor != 1.0)
        for (int i = 0; i < total; i++)
            values[i] = (values[i] - offset) * factor;
    if (sdp->count_saturation)
        for (int i = 0; i < total; i++) {
            double whole = __builtin_floor(values[i]);
            saturated += fabs(whole - clip(values[i], -65536.0, 65535.0)) > 1.0;
        }
    if (sdp->round)
        for (int i = 0; i < total; i++)
            values[i] = rounded(values[i]);
    for (int i = 0; i < total; i++) {
        double limited = clip(values[i], low, high);
        clipped += limited != values[i];
        values[i] = limited;
    }
    tile->clipped += clipped;
    tile->saturated += saturated;
}

LEVELS(void, convert_output, (const struct sim_sdp *sdp, struct sim_tile *tile), (sdp, tile))

/* --- the common case in one pass -------------------------------------------------------------- */

static const double ZEROS[SIM_TILE_CHANNELS], *const NOTHING = ZEROS;

/* At most one X stage that adds, multiplies and shifts, ReLU or not, then the converter. Rounding
 * leaves integers as they are, so it need not be asked for. */
INLINE void usual(const struct sim_sdp_run *run, struct sim_tile *tile, const int scaled)
{
    const struct sim_sdp *sdp = run->sdp;
    const struct sim_stage *s = sdp->stages;
    int channels = tile->channels, stage = sdp->stage_count, period = 0;
    double by = stage ? power(s->shift) : 1.0, least = stage && s->relu ? 0.0 : MIN32;
    double offset = sdp->offset, factor = sdp->factor, low = sdp->low, high = sdp->high;
    double scales[SIM_TILE_CHANNELS];
    const double *added = NOTHING;
    int64_t clipped = 0;
    for (int i = 0; i < channels; i++)
        scales[i] = stage && s->mul ? run->operands[0][1][tile->channel + i] * by : by;
    if (stage && s->alu != SIM_ALU_NONE)
        added = operand_of(run, 0, 0, tile, &period);
    for (int p = 0; p < tile->pixels; p++) {
        const double *restrict more = period > channels ? added + p * channels : added;
        double *restrict values = tile->values + p * channels;
        for (int i = 0; i < channels; i++) {
            double v = values[i] + more[i];
            v = clip(scaled ? rounded(v * scales[i]) : v, least, MAX32);
            double result = rounded((v - offset) * factor), limited = clip(result, low, high);
            clipped += limited != result;
            values[i] = limited;
        }
    }
    tile->clipped += clipped;
}

INLINE void usual_of_stage(const struct sim_sdp_run *run, struct sim_tile *tile)
{
    const struct sim_stage *s = run->sdp->stages;
    if (run->sdp->stage_count && (s->mul || s->shift))
        usual(run, tile, 1);
    else
        usual(run, tile, 0);
}

static void usual_plain(const struct sim_sdp_run *run, struct sim_tile *tile)
{
    usual_of_stage(run, tile);
}

#if defined(__x86_64__)
WIDE_VECTORS static void usual_512(const struct sim_sdp_run *run, struct sim_tile *tile)
{
    usual_of_stage(run, tile);
}

__attribute__((target("avx2"))) static void usual_256(const struct sim_sdp_run *run,
                                                      struct sim_tile *tile)
{
    usual_of_stage(run, tile);
}

static sim_usual *usual_of_machine(void)
{
    int cpu = sim_cpu();
    if (cpu & SIM_CPU_AVX512)
        return usual_512;
    return cpu & SIM_CPU_AVX2 ? usual_256 : usual_plain;
}
#else
static sim_usual *usual_of_machine(void)
{
    return usual_plain;
}
#endif

static int is_usual(const struct sim_sdp *sdp)
{
    const struct sim_stage *s = sdp->stages;
    if (sdp->count_saturation || sdp->stage_count > 1 || sdp->lut != NULL)
        return 0;
    return sdp->stage_count == 0 ||
           (!s->y && !(s->prelu && s->mul) && (s->alu == SIM_ALU_SUM || s->alu == SIM_ALU_NONE) &&
            !(s->mul && s->mul_operand.kind == SIM_ELEMENTS));
}

void sim_tile_end(const struct sim_sdp_run *run, const struct sim_tile *tile)
{
    struct sim_sdp *sdp = run->sdp;
    __atomic_fetch_add(&sdp->clipped, tile->clipped, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sdp->saturated, tile->saturated, __ATOMIC_RELAXED);
    if (sdp->lut != NULL)
        sim_lut_add(sdp->lut, &tile->looked_up);
}

static void all_stages(const struct sim_sdp_run *run, struct sim_tile *tile)
{
    const struct sim_sdp *sdp = run->sdp;
    for (int s = 0; s < sdp->stage_count; s++) {
        if (sdp->stages[s].y)
            stage_y(run, s, tile);
        else
            stage_x(run, s, tile);
    }
    if (sdp->lut != NULL)
        sim_lut_apply(sdp->lut, tile->values, tile->pixels * tile->channels, &tile->looked_up);
    convert_output(sdp, tile);
}

void sim_sdp_tile(const struct sim_sdp_run *run, struct sim_tile *tile)
{
    if (run->usual != NULL)
        run->usual(run, tile);
    else
        all_stages(run, tile);
    store(&run->sdp->output, run->sdp->width, tile);
}

/* --- SDP on a cube in memory ----------------------------------------------------------------- */

struct cube_run {
    struct sim_sdp_run sdp;
    const struct sim_cube *input;
    int next;
};

enum { PIXELS_OF_STEP = 256 };

static void cube_work(void *argument)
{
    struct cube_run *run = argument;
    struct sim_sdp *sdp = run->sdp.sdp;
    struct sim_tile tile;
    int all = sdp->height * sdp->width;
    int steps = (all + PIXELS_OF_STEP - 1) / PIXELS_OF_STEP;
    int blocks = (sdp->channels + 31) / 32;
    sim_tile_begin(&tile);
    for (;;) {
        int number = __atomic_fetch_add(&run->next, 1, __ATOMIC_RELAXED);
        if (number >= steps * blocks)
            break;
        int first = number / blocks * PIXELS_OF_STEP;
        int last = first + PIXELS_OF_STEP < all ? first + PIXELS_OF_STEP : all;
        tile.channel = number % blocks * 32;
        tile.channels = sdp->channels - tile.channel < 32 ? sdp->channels - tile.channel : 32;
        for (tile.pixel = first; tile.pixel < last; tile.pixel += tile.pixels) {
            tile.pixels = last - tile.pixel < SIM_TILE_PIXELS ? last - tile.pixel : SIM_TILE_PIXELS;
            sim_tile_load(run->input, sdp->width, &tile, tile.values);
            sim_sdp_tile(&run->sdp, &tile);
        }
    }
    sim_tile_end(&run->sdp, &tile);
}

static uint16_t one_element(const void *argument, uint16_t pattern, struct sim_tile *tile)
{
    const struct cube_run *run = argument;
    tile->values[0] = run->input->item == 1 ? (int8_t)pattern : (int16_t)pattern;
    all_stages(&run->sdp, tile);
    return (uint16_t)(int32_t)tile->values[0];
}

int sim_int_sdp(const struct sim_cube *input, struct sim_sdp *sdp)
{
    struct cube_run run = {.input = input, .next = 0};
    if (sim_sdp_begin(&run.sdp, sdp) != 0)
        return -1;
    double steps = 1 + sdp->stage_count + (sdp->lut != NULL ? 3 : 0);
    double work = (double)sdp->height * sdp->width * sdp->channels * steps;
    if (!sim_sdp_map(input, sdp, one_element, &run) && !sim_int_lines(input, &run.sdp))
        sim_parallel(cube_work, &run, sim_threads_for(work));
    sim_sdp_end(&run.sdp);
    return 0;
}
