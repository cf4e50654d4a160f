/*
 * dpu_bank_interface_pmc.h - performance counters of the memory bank interface (v1B chips).
 */
#ifndef CUDLA_SIM_UPMEM_DPU_BANK_INTERFACE_PMC_H
#define CUDLA_SIM_UPMEM_DPU_BANK_INTERFACE_PMC_H

#include <stdint.h>

#include "dpu_error.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bank_interface_pmc_event_t {
    BANK_INTERFACE_PMC_NONE = 0,
    BANK_INTERFACE_PMC_LDMA_INSTRUCTION = 1,
    BANK_INTERFACE_PMC_SDMA_INSTRUCTION = 2,
    BANK_INTERFACE_PMC_READ_64BIT_INSTRUCTION = 4,
    BANK_INTERFACE_PMC_WRITE_64BIT_INSTRUCTION = 8,
    BANK_INTERFACE_PMC_HOST_ACTIVATE_COMMAND = 0x10,
    BANK_INTERFACE_PMC_HOST_REFRESH_COMMAND = 0x20,
    BANK_INTERFACE_PMC_ROW_HAMMER_REFRESH_COMMAND = 0x40,
    BANK_INTERFACE_PMC_CYCLES = 0x80
} bank_interface_pmc_event_t;

/* Two counters of 32 bits or one of 64. */
typedef enum bank_interface_pmc_mode_t {
    BANK_INTERFACE_PMC_32BIT_MODE = 0,
    BANK_INTERFACE_PMC_64BIT_MODE = 1
} bank_interface_pmc_mode_t;

struct _bank_interface_pmc_config_t {
    bank_interface_pmc_mode_t mode;
    bank_interface_pmc_event_t counter_1;
    bank_interface_pmc_event_t counter_2;
};
typedef struct _bank_interface_pmc_config_t bank_interface_pmc_config_t;

struct _bank_interface_pmc_two_32bits_t {
    uint32_t counter_1;
    uint32_t counter_2;
};

struct _bank_interface_pmc_one_64bits_t {
    uint64_t counter_1;
};

struct _bank_interface_pmc_result_t {
    union {
        struct _bank_interface_pmc_two_32bits_t two_32bits;
        struct _bank_interface_pmc_one_64bits_t one_64bits;
    };
};
typedef struct _bank_interface_pmc_result_t bank_interface_pmc_result_t;

dpu_error_t dpu_bank_interface_pmc_enable(struct dpu_set_t set,
                                          bank_interface_pmc_config_t configuration);
dpu_error_t dpu_bank_interface_pmc_disable(struct dpu_set_t set);
dpu_error_t dpu_bank_interface_pmc_stop_counters(struct dpu_set_t set);
dpu_error_t dpu_bank_interface_pmc_read_counters(struct dpu_set_t set,
                                                 bank_interface_pmc_result_t *result);

#ifdef __cplusplus
}
#endif

#endif
