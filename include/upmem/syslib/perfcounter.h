/* The performance counter. Values are estimates; see shim/dpu_run/perf.c. */
#ifndef UPMEM_SYSLIB_PERFCOUNTER_H
#define UPMEM_SYSLIB_PERFCOUNTER_H

#include <attributes.h>
#include <stdbool.h>
#include <stdint.h>

__RT_C_BEGIN

/* Hz; the host writes it when it loads the program. */
extern __host const volatile uint32_t CLOCKS_PER_SEC;

typedef uint64_t perfcounter_t;

typedef struct {
    perfcounter_t cycles;
    perfcounter_t instr;
} perfcounters_t;

typedef perfcounters_t perfcounter_pair_t; /* the name that 2025.1 has for it */

typedef enum _perfcounter_config_t {
    COUNT_SAME = 0,
    COUNT_CYCLES = 1,
    COUNT_INSTRUCTIONS = 2,
    COUNT_NOTHING = 3,
    COUNT_DISABLE_BOTH = 6,
    COUNT_ENABLE_BOTH = 7,
} perfcounter_config_t;

perfcounter_t perfcounter_get(void);

/* Gives the value before. */
perfcounter_t perfcounter_config(perfcounter_config_t config, bool reset_value);

/* v1B only on hardware. */
perfcounters_t perfcounter_get_both(bool reset_values);

__RT_C_END

#endif
