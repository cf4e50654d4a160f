/*
 * dpu_probe.h - an energy meter of the hardware's test benches; there is nothing to measure here.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_PROBE_H
#define CUDLA_SIM_UPMEM_DPU_PROBE_H

/* Programs include this only when they are built to measure energy. */

#endif
