/*
 * Layers of SDP from a cube to a cube of fp16, without a look-up table and without operands for each element.
 *
 * FP32 is float here, not a double that is cut: the numbers are halves, their sums and products, so that
 * none is below the least normal float, and each operation rounds once in both. A NaN in the input stays what
 * it is through all stages. The rules are those of half_sdp.c.
 */
#include "native/half_lines.h"

#include <math.h>
#include <string.h>

#include "native/cpu.h"
#include "native/half_single.h"
#include "native/parallel.h"
#include "native/parts.h"

#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")

struct half_lines {
    const struct sim_cube *input;
    struct sim_sdp *sdp;
    double *const (*operands)[2];
    int surfaces, bare, factor; /* bare: ReLU at most; factor: multiplies, then ReLU at most */
    int next;
};

/* --- is it such a layer? --------------------------------------------------------------------- */

static int is_half(double value)
{
    double size = fabs(value);
    return size == LARGEST_SINGLE || (size <= 65504 && size * 0x1p24 == floor(size * 0x1p24));
}

static int all_halves(const double *values, int count)
{
    for (int i = 0; values != NULL && i < count; i++)
        if (!is_half(values[i]))
            return 0;
    return values != NULL;
}

static int is_line_cube(const struct sim_cube *cube, int channels)
{
    return cube->element == 2 && cube->pixel == 2 * (int64_t)cube->atom &&
           cube->channels >= channels && channels % cube->atom == 0 && PART % cube->atom == 0;
}

static int is_line_layer(const struct half_lines *l)
{
    const struct sim_sdp *sdp = l->sdp;
    if (sdp->lut != NULL || !sdp->output_half || l->input->atom != sdp->output.atom ||
        !is_line_cube(l->input, sdp->channels) || !is_line_cube(&sdp->output, sdp->channels))
        return 0;
    for (int s = 0; s < sdp->stage_count; s++) {
        const struct sim_stage *stage = &sdp->stages[s];
        if ((stage->alu != SIM_ALU_NONE && !all_halves(l->operands[s][0], sdp->channels)) ||
            (stage->mul && !all_halves(l->operands[s][1], sdp->channels)))
            return 0;
    }
    return 1;
}

/* --- stages ---------------------------------------------------------------------------------- */

#define OVER(expression)                     \
    for (int i = 0; i < PART; i++) {         \
        float v = values[i], o = operand[i]; \
        values[i] = (expression);            \
    }

INLINE void alu(int kind, float *restrict values, const float *restrict operand
)
{
    if (kind == SIM_ALU_MAX)
        OVER(choose_single(FLAG32(v > o) | (FLAG32(v == o) & ~FLAG32(single_bits(v) >> 31)), v, o))
    else if (kind == SIM_ALU_MIN)
        OVER(choose_single(FLAG32(v > o) | (FLAG32(v == o) & ~FLAG32(single_bits(v) >> 31)), o, v))
    else
        OVER(add_single(v, o))
}

INLINE void multiply(int prelu, float *restrict values, const float *restrict operand)
{
    if (prelu)
        OVER(choose_single(FLAG32(single_bits(v) >> 31), cut_single(v * o), v))
    else
        OVER(cut_single(v * o))
}

INLINE void stage_of(const struct sim_stage *stage, float *restrict values,
                     const float operands[2][PART])
{
    if (stage->y && stage->mul)
        multiply(stage->prelu, values, operands[1]);
    if (stage->alu != SIM_ALU_NONE)
        alu(stage->alu, values, operands[0]);
    if (!stage->y && stage->mul)
        multiply(stage->prelu, values, operands[1]);
    if (stage->relu)
        for (int i = 0; i < PART; i++)
            values[i] = single_of(single_bits(values[i]) & ~FLAG32(single_bits(values[i]) >> 31));
}

INLINE void clear_nans(uint16_t *values)
{
    for (int i = 0; i < PART; i++)
        values[i] = (values[i] & 0x7fff) > 0x7c00 ? 0 : values[i];
}

/* Nothing is computed: infinities become the largest number, negative numbers 0 if there is ReLU. */
INLINE void bare_part(const uint16_t *restrict from, uint16_t *restrict to, int relu)
{
    const int16_t no_sign = relu ? -1 : 0;
    for (int i = 0; i < PART; i++) {
        int16_t value = (int16_t)from[i], size = value & 0x7fff, sign = value >> 15;
        int16_t cut = size > 0x7bff ? 0x7bff : size;
        cut = (int16_t)((cut | (value & (int16_t)0x8000)) & ~(sign & no_sign));
        to[i] = (uint16_t)(size > 0x7c00 ? value : cut);
    }
}

INLINE void part(const struct half_lines *l, const uint16_t *restrict from, uint16_t *restrict to,
                 const float operands[3][2][PART], const int f16c)
{
    const struct sim_sdp *sdp = l->sdp;
    float values[PART];
    for (int i = 0; i < PART; i += HALVES)
        halves_to_singles(from + i, values + i, LARGEST_SINGLE, f16c);
    for (int s = 0; s < sdp->stage_count; s++)
        stage_of(&sdp->stages[s], values, operands[s]);
    for (int i = 0; i < PART; i += HALVES)
        singles_to_halves(values + i, to + i, f16c);
    for (int i = 0; i < PART; i++)
        to[i] = (from[i] & 0x7fff) > 0x7c00 ? from[i] : to[i];
}

INLINE int is_finite(const uint16_t *values)
{
    int16_t found = 0;
    for (int i = 0; i < PART; i++)
        found |= (int16_t)(0x7bff - (int16_t)(values[i] & 0x7fff)); /* below 0: it is not */
    return found >= 0;
}

/* 0: it is not that, nothing was done. */
INLINE int factor_part(const struct half_lines *l, const uint16_t *restrict from, uint16_t *restrict to,
                       const float *restrict factors, const int f16c)
{
    if (!f16c || !l->factor || !is_finite(from))
        return 0;
    if (l->sdp->stages[0].relu)
        for (int i = 0; i < PART; i += HALVES)
            halves_times(from + i, factors + i, to + i, 1, f16c);
    else
        for (int i = 0; i < PART; i += HALVES)
            halves_times(from + i, factors + i, to + i, 0, f16c);
    return 1;
}

/* --- lines ----------------------------------------------------------------------------------- */

struct counts {
    int64_t saturated, nans, nan_inputs, infinite_inputs;
};

INLINE void line_body(const struct half_lines *l, const uint8_t *from, uint8_t *to, int count,
                      const float operands[3][2][PART], struct counts *counts, const int f16c)
{
    const struct sim_sdp *sdp = l->sdp;
    const int relu = sdp->stage_count && sdp->stages[0].relu;
    uint16_t in[PART], out[PART];
    for (int done = 0; done < count; done += PART) {
        int some = count - done < PART ? count - done : PART;
        int32_t first = 0, second = 0;
        if (some == PART)
            copy_part(from + 2 * done, in, sizeof in);
        else {
            memset(in, 0, sizeof in);
            memcpy(in, from + 2 * done, 2 * (size_t)some);
        }
        if (sdp->count_nan_inputs) {
            for (int i = 0; i < some; i++) {
                first += (in[i] & 0x7fff) > 0x7c00;
                second += (in[i] & 0x7fff) == 0x7c00;
            }
            counts->nan_inputs += first;
            counts->infinite_inputs += second;
        }
        if (sdp->nan_to_zero)
            clear_nans(in);
        if (l->bare)
            bare_part(in, out, relu);
        else if (!factor_part(l, in, out, operands[0][1], f16c))
            part(l, in, out, operands, f16c);
        first = second = 0;
        if (sdp->count_saturation)
            for (int i = 0; i < some; i++)
                first += (out[i] & 0x7fff) == 0x7bff;
        if (sdp->count_nan)
            for (int i = 0; i < some; i++)
                second += (out[i] & 0x7fff) > 0x7c00;
        counts->saturated += first;
        counts->nans += second;
        if (some == PART)
            copy_part(out, to + 2 * done, sizeof out);
        else
            memcpy(to + 2 * done, out, 2 * (size_t)some);
    }
}

LEVELS_OF_HALVES(void, line,
                 (const struct half_lines *l, const uint8_t *from, uint8_t *to, int count,
                  const float operands[3][2][PART], struct counts *counts),
                 l, from, to, count, operands, counts)

static void some_lines(void *argument)
{
    struct half_lines *l = argument;
    struct sim_sdp *sdp = l->sdp;
    struct counts counts = {0, 0, 0, 0};
    float operands[3][2][PART];
    int atom = l->input->atom, known = -1;
    for (;;) {
        int number = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED);
        if (number >= l->surfaces * sdp->height)
            break;
        int surface = number / sdp->height, y = number % sdp->height;
        for (int s = 0; s < sdp->stage_count && surface != known; s++)
            for (int which = 0; which < 2; which++)
                for (int i = 0; l->operands[s][which] != NULL && i < PART; i++)
                    operands[s][which][i] =
                        (float)l->operands[s][which][surface * atom + i % atom];
        known = surface;
        line(l, l->input->base + surface * l->input->surface + y * l->input->line,
             sdp->output.base + surface * sdp->output.surface + y * sdp->output.line,
             sdp->width * atom, operands, &counts);
    }
    __atomic_fetch_add(&sdp->saturated, counts.saturated, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sdp->nan_outputs, counts.nans, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sdp->nan_inputs, counts.nan_inputs, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sdp->infinite_inputs, counts.infinite_inputs, __ATOMIC_RELAXED);
}

int sim_half_lines(const struct sim_cube *input, struct sim_sdp *sdp, double *const operands[3][2])
{
    struct half_lines l = {.input = input, .sdp = sdp, .operands = operands};
    const struct sim_stage *stage = sdp->stages;
    if (input->item != 2 || !is_line_layer(&l))
        return 0;
    l.surfaces = sdp->channels / input->atom;
    l.bare = sdp->stage_count == 0 ||
             (sdp->stage_count == 1 && stage->alu == SIM_ALU_NONE && !stage->mul);
    l.factor = sdp->stage_count == 1 && stage->alu == SIM_ALU_NONE && stage->mul && !stage->prelu;
    double elements = (double)sdp->channels * sdp->height * sdp->width;
    sim_parallel(some_lines, &l, sim_threads_for(elements * (1 + sdp->stage_count) / 4));
    return 1;
}
