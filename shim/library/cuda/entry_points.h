/* The driver's functions by name. */
#ifndef CUDLA_SIM_CUDA_ENTRY_POINTS_H
#define CUDLA_SIM_CUDA_ENTRY_POINTS_H

#include <stddef.h>

struct sim_driver_function {
    const char *name;
    void (*function)(void);
};

/* Generated from the header. */
extern const struct sim_driver_function sim_driver_table[];
extern const size_t sim_driver_table_size;

#endif
