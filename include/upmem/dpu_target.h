/*
 * dpu_target.h - the kinds of backend that can run DPU programs.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_TARGET_H
#define CUDLA_SIM_UPMEM_DPU_TARGET_H

#include <stdbool.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum _dpu_type_t {
    FUNCTIONAL_SIMULATOR = 0,
    CYCLE_ACCURATE_SIMULATOR = 1,
    RTL_SIMULATOR = 2,
    HW = 3,
    BACKUP_SPI = 4,
    SCENARIO = 5,
    NB_OF_DPU_TYPES = 6
} dpu_type_t;

/* The name of the constant; "UNKNOWN" for others. */
static inline const char *dpu_type_to_string(dpu_type_t dpu_type)
{
    static const char *const names[] = { "FUNCTIONAL_SIMULATOR", "CYCLE_ACCURATE_SIMULATOR",
        "RTL_SIMULATOR", "HW", "BACKUP_SPI", "SCENARIO" };
    return (unsigned)dpu_type < NB_OF_DPU_TYPES ? names[dpu_type] : "UNKNOWN";
}

/* What stands behind "backend=" in a profile; false for a word that is no backend. */
static inline bool dpu_type_from_profile_string(const char *string, dpu_type_t *dpu_type)
{
    static const char *const words[] = { "simulator", "cas", "model", "hw", "spi", "scenario" };
    for (unsigned i = 0; i < NB_OF_DPU_TYPES; i++) {
        if (strcmp(string, words[i]) == 0) {
            *dpu_type = (dpu_type_t)i;
            return true;
        }
    }
    return false;
}

#ifdef __cplusplus
}
#endif

#endif
