/*
 * Most layers of SDP that read a cube do little: one stage that adds, multiplies and shifts, ReLU, the
 * converter. Where what their numbers may become fits 32 bits, which is looked at before, they are computed
 * in these, straight from memory to memory; the results are those of int_sdp.c, which has the rules.
 */
#include "native/int_lines.h"

#include <math.h>
#include <string.h>

#include "native/cpu.h"
#include "native/parallel.h"
#include "native/parts.h"

#pragma GCC optimize("O3")

/* value * factor / 2^shift, rounded half away from zero */
struct ratio {
    int32_t factor, shift;
};

struct lines {
    const struct sim_cube *input, *output;
    int width, height, surfaces;
    int add, multiply; /* operands of channels are used */
    int brief;         /* bytes times factors, shifted: 16 bits are enough */
    const double *added, *factors;
    int32_t shift;  /* of the stage */
    int32_t least;  /* 0: ReLU */
    int32_t offset;
    struct ratio output_ratio;
    int32_t low, high;
    int64_t clipped;
    int next;
};

/* --- is it such a layer? --------------------------------------------------------------------- */

static int whole(double value)
{
    return value == floor(value) && fabs(value) < 0x1p31;
}

/* Interval of whole numbers. */
struct interval {
    double low, high;
};

static struct interval scaled(struct interval in, double factor, double by)
{
    double one = in.low * factor * by, other = in.high * factor * by;
    struct interval out = {one < other ? one : other, one < other ? other : one};
    return out;
}

/* Whether products and what is added to round them fit. */
static int fits(struct interval in, double factor, int shift)
{
    double size = fabs(in.low) > fabs(in.high) ? fabs(in.low) : fabs(in.high);
    return whole(factor) && shift < 31 && size * fabs(factor) + ldexp(0.5, shift) < 0x1p31;
}

/* The ratio of a converter: its factor is a number of few bits and a power of two. */
static int ratio_of(double factor, struct ratio *ratio)
{
    int exponent = 0;
    double fraction = frexp(factor, &exponent);
    int shift = 0;
    if (factor == 0) {
        *ratio = (struct ratio){0, 0};
        return 1;
    }
    while (fraction != floor(fraction) && shift < 32) {
        fraction *= 2;
        shift++;
    }
    shift -= exponent;
    if (shift < 0) {
        fraction = ldexp(fraction, -shift);
        shift = 0;
    }
    *ratio = (struct ratio){(int32_t)fraction, shift};
    return whole(fraction) && shift < 31;
}

static int range_fits(const struct lines *l, int channels)
{
    double most = l->input->item == 1 ? 128.0 : 32768.0, by = ldexp(1.0, -l->shift);
    struct interval all = {0, 0};
    for (int c = 0; c < channels; c++) {
        struct interval in = {-most, most - 1};
        double add = l->add ? l->added[c] : 0, factor = l->multiply ? l->factors[c] : 1;
        in.low += add;
        in.high += add;
        if (!whole(add) || !fits(in, factor, l->shift))
            return 0;
        in = scaled(in, factor, by);
        all.low = in.low < all.low ? in.low : all.low;
        all.high = in.high > all.high ? in.high : all.high;
        if (!l->add && !l->multiply)
            break;
    }
    all.low = (l->least == 0 ? 0 : all.low - 1) - l->offset;
    all.high += 1 - l->offset;
    return fits(all, l->output_ratio.factor, l->output_ratio.shift);
}

static int is_line_cube(const struct sim_cube *cube, int channels)
{
    return cube->element == cube->item && cube->pixel == (int64_t)cube->item * cube->atom &&
           cube->channels >= channels && channels % cube->atom == 0 && PART % cube->atom == 0;
}

/* A byte's size, shifted left, times a factor's size, divided by 2^15: one instruction for 16 of them. */
enum { BRIEF_SHIFT = 15, BYTE_ROOM = 7 };

static int is_brief(const struct lines *l, int channels)
{
    if (l->input->item != 1 || !l->multiply || l->shift > BRIEF_SHIFT || l->shift < BRIEF_SHIFT - BYTE_ROOM)
        return 0;
    for (int c = 0; c < channels; c++)
        if (!(fabs(l->factors[c]) <= INT16_MAX))
            return 0;
    return 1;
}

static int plan(struct lines *l, const struct sim_cube *input, const struct sim_sdp_run *run)
{
    const struct sim_sdp *sdp = run->sdp;
    const struct sim_stage *s = sdp->stages;
    const struct sim_cube *output = &sdp->output;
    int stage = sdp->stage_count;
    if (run->usual == NULL || input->item != output->item || input->atom != output->atom ||
        !is_line_cube(input, sdp->channels) || !is_line_cube(output, sdp->channels))
        return 0;
    *l = (struct lines){
        .input = input, .output = output, .width = sdp->width, .height = sdp->height,
        .surfaces = sdp->channels / input->atom, .least = INT32_MIN,
        .low = sdp->low, .high = sdp->high,
    };
    if (stage) {
        l->least = s->relu ? 0 : INT32_MIN;
        l->shift = s->shift;
        l->add = s->alu != SIM_ALU_NONE;
        l->multiply = s->mul;
        l->added = run->operands[0][0];
        l->factors = run->operands[0][1];
        if ((l->add && l->added == NULL) || (l->multiply && l->factors == NULL) || s->shift < 0)
            return 0;
    }
    if (!whole(sdp->offset) || !ratio_of(sdp->factor, &l->output_ratio))
        return 0;
    l->offset = (int32_t)sdp->offset;
    l->brief = is_brief(l, sdp->channels);
    return range_fits(l, sdp->channels);
}

/* --- lines ----------------------------------------------------------------------------------- */

/* Of the channels of PART elements; the last two are what `brief` takes. */
struct operands {
    int32_t add[PART], factors[PART];
    int16_t sizes[PART], signs[PART]; /* signs: -1 or 0 */
};

INLINE int32_t brief(const struct lines *l, const int8_t *restrict from, int8_t *restrict to, int count,
                     const struct operands *operands)
{
    const int16_t *restrict sizes = operands->sizes, *restrict signs = operands->signs;
    const int16_t up = (int16_t)(1 << (BRIEF_SHIFT - l->shift)); /* a shift by it would be of 32 bits */
    const int16_t low = (int16_t)l->low, high = (int16_t)l->high;
    int16_t clipped = 0;
    for (int i = 0; i < count; i++) {
        int16_t v = from[i], sign = (int16_t)(v >> 15);
        int16_t size = (int16_t)((int16_t)((v ^ sign) - sign) * up);
        int16_t product = (int16_t)((((int32_t)size * sizes[i] >> (BRIEF_SHIFT - 1)) + 1) >> 1);
        sign ^= signs[i];
        product = (int16_t)((product ^ sign) - sign);
        int16_t limited = product < low ? low : product;
        limited = limited > high ? high : limited;
        clipped = (int16_t)(clipped + (limited != product));
        to[i] = (int8_t)limited;
    }
    return clipped;
}

/* What a kind of layer does. BARE: ReLU at most; FACTOR: multiplies and shifts; ALL: also adds. */
enum { BARE, FACTOR, ALL };
#define SOME(name, type)                                                                         \
    INLINE int32_t name(const struct lines *l, const type *restrict from, type *restrict to,     \
                        int count, const int32_t *restrict add, const int32_t *restrict factors, \
                        const int stage, const int convert)                                      \
    {                                                                                            \
        const int32_t shift = l->shift, half = shift ? 1 << (shift - 1) : 0;                     \
        const int32_t least = l->least, offset = l->offset, low = l->low, high = l->high;        \
        const int32_t factor = l->output_ratio.factor, by = l->output_ratio.shift;               \
        const int32_t out_half = by ? 1 << (by - 1) : 0, away = by ? -1 : 0;                     \
        const int32_t stage_away = shift ? -1 : 0;                                               \
        int32_t clipped = 0;                                                                     \
        for (int i = 0; i < count; i++) {                                                        \
            int32_t v = from[i];                                                                 \
            if (stage == ALL)                                                                    \
                v = (v + add[i]) * factors[i];                                                   \
            else if (stage == FACTOR)                                                            \
                v *= factors[i];                                                                 \
            if (stage != BARE)                                                                   \
                v = (v + half + ((v >> 31) & (stage == ALL ? stage_away : -1))) >> shift;        \
            if (stage != FACTOR)                                                                 \
                v = v < least ? least : v;                                                       \
            if (convert) {                                                                       \
                v = (v - offset) * factor;                                                       \
                v = (v + out_half + ((v >> 31) & away)) >> by;                                   \
            }                                                                                    \
            int32_t limited = v < low ? low : v;                                                 \
            limited = limited > high ? high : limited;                                           \
            clipped += limited != v;                                                             \
            to[i] = (type)limited;                                                               \
        }                                                                                        \
        return clipped;                                                                          \
    }

/* Nothing but ReLU, in the elements' own size. */
#define LARGER(name, type)                                                              \
    INLINE void larger_##name(const struct lines *l, const type *from, type *to, int count) \
    {                                                                                   \
        const type least = (type)(l->least == 0 ? 0 : (type)1 << (8 * sizeof(type) - 1)); \
        for (int i = 0; i < count; i++)                                                 \
            to[i] = from[i] < least ? least : from[i];                                  \
    }

LARGER(some8, int8_t)
LARGER(some16, int16_t)
SOME(some8, int8_t)
SOME(some16, int16_t)

#define PARTS(name, type, stage, convert)                                                        \
    do {                                                                                         \
        const type *in = from;                                                                   \
        type *out = to, found[PART];                                                             \
        int i = 0;                                                                               \
        for (; i + PART <= count; i += PART) { /* perhaps in place */                            \
            clipped += name(l, in + i, found, PART, add, factors, stage, convert);               \
            copy_part(found, out + i, sizeof found);                                             \
        }                                                                                        \
        clipped += name(l, in + i, found, count - i, add, factors, stage, convert);              \
        memcpy(out + i, found, sizeof *found * (size_t)(count - i));                             \
    } while (0)

INLINE int64_t brief_line(const struct lines *l, const int8_t *from, int8_t *to, int count,
                          const struct operands *operands)
{
    int8_t found[PART];
    int64_t clipped = 0;
    for (; count >= PART; count -= PART, from += PART, to += PART) { /* perhaps in place */
        clipped += brief(l, from, found, PART, operands);
        copy_part(found, to, sizeof found);
    }
    clipped += brief(l, from, found, count, operands);
    memcpy(to, found, (size_t)count);
    return clipped;
}

#define OF_TYPE(name, type, least_of_type, largest)                                   \
    do {                                                                              \
        if (stage == BARE && !convert && l->low <= least_of_type && l->high >= largest) \
            larger_##name(l, from, to, count);                                        \
        else if (stage == BARE)                                                       \
            PARTS(name, type, BARE, 1);                                               \
        else if (stage == FACTOR && !convert)                                         \
            PARTS(name, type, FACTOR, 0);                                             \
        else                                                                          \
            PARTS(name, type, ALL, 1);                                                \
    } while (0)

/* What a layer does not do is not computed. */
INLINE int64_t line_body(const struct lines *l, const void *from, void *to, int count,
                         const struct operands *operands)
{
    const int32_t *add = operands->add, *factors = operands->factors;
    const int convert = l->offset != 0 || l->output_ratio.factor != 1 || l->output_ratio.shift != 0;
    int stage = l->add ? ALL : l->multiply || l->shift ? FACTOR : BARE;
    int64_t clipped = 0;
    if (stage == FACTOR && (l->shift == 0 || l->least == 0))
        stage = ALL;
    if (stage == FACTOR && !convert && l->brief)
        return brief_line(l, from, to, count, operands);
    if (l->input->item == 1)
        OF_TYPE(some8, int8_t, -128, 127);
    else
        OF_TYPE(some16, int16_t, -32768, 32767);
    return clipped;
}

LEVELS(int64_t, line,
       (const struct lines *l, const void *from, void *to, int count, const struct operands *operands),
       (l, from, to, count, operands))

static void some_lines(void *argument)
{
    struct lines *l = argument;
    struct operands operands;
    int atom = l->input->atom;
    int known = -1;
    int64_t clipped = 0;
    for (;;) {
        int number = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED);
        if (number >= l->surfaces * l->height)
            break;
        int surface = number / l->height, y = number % l->height;
        for (int i = 0; i < PART && surface != known; i++) {
            int c = surface * atom + i % atom;
            operands.add[i] = l->add ? (int32_t)l->added[c] : 0;
            operands.factors[i] = l->multiply ? (int32_t)l->factors[c] : 1;
            operands.signs[i] = operands.factors[i] < 0 ? -1 : 0;
            operands.sizes[i] = (int16_t)(operands.factors[i] < 0 ? -operands.factors[i] : operands.factors[i]);
        }
        known = surface;
        const struct sim_cube *in = l->input, *out = l->output;
        clipped += line(l, in->base + surface * in->surface + y * in->line,
                        out->base + surface * out->surface + y * out->line, l->width * atom, &operands);
    }
    __atomic_fetch_add(&l->clipped, clipped, __ATOMIC_RELAXED);
}

int sim_int_lines(const struct sim_cube *input, const struct sim_sdp_run *run)
{
    struct lines l;
    if (!plan(&l, input, run))
        return 0;
    double elements = (double)l.surfaces * l.height * l.width * input->atom;
    sim_parallel(some_lines, &l, sim_threads_for(elements / 4));
    run->sdp->clipped += l.clipped;
    return 1;
}
