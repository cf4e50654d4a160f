/* Many layers with one call: what they need of each other is only that one follows the other. */
#define _GNU_SOURCE /* clock_gettime */
#include <string.h>
#include <time.h>

#include "native/native.h"
#include "native/parallel.h"

static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void sim_copy_bytes(const struct sim_copy *copy)
{
    memcpy(copy->to, copy->source, copy->size);
}

static int compute(const struct sim_step *step)
{
    switch (step->kind) {
    case SIM_STEP_CONV:
        return sim_int_conv(step->input, step->sdp, NULL);
    case SIM_STEP_SDP:
        return sim_int_sdp(step->input, step->sdp);
    case SIM_STEP_HALF_SDP:
        return sim_half_sdp(step->input, step->sdp);
    case SIM_STEP_HALF_POOL:
        return sim_half_pool(step->input);
    case SIM_STEP_COPY:
        sim_copy_bytes(step->input);
        return 0;
    case SIM_STEP_CDP:
        return sim_int_cdp(step->input);
    case SIM_STEP_HALF_CDP:
        return sim_half_cdp(step->input);
    default:
        return sim_int_pool(step->input);
    }
}

static void take(const struct sim_step *step, struct sim_step_result *result)
{
    const struct sim_lut *lut = NULL;
    *result = (struct sim_step_result){.end_ns = now_ns()};
    if (step->sdp != NULL) {
        result->clipped = step->sdp->clipped;
        result->saturated = step->sdp->saturated;
        result->nan_inputs = step->sdp->nan_inputs;
        result->infinite_inputs = step->sdp->infinite_inputs;
        result->nan_outputs = step->sdp->nan_outputs;
        lut = step->sdp->lut;
    }
    if (step->kind == SIM_STEP_CONV)
        result->overflowed = ((const struct sim_window *)step->input)->saturated;
    if (step->kind == SIM_STEP_HALF_POOL) {
        const struct sim_half_pool *pool = step->input;
        result->nan_inputs = pool->nan_inputs;
        result->infinite_inputs = pool->infinite_inputs;
        result->nan_outputs = pool->nan_outputs;
    }
    if (step->kind == SIM_STEP_CDP || step->kind == SIM_STEP_HALF_CDP) {
        const struct sim_cdp *cdp = step->input;
        result->clipped = cdp->clipped;
        result->nan_inputs = cdp->nan_inputs;
        result->infinite_inputs = cdp->infinite_inputs;
        result->nan_outputs = cdp->nan_outputs;
        lut = cdp->lut;
    }
    if (lut != NULL) {
        result->under = lut->under_count;
        result->over = lut->over_count;
        result->hybrid = lut->hybrid_count;
        result->le = lut->le_count;
        result->lo = lut->lo_count;
    }
}

static int all_steps(const struct sim_step *steps, int count, int64_t until_ns,
                     struct sim_step_result *results, int *why)
{
    for (int i = 0; i < count; i++) {
        const struct sim_step *step = &steps[i];
        struct sim_step_result *result = &results[i];
        if (step->first && i > 0 && results[i - 1].end_ns > until_ns) {
            *why = SIM_STEPS_LATE;
            return i;
        }
        if (step->size > 0 && memcmp(step->weights, step->known, step->size) != 0) {
            *why = SIM_STEPS_CHANGED;
            return i;
        }
        if (compute(step) != 0) {
            *why = SIM_STEPS_MEMORY;
            return i;
        }
        take(step, result);
    }
    *why = SIM_STEPS_DONE;
    return count;
}

int sim_int_steps(const struct sim_step *steps, int count, int64_t until_ns,
                  struct sim_step_result *results, int *why)
{
    return all_steps(steps, count, until_ns, results, why);
}
