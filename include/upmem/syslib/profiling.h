/* Sections for the profiler: they do nothing without one. */
#ifndef UPMEM_SYSLIB_PROFILING_H
#define UPMEM_SYSLIB_PROFILING_H

#include <attributes.h>
#include <perfcounter.h>
#include <stdint.h>
#include <sysdef.h>

__RT_C_BEGIN

typedef struct {
    uint32_t start[DPU_NR_THREADS];
    uint32_t count[DPU_NR_THREADS];
} dpu_profiling_t;

#define PROFILING_INIT(_name) \
    dpu_profiling_t _name; \
    extern dpu_profiling_t _name

static inline void profiling_start(dpu_profiling_t *context)
{
    (void)context;
}

static inline void profiling_stop(dpu_profiling_t *context)
{
    (void)context;
}

__RT_C_END

#endif
