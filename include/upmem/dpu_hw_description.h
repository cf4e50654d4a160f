/*
 * dpu_hw_description.h - what a rank is made of.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_HW_DESCRIPTION_H
#define CUDLA_SIM_UPMEM_DPU_HW_DESCRIPTION_H

#include <stdint.h>

#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dpu_carousel_config {
    uint8_t cmd_duration;
    uint8_t cmd_sampling;
    uint8_t res_duration;
    uint8_t res_sampling;
};

struct dpu_bit_config {
    uint16_t cpu2dpu;
    uint16_t dpu2cpu;
    uint8_t nibble_swap;
    uint8_t stutter;
};

struct dpu_hw_description_t {
    struct {
        uint32_t chip_id;
    } signature;

    struct {
        struct dpu_carousel_config carousel;
        uint32_t fck_frequency_in_mhz;
        uint8_t reset_wait_duration;
        uint8_t std_temperature;
        uint8_t clock_division;
    } timings;

    struct {
        uint8_t nr_of_control_interfaces;
        uint8_t nr_of_dpus_per_control_interface;
        uint8_t ci_mask;
    } topology;

    struct {
        mram_size_t mram_size; /* bytes */
        wram_size_t wram_size; /* words of 32 bits */
        iram_size_t iram_size; /* instructions */
        uint8_t ci_pc_lsb_nr_phys_bits;
    } memories;

    struct {
        struct dpu_bit_config pcb_transformation;
        uint8_t nr_of_threads;
        uint32_t nr_of_atomic_bits;
        uint32_t nr_of_notify_bits;
        uint8_t nr_of_work_registers_per_thread;
    } dpu;
};

#ifdef __cplusplus
}
#endif

#endif
