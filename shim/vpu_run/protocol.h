/*
 * What a VPU worker and the host process share. build_ffi.py writes it for Python, as
 * cudla_sim.constants.pva_protocol.
 *
 * One control file a worker:
 *   +0x00000  struct pva_reply
 *   +0x00f80  struct pva_gate (gate.h)
 *   +0x01000  struct pva_request, its parameters and its flows
 *   +0x10000  descriptors of the flows, as dma.h has them
 * A message on a socket is one 32-bit number; gate.h says who sends it to whom.
 */
#ifndef CUDLA_SIM_VPU_PROTOCOL_H
#define CUDLA_SIM_VPU_PROTOCOL_H

#include <stdint.h>

#include "cupva_types.h"

#define PVA_PROTOCOL_VERSION 2u
#define PVA_REQUEST_AT 0x1000u
#define PVA_LISTS_AT 0x10000u
#define PVA_CONTROL_SIZE 0x20000000u

/* VMEM: three superbanks; programs are linked for this window. */
#define PVA_VMEM_WINDOW 0x10000000u
#define PVA_BANK_STRIDE 0x40000u
#define PVA_VMEM_SIZE (3 * PVA_BANK_STRIDE)

#define PVA_MAX_FLOWS 64

/* What a handler variable is. */
enum pva_kind {
    PVA_KIND_DATA = 0,
    PVA_KIND_RASTER = 1,
    PVA_KIND_TENSOR = 2,
    PVA_KIND_SEQUENCE = 3,
    PVA_KIND_GATHER_SCATTER = 4,
    PVA_KIND_DYNAMIC = 5,
    PVA_KIND_CONFIG = 6,
    PVA_KIND_POINTER = 7,
    PVA_KIND_SURFACE = 8,
    PVA_KIND_RASTER_UNIFIED = 9,
};

struct pva_parameter {
    uint32_t at; /* VMEM offset */
    uint32_t size;
    uint64_t bytes_at; /* in the control file */
};

struct pva_flow_request {
    int32_t kind;
    int32_t handler;  /* VMEM offset; -1: runs to its end before the kernel starts */
    uint64_t list_at; /* in the control file */
    uint64_t count;
    cupvaFlowInfo info;
};

struct pva_request {
    uint32_t version;
    uint32_t vpu;
    uint32_t nr_parameters; /* struct pva_parameter follows this structure */
    uint32_t nr_flows;      /* then struct pva_flow_request */
    uint32_t run_kernel;    /* 0: only the dataflows */
    uint16_t delivery;      /* enum pva_delivery */
    uint16_t reserved;
    uint32_t watch;         /* enum pva_watching */
    uint32_t seed;          /* of PVA_AT_RANDOM */
};

/* When the data of a trigger moves. */
enum pva_delivery {
    PVA_AT_TRIGGER = 0,
    PVA_AT_SYNC = 1,
    PVA_AT_RANDOM = 2,
};

/* VMEM that changes between a trigger and its sync. */
enum pva_watching {
    PVA_WATCH_OFF = 0,
    PVA_WATCH_REPORT = 1,
    PVA_WATCH_FAULT = 2,
};

enum pva_status {
    PVA_RUNNING = 0,
    PVA_DONE = 1,
    PVA_FAULT = 2,
    PVA_DMA_TIMEOUT = 3, /* a sync that nothing can ever end */
    PVA_UNFINISHED = 4,  /* the kernel ended, a dataflow did not */
    PVA_INTERRUPTED = 5, /* the host stopped it */
};

enum pva_cause {
    PVA_CAUSE_NONE = 0,
    PVA_CAUSE_MEMORY = 1,      /* address: what was touched */
    PVA_CAUSE_DIVISION = 2,
    PVA_CAUSE_INSTRUCTION = 3,
    PVA_CAUSE_ABORT = 4,       /* abort() or a failed assertion; words in text */
    PVA_CAUSE_OVERRUN = 5,     /* address: first byte changed outside every variable */
    PVA_CAUSE_SYNC = 6,        /* sync without trigger; flow */
    PVA_CAUSE_TRIGGER = 7,     /* triggered beyond its end; flow */
    PVA_CAUSE_HANDLER = 8,     /* a handler without a dataflow; flow: the number in it */
    PVA_CAUSE_RANGE = 9,       /* a descriptor leaves memory; flow */
    PVA_CAUSE_ORDER = 10,      /* functions of a dataflow called in a wrong order; words in text */
    PVA_CAUSE_STACK = 11,
    PVA_CAUSE_UNFINISHED = 12, /* flow */
    PVA_CAUSE_NAN = 13,        /* an operation made a NaN */
    PVA_CAUSE_PENDING = 14,    /* address: VMEM that changed before its sync; flow */
    PVA_CAUSE_REMARKS = 15,    /* done, but see unsynced and written_flow */
};

struct pva_flow_state {
    uint32_t triggers;
    uint32_t syncs;
    uint32_t finished;
    uint32_t unsynced; /* triggers that the kernel has not waited for */
};

struct pva_reply {
    uint32_t version;
    uint32_t status;
    uint32_t cause;
    int32_t value;
    uint64_t address;
    uint64_t pc;
    uint32_t flow; /* number from 1 */
    uint32_t chain_length;
    uint64_t chain[8]; /* return addresses, innermost first */
    char text[256];
    struct pva_flow_state flows[PVA_MAX_FLOWS];
    uint64_t written_at, written_pc; /* the first byte that PVA_WATCH_REPORT has found */
    uint32_t written_flow;           /* its dataflow, from 1; 0: none */
    uint32_t reserved;
};

#ifndef __cplusplus
_Static_assert(sizeof(struct pva_reply) <= 0xF80, "the gate lies behind the reply");
#endif

#endif
