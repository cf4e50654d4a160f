/*
 * nvdla_player.h - plays a recorded run on an NVDLA, on bare metal or anywhere else.
 *
 * It needs a C99 compiler and nothing of a C library. The core must be as after reset; the memory
 * image (memory.bin) must lie at nvdla_trace.memory_base before nvdla_play() is called.
 */
#ifndef NVDLA_PLAYER_H
#define NVDLA_PLAYER_H

#include <stddef.h>
#include <stdint.h>

enum nvdla_step_kind {
    NVDLA_WRITE, /* write value to the register */
    NVDLA_POLL,  /* read the register until it is value under the mask in extra */
    NVDLA_AWAIT, /* wait for the interrupt status bits in value, and clear them */
    NVDLA_CHECK, /* CRC-32 of extra bytes at address must be value */
    NVDLA_LOAD   /* copy extra bytes of the trace's data, from value on, to address */
};

struct nvdla_step {
    uint32_t kind;
    uint32_t address;
    uint32_t value;
    uint32_t extra;
};

struct nvdla_trace {
    const char *name;
    const char *configuration;
    uint32_t memory_base;
    uint32_t memory_size;
    uint32_t status; /* address of GLB.S_INTR_STATUS */
    uint32_t count;
    const struct nvdla_step *steps;
    const uint8_t *data;
};

/* The board. Functions that are NULL are not needed. */
struct nvdla_board {
    uint32_t (*reg_read)(void *board, uint32_t address);
    void (*reg_write)(void *board, uint32_t address, uint32_t value);
    /* Where the processor sees memory of the core; NULL: at the same address. Called before each
       access: the place for cache maintenance. */
    void *(*memory)(void *board, uint32_t address, uint32_t size);
    /* Called between two reads of a register that is waited for: time passes, or the processor
       sleeps until an interrupt. */
    void (*wait)(void *board);
    uint32_t polls; /* reads before a wait is given up; 0: never */
    void *board;
};

struct nvdla_result {
    int ok;
    const char *why;  /* "" or what went wrong */
    uint32_t step;    /* the step that failed */
    uint32_t found;   /* register value or CRC that was found */
    uint32_t steps;   /* steps done */
    uint32_t checks;  /* checks that held */
};

struct nvdla_result nvdla_play(const struct nvdla_trace *trace, const struct nvdla_board *board);

extern const struct nvdla_trace nvdla_trace;

#endif
