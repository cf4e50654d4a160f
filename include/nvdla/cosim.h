/*
 * nvdla/cosim.h - an NVDLA that is not ours, below our driver.
 *
 * A shared library that defines these functions stands for one or more NVDLA cores: a Verilated RTL,
 * an FPGA behind PCIe or JTAG, another simulator. cudla-sim loads it
 *
 *     cudla-sim nvdla run net.nvdla --on cosim:./libmine.so
 *     CUDLA_SIM_CHIP=cosim:./libmine.so ./a_cudla_program
 *     Core(chip="cosim:./libmine.so")                               (Python)
 *
 * and its firmware then programs these registers instead of those of its own model. The memory that
 * the core's DMA reaches belongs to the library; cudla-sim copies tensors, weights and results.
 *
 * cudla-sim implements none of these functions: you do, with C linkage. All calls for one core come
 * one at a time, but not always from the same thread. Functions that return int return 0 for success
 * unless they say otherwise, and a negative number when they failed; nvdla_cosim_error() then says
 * why.
 */
#ifndef NVDLA_COSIM_H
#define NVDLA_COSIM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NVDLA_COSIM_VERSION 1

/* A core of yours; what is in it is your affair. */
typedef struct nvdla_cosim_core nvdla_cosim_core;

/* What a library says of a core that was opened. */
typedef struct nvdla_cosim_info {
    uint32_t version;          /* NVDLA_COSIM_VERSION of the header that it was compiled with */
    uint32_t reserved;         /* 0 */
    const char *configuration; /* "nv_small", "nv_large", "nv_full", ... */
    uint64_t memory_base;      /* bus address of the memory that both ports of the DMA reach */
    uint64_t memory_size;      /* its bytes */
} nvdla_cosim_info;

/*
 * Opens a core in its state after reset; NULL when that fails (nvdla_cosim_error(NULL) says why).
 * options is what the user wrote behind the first comma of cosim:LIB.so,..., "" if nothing.
 */
nvdla_cosim_core *nvdla_cosim_open(const char *options, nvdla_cosim_info *info);

/* Gives it back. No call for it comes afterwards. */
void nvdla_cosim_close(nvdla_cosim_core *core);

/* Puts the core into its state after reset; memory may keep its bytes. */
int nvdla_cosim_reset(nvdla_cosim_core *core);

/* Registers, by the byte address of the configuration space bus (SDP.D_OP_ENABLE of nv_small is
   0x9038). These may take time on the core's clock. */
int nvdla_cosim_reg_write(nvdla_cosim_core *core, uint32_t address, uint32_t value);
int nvdla_cosim_reg_read(nvdla_cosim_core *core, uint32_t address, uint32_t *value);

/* Memory as the core sees it, through no port of the core: no time passes. */
int nvdla_cosim_mem_write(nvdla_cosim_core *core, uint64_t address, const void *data,
                          uint64_t size);
int nvdla_cosim_mem_read(nvdla_cosim_core *core, uint64_t address, void *data, uint64_t size);

/*
 * Lets time pass until the interrupt line is up, but no more than so many cycles of the core's
 * clock: 1 when the line is up, 0 when it is not. Real hardware waits for an interrupt for as long
 * as these cycles take, or longer.
 */
int nvdla_cosim_advance(nvdla_cosim_core *core, uint64_t cycles);

/* The level of the interrupt line now: 1 or 0. */
int nvdla_cosim_interrupt(nvdla_cosim_core *core);

/* Cycles since reset, for reports; 0 always where they are not counted. */
uint64_t nvdla_cosim_cycles(nvdla_cosim_core *core);

/* Why the last call failed, as a sentence. NULL stands for nvdla_cosim_open(). */
const char *nvdla_cosim_error(nvdla_cosim_core *core);

#ifdef __cplusplus
}
#endif

#endif
