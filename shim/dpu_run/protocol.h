/*
 * What a DPU worker and the host process share. build_ffi.py writes it for Python, as
 * cudla_sim.constants.dpu_protocol. Only fixed-width types: a worker's code may have 32-bit pointers.
 *
 * One memory file holds every DPU of the process. DPU slot s starts at byte s * stride:
 *   +0x0000000  MRAM, 64 MiB
 *   +0x4000000  WRAM, 64 KiB
 *   +0x4010000  side page: struct dpu_side
 *   +0x4010f00  bytes that the host moved into each 2 MiB of MRAM, 32 words
 *   +0x4010ffc  one bit for each 2 MiB of MRAM: large pages were asked for
 *   +0x4011000  struct dpu_core: registers and flags of a DPU that executes the vendor's instructions
 *   +0x4018000  IRAM of such a DPU, 8 bytes an instruction
 *   +0x4020000  counters of a profiled program, for each module and tasklet (profile.c); of a DPU that
 *               executes the vendor's instructions what a trace recorded: struct dpu_trace[]
 *   +0x4100000  one bit for each 8-byte word of MRAM: it has been written (1 MiB)
 * One control file holds the frames: a frame is one launch that several workers share.
 */
#ifndef DPU_RUN_PROTOCOL_H
#define DPU_RUN_PROTOCOL_H

#include <stdint.h>

#define SLOT_MRAM 0x0000000u
#define SLOT_WRAM 0x4000000u
#define SLOT_SIDE 0x4010000u
#define SLOT_MOVED 0x4010f00u
#define SLOT_LARGE 0x4010ffcu
#define SLOT_CORE 0x4011000u
#define SLOT_IRAM 0x4018000u
#define SLOT_PROFILE 0x4020000u
#define SLOT_WRITTEN 0x4100000u
#define PROFILE_SIZE (SLOT_WRITTEN - SLOT_PROFILE)
#define SLOT_END 0x4200000u
#define SIDE_SIZE 0x1000u /* the page */

#define WRAM_SIZE 0x10000u
#define MRAM_SIZE 0x4000000u
#define MAX_TASKLETS 24
#define NR_REGISTERS 24
#define IRAM_INSTRUCTIONS 4096u
#define INSTRUCTION_BYTES 8u
#define ATOMIC_BITS 256
#define WATCHES 4
#define WATCH_BYTES 8u /* at most */
#define WATCH_MRAM 0x80000000u
#define WATCH_CHANGES 0
#define WATCH_READS 1
#define WATCH_BOTH 2 /* reads and writes, of the same value too */
#define RUN_BITS 256 /* of tasklets, and flags above them */

/* Addresses that the linker script fixes (program.ld). */
#define WRAM_BASE 0x07e00000u
#define MRAM_BASE 0x08000000u
#define WRITTEN_BASE 0x0e000000u /* map of the written words, from the first DMA on */
#define STACKS_BASE 0x10000000u
#define STACK_STRIDE 0x100000u
#define STACKS_END (STACKS_BASE + MAX_TASKLETS * STACK_STRIDE)
#define TEXT_BASE 0x20000000u
#define IRAM_BASE 0x80000000u /* in the DPU's own map */

/* How a DPU's last launch ended; also the status byte of a slot in a frame. */
enum dpu_state {
    STATE_PENDING = 0,
    STATE_RUNNING = 1,
    STATE_DONE = 2,
    STATE_FAULT = 3,
    STATE_WARNED = 4,
};

/* Why a DPU stopped, and what a strict check saw. */
enum fault_kind {
    FAULT_NONE = 0,
    FAULT_PROGRAM = 1,      /* the `fault` instruction; code: 1 heap, 2 division, 3 assert, ... */
    FAULT_DEADLOCK = 2,     /* every tasklet that has not ended waits */
    FAULT_MEMORY = 3,       /* an access outside WRAM, MRAM and the stacks */
    FAULT_NULL = 4,         /* an access near address 0 */
    FAULT_STACK = 5,        /* stack overflow */
    FAULT_INSTRUCTION = 6,  /* an illegal instruction, or a jump outside the program */
    FAULT_MRAM_ALIGN = 7,   /* MRAM or WRAM address of a DMA is not a multiple of 8 */
    FAULT_MRAM_BOUNDS = 8,  /* MRAM address of a DMA is outside the 64 MiB */
    FAULT_DMA_SIZE = 9,     /* size of a DMA is not a multiple of 8 in 8..2048 */
    FAULT_DMA_WRAM = 10,    /* WRAM address of a DMA is outside WRAM and the stacks */
    FAULT_UNWRITTEN = 11,   /* MRAM that nobody has written was read */
    FAULT_RACE = 12,        /* two tasklets wrote one WRAM word without a lock between them */
    FAULT_WORKER = 13,      /* the worker process died */
    FAULT_CANCELLED = 14,   /* the host stopped the launch */
    FAULT_HEAP = 15,        /* the heap took what a DPU needs for its stacks */
    FAULT_UNKNOWN = 16,     /* an instruction whose effect nobody has published; other: its word */
    FAULT_JUMP = 17,        /* to an address outside IRAM */
    FAULT_BIT = 18,         /* acquire or release of an atomic bit that there is not */
    FAULT_STOPPED = 19,     /* a debugger stopped it; it can go on */
};

/* What a tasklet waits for. */
enum wait_kind {
    WAIT_NONE = 0,
    WAIT_BARRIER = 1,
    WAIT_MUTEX = 2,
    WAIT_SEMAPHORE = 3,
    WAIT_NOTIFY = 4,    /* in handshake_notify: nobody has consumed it */
    WAIT_HANDSHAKE = 5, /* in handshake_wait_for: object is the tasklet waited for */
    WAIT_VMUTEX = 6,
    WAIT_STOPPED = 7,   /* executed `stop` and nobody resumed it */
    WAIT_ENDED = 8,
};

/* Strict checks: two bits each in the `checks` word. */
enum { CHECK_OFF = 0, CHECK_WARN = 1, CHECK_FAULT = 2 };
enum check {
    CHECK_MRAM_ALIGNMENT = 0,
    CHECK_MRAM_BOUNDS = 1,
    CHECK_DMA_SIZE = 2,
    CHECK_WRAM_BOUNDS = 3,
    CHECK_STACK_OVERFLOW = 4,
    CHECK_MRAM_UNWRITTEN = 5,
    CHECK_RACE = 6,
    CHECK_HEAP_ON_STACKS = 7,
    CHECK_NULL_POINTER = 8,
    CHECK_SG_OVERLAP = 9, /* the host's */
    CHECK_DEADLOCK = 10,
    CHECK_PREPARED_TWICE = 11, /* the host's */
};

struct dpu_wait {
    uint32_t kind;
    uint32_t object;
    uint64_t pc;
};

struct dpu_event {
    uint32_t kind; /* enum fault_kind */
    uint32_t code;
    uint32_t tasklet;
    uint32_t size;
    uint64_t pc;
    uint64_t address;
    uint64_t other; /* race: pc of the other tasklet's slice; DMA: the WRAM address */
    uint32_t other_tasklet;
    uint32_t chain_length;
    uint64_t chain[8]; /* return addresses in the user's code, innermost first */
};

#define MAX_WARNINGS 12

/* Hardware time of one tasklet, see times.c. */
struct tasklet_times {
    uint64_t half_instructions; /* retries included */
    uint64_t retries;           /* instructions that waited for a lock */
    uint64_t dma_cycles;        /* asleep until the end of a transfer */
    uint64_t wait_cycles;       /* stopped: barriers, handshakes, semaphores */
    uint64_t end_cycles;        /* from the start of the launch */
    uint64_t dma_read, dma_written; /* bytes */
    uint64_t dma_transfers;
};

struct dpu_times {
    uint32_t counted; /* the launch was timed and ended */
    uint32_t reserved;
    uint64_t engine_cycles; /* the DMA engine was busy */
    struct tasklet_times tasklets[MAX_TASKLETS];
};

struct dpu_side {
    uint32_t version; /* PROTOCOL_VERSION once a worker has run this DPU */
    uint32_t state;
    uint32_t nr_warnings;
    uint32_t nr_tasklets;
    uint64_t cycles; /* estimate for the launch */
    uint64_t instructions;
    uint64_t log_total;   /* bytes printed in the launch */
    uint32_t log_bytes;   /* bytes held in the buffer */
    uint32_t log_wrapped; /* the buffer was too small */
    struct dpu_event fault;
    struct dpu_wait waits[MAX_TASKLETS];
    struct dpu_event warnings[MAX_WARNINGS];
    struct dpu_times times;
};

#define WAIT_FUNCTIONS 8

/*
 * What a DPU that executes the vendor's instructions keeps from one launch to the next, apart from its
 * memories. The host fills it when it loads a program.
 */
struct dpu_core {
    uint32_t nr_tasklets; /* that the program was linked for */
    uint32_t wram_bytes;  /* of the chip; IRAM's in instructions */
    uint32_t iram_instructions;
    /* Functions in which a tasklet stops until another one resumes it: first instruction, and end. */
    uint32_t wait_first[WAIT_FUNCTIONS], wait_end[WAIT_FUNCTIONS];
    uint32_t registers[MAX_TASKLETS][NR_REGISTERS];
    uint16_t pc[MAX_TASKLETS]; /* index of the next instruction */
    uint8_t zero[MAX_TASKLETS], carry[MAX_TASKLETS];
    uint8_t atomic[ATOMIC_BITS]; /* 1: taken */
    uint8_t run[RUN_BITS];

    /* What a stopped DPU needs to go on as if nothing had been. */
    uint8_t live[MAX_TASKLETS], started[MAX_TASKLETS]; /* not stopped; booted in this launch */
    uint32_t pending[MAX_TASKLETS]; /* instructions that are executed, but not issued yet */
    uint64_t due[MAX_TASKLETS];     /* cycle in which it issues next */
    uint64_t since[MAX_TASKLETS], instructions[MAX_TASKLETS];
    uint64_t cycles, engine_free, counter_base, counter_kept;
    uint32_t counts, last_row, part;

    /* Memory, from WRAM's begin or MRAM's: the DPU stops behind an instruction that changes it, or reads it. */
    uint32_t watched_at[WATCHES]; /* WATCH_MRAM: in MRAM */
    uint32_t watched_bytes[WATCHES]; /* 0: none */
    uint32_t watched_for[WATCHES]; /* WATCH_... */
    uint32_t watch_hit, watch_tasklet; /* one more than the number of the one that it stopped for */

    uint32_t stop;   /* the host wants it to stop, and has sent SIGUSR1 */
    uint32_t traced; /* records that the last launch left */
};

/* How a frame's DPUs begin. Only those that execute the vendor's instructions can do more than boot. */
enum start {
    START_BOOT = 0,   /* tasklet 0 at its first instruction */
    START_RESUME = 1, /* where they have stopped */
    START_STEP = 2,   /* one instruction of one tasklet */
};

/* One executed instruction. */
struct dpu_trace {
    uint64_t cycle;
    uint16_t index;  /* of the instruction */
    uint8_t tasklet;
    uint8_t first;   /* register that it wrote, of a pair the even one; 255: none */
    uint8_t count;   /* of registers that it wrote */
    uint8_t zero, carry; /* flags after it */
    uint8_t reserved;
    uint32_t value, second; /* of a pair: its even register, its odd one */
};
#define TRACE_RECORDS 32768u

#define PROTOCOL_VERSION 3u

#define FRAME_SLOTS 4096
#define FRAME_STRIDE 0x8000u
#define MAX_FRAMES 64

struct frame {
    uint32_t nr_slots;
    uint32_t unused;
    uint32_t checks; /* two bits a check */
    uint32_t cancel; /* not 0: take no more slots */
    uint32_t timed;  /* 1: DPUs run in hardware time, if their program counts */
    uint32_t start;  /* enum start */
    uint32_t tasklet; /* that makes a step */
    /* A trace: at most so many records (0: none), of instructions in a range, of tasklets in a mask. */
    uint32_t trace_limit, trace_first, trace_end, trace_tasklets;
    uint32_t reserved[5];
    uint32_t slots[FRAME_SLOTS];
    uint16_t owner[FRAME_SLOTS]; /* worker that took it */
    uint8_t status[FRAME_SLOTS]; /* atomic: who makes it RUNNING has taken the slot */
};

_Static_assert(sizeof(struct dpu_side) <= SLOT_MOVED - SLOT_SIDE, "the side page");
_Static_assert(sizeof(struct dpu_core) <= SLOT_IRAM - SLOT_CORE, "registers and flags");
_Static_assert(TRACE_RECORDS * sizeof(struct dpu_trace) <= PROFILE_SIZE, "records of a trace");
_Static_assert(SLOT_IRAM + IRAM_INSTRUCTIONS * INSTRUCTION_BYTES <= SLOT_PROFILE, "IRAM");
_Static_assert(sizeof(struct frame) <= FRAME_STRIDE, "a frame");

#endif
