/* The multiply-accumulate of fp16 convolution (CMAC and CACC), bit for bit: pixels, their steps and
 * NaNs. fp16_step.h computes a step.
 *
 * Source of the rules: nvdla/hw cmod/cmac/NV_NVDLA_cmac.h, cmod/cacc/NV_NVDLA_cacc.cpp.
 */
#include "native/native.h"

#include <stdlib.h>

#include "native/fp16_nan.h"
#include "native/fp16_step.h"
#include "native/parallel.h"

#pragma GCC optimize("O3")

/* Row 0 of the Booth array by the digit's three bits (0, 1, 1, 2, -2, -1, -1, 0 times x), without
 * the bits of `negative`. */
static inline void row_table(int32_t x, int32_t *rows)
{
    const int32_t plus = 0x10000, minus = 0x10000 ^ 0x1ffff;
    rows[0] = rows[7] = plus;
    rows[1] = rows[2] = x ^ plus;
    rows[3] = x << 1 ^ plus;
    rows[4] = x << 1 ^ minus;
    rows[5] = rows[6] = x ^ minus;
}

/* Reads the inputs of a step, leaves zeros out; true if one is a NaN. */
static int read_inputs(Inputs *inputs, const uint16_t *frame, const int64_t *offsets, int count,
                       int tables)
{
    int nan = 0, used = 0;
    for (int i = 0; i < count; i++) {
        uint16_t half = frame[offsets[i]];
        nan |= is_nan(half);
        if ((half & 0x7fff) == 0)
            continue;
        inputs->index[used] = i;
        inputs->fraction[used] = fraction_of(half);
        inputs->scale[used] = half >> 12 & 7;
        inputs->flip[used] = half & 0x8000 ? -1 : 0;
        if (tables)
            row_table(inputs->fraction[used], inputs->rows[used]);
        used++;
    }
    inputs->count = used;
    return nan;
}

static const Fp16Instructions *const all[] = {
#if defined(__x86_64__)
    &sim_fp16_avx512,
    &sim_fp16_avx2,
#endif
    &sim_fp16_portable,
};

const char *sim_fp16_instructions(int number)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->supported() && number-- == 0)
            return all[i]->name;
    return NULL;
}

typedef struct {
    const struct sim_fp16_job *job;
    const Fp16Instructions *with;
    size_t next;
    int failed;
} Run;

static void one_pixel(const struct sim_fp16_job *job, const Fp16Instructions *with, size_t pixel,
                      Inputs *inputs, int64_t *mantissas, int32_t *exponents)
{
    int64_t sums[LANES];
    int32_t scales[LANES];
    size_t kernels = job->kernels;
    const uint16_t *base = job->frame + job->pixels[pixel];
    for (size_t k = 0; k < kernels; k++) {
        mantissas[k] = 0;
        exponents[k] = 0;
    }
    for (size_t step = 0; step < job->steps; step++) {
        size_t first = (size_t)job->starts[step];
        int count = (int)(job->starts[step + 1] - job->starts[step]);
        const int64_t *where = job->offsets + first;
        int nan = read_inputs(inputs, base, where, count, with->tables) | job->odd[step];
        if (inputs->count == 0 && !nan)
            continue;
        for (size_t block = 0; block < kernels; block += LANES) {
            with->add_step(inputs, job->packed + first * kernels + block, kernels, sums, scales);
            if (!nan) {
                with->accumulate(mantissas + block, exponents + block, sums, scales);
                continue;
            }
            for (size_t k = 0; k < LANES; k++) {
                size_t at = block + k;
                uint16_t found =
                    find_nan(base, where, job->raw + first * kernels + at, kernels, count);
                if (found)
                    put_nan(mantissas + at, exponents + at, found);
                else
                    accumulate(mantissas + at, exponents + at, sums[k], scales[k]);
            }
        }
    }
    for (size_t k = 0; k < kernels; k++)
        job->results[pixel * kernels + k] = to_single(mantissas[k], exponents[k]);
}

static void some_pixels(void *argument)
{
    Run *run = argument;
    const struct sim_fp16_job *job = run->job;
    Inputs inputs;
    if (run->with->some_pixels != NULL) {
        if (run->with->some_pixels(job, &run->next))
            run->failed = 1;
        return;
    }
    int64_t *mantissas = malloc(job->kernels * sizeof *mantissas);
    int32_t *exponents = malloc(job->kernels * sizeof *exponents);
    if (mantissas == NULL || exponents == NULL)
        run->failed = 1;
    else
        for (;;) {
            size_t pixel = __atomic_fetch_add(&run->next, 1, __ATOMIC_RELAXED);
            if (pixel >= job->pixel_count)
                break;
            one_pixel(job, run->with, pixel, &inputs, mantissas, exponents);
        }
    free(mantissas);
    free(exponents);
}

int sim_fp16_mac(const struct sim_fp16_job *job, const char *instructions)
{
    Run run = {.job = job};
    for (size_t i = 0; i < sizeof all / sizeof *all && run.with == NULL; i++)
        if (all[i]->supported() &&
            (instructions == NULL || __builtin_strcmp(all[i]->name, instructions) == 0))
            run.with = all[i];
    if (run.with == NULL)
        return -1;
    double products = (double)job->pixel_count * (double)job->starts[job->steps];
    sim_parallel(some_pixels, &run, sim_threads_for(products * (double)job->kernels));
    return run.failed ? -1 : 0;
}
