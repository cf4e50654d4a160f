/*
 * dpu_probe.h - time and energy of what a host program has DPUs do.
 *
 * UPMEM has this for some of its machines only and has published no manual of it: names and use are
 * those of public programs, which are compiled from source. Values and members are ours.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_PROBE_H
#define CUDLA_SIM_UPMEM_DPU_PROBE_H

#include <stdint.h>

#include "dpu_error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is asked for: joules or seconds. */
typedef enum dpu_probe_quantity_t {
    DPU_ENERGY = 0,
    DPU_TIME = 1
} dpu_probe_quantity_t;

/* Of all intervals between dpu_probe_start and dpu_probe_stop together, or of one. */
typedef enum dpu_probe_statistic_t {
    DPU_ACCUMULATE = 0,
    DPU_AVERAGE = 1
} dpu_probe_statistic_t;

struct dpu_probe_t {
    uint32_t state;
    uint32_t intervals;
    uint32_t dpus;
    uint32_t steps;
    double begin;
    double seconds;
    double joules;
};

/* `name`: "energy_probe" in public programs; any name will do. */
dpu_error_t dpu_probe_init(const char *name, struct dpu_probe_t *probe);
dpu_error_t dpu_probe_deinit(struct dpu_probe_t *probe);
dpu_error_t dpu_probe_start(struct dpu_probe_t *probe);
dpu_error_t dpu_probe_stop(struct dpu_probe_t *probe);
/* 0 before the first interval has ended. */
dpu_error_t dpu_probe_get(struct dpu_probe_t *probe, dpu_probe_quantity_t quantity,
                          dpu_probe_statistic_t statistic, double *value);

#ifdef __cplusplus
}
#endif

#endif
