/*
 * dpu_types.h - the types that all parts of the host API share.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_TYPES_H
#define CUDLA_SIM_UPMEM_DPU_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Geometry of a rank. */
#define DPU_MAX_NR_CIS 8
#define DPU_MAX_NR_DPUS_PER_CI 8
#define DPU_MAX_NR_GROUPS 8
#define MAX_NR_DPUS_PER_RANK 64
#define DPU_BOOT_THREAD 0

/* The symbol with which the free part of the MRAM starts. */
#define DPU_MRAM_HEAP_POINTER_NAME "__sys_used_mram_end"

#define DPU_API_DEPRECATED __attribute__((deprecated))

typedef uint16_t dpu_rank_id_t;
typedef uint32_t dpu_id_t;
typedef uint8_t dpu_slice_id_t;
typedef uint8_t dpu_member_id_t;
typedef uint8_t dpu_group_id_t;
typedef uint8_t dpu_thread_t;
typedef uint8_t dpu_notify_bit_id_t;
typedef uint8_t dpu_bitfield_t;
typedef uint8_t dpu_ci_bitfield_t;

/* Instruction memory counts instructions, working memory words of 32 bits, MRAM bytes. */
typedef uint64_t dpuinstruction_t;
typedef uint32_t dpuword_t;
typedef uint16_t iram_addr_t;
typedef uint16_t iram_size_t;
typedef uint32_t wram_addr_t;
typedef uint32_t wram_size_t;
typedef uint32_t mram_addr_t;
typedef uint32_t mram_size_t;
typedef uint32_t dpu_mem_max_addr_t;
typedef uint32_t dpu_mem_max_size_t;

typedef enum _dpu_launch_policy_t {
    DPU_ASYNCHRONOUS = 0,
    DPU_SYNCHRONOUS = 1
} dpu_launch_policy_t;

typedef enum _dpu_xfer_t {
    DPU_XFER_TO_DPU = 0,
    DPU_XFER_FROM_DPU = 1
} dpu_xfer_t;

typedef enum _dpu_xfer_flags_t {
    DPU_XFER_DEFAULT = 0,
    DPU_XFER_NO_RESET = 1, /* prepared buffers stay prepared */
    DPU_XFER_ASYNC = 2,
    DPU_XFER_PARALLEL = 4 /* while the DPUs run; WRAM only */
} dpu_xfer_flags_t;

typedef enum _dpu_sg_xfer_flags_t {
    DPU_SG_XFER_DEFAULT = 0,
    DPU_SG_XFER_ASYNC = 2,
    DPU_SG_XFER_DISABLE_LENGTH_CHECK = 4
} dpu_sg_xfer_flags_t;

typedef enum _dpu_callback_flags_t {
    DPU_CALLBACK_DEFAULT = 0,
    DPU_CALLBACK_ASYNC = 1,
    DPU_CALLBACK_NONBLOCKING = 2, /* the rank goes on; needs ASYNC */
    DPU_CALLBACK_SINGLE_CALL = 4, /* one call for the set instead of one for each rank */
    DPU_CALLBACK_PARALLEL = 8
} dpu_callback_flags_t;

typedef enum _dpu_clock_division_t {
    DPU_CLOCK_DIV8 = 0,
    DPU_CLOCK_DIV3 = 3,
    DPU_CLOCK_DIV4 = 4,
    DPU_CLOCK_DIV2 = 8
} dpu_clock_division_t;

#ifdef CUDLA_SIM_PARSE
#define CUDLA_SIM_UPMEM_PACKED
#else
#define CUDLA_SIM_UPMEM_PACKED __attribute__((packed))
#endif

typedef enum CUDLA_SIM_UPMEM_PACKED dpu_event_kind_t {
    DPU_EVENT_RESET = 0,
    DPU_EVENT_EXTRACT_CONTEXT = 1,
    DPU_EVENT_RESTORE_CONTEXT = 2,
    DPU_EVENT_MRAM_ACCESS_PROGRAM = 3,
    DPU_EVENT_LOAD_PROGRAM = 4,
    DPU_EVENT_DEBUG_ACTION = 5
} dpu_event_kind_t;

/* A rank and a DPU: only pointers to them are public. */
struct dpu_rank_t;
struct dpu_t;
struct dpu_program_t;

typedef enum _dpu_set_kind_t {
    DPU_SET_RANKS = 0,
    DPU_SET_DPU = 1
} dpu_set_kind_t;

struct _dpu_set_list_t {
    uint32_t nr_ranks;
    struct dpu_rank_t **ranks;
};

/* Some DPUs; passed by value everywhere. `kind` says which member of the union counts. */
struct dpu_set_t {
    dpu_set_kind_t kind;
    union {
        struct _dpu_set_list_t list;
        struct dpu_t *dpu;
    };
};

/* Where a variable of a DPU program lies. Bit 31 of the address: instructions; bit 27: MRAM. */
struct dpu_symbol_t {
    dpu_mem_max_addr_t address;
    dpu_mem_max_size_t size; /* bytes */
};

/* A program that DPU_INCBIN put into the executable. */
struct dpu_incbin_t {
    uint8_t *buffer;
    size_t size;
    const char *path;
};

/* One block of host memory in a scatter/gather transfer. */
struct sg_block_info {
    uint8_t *addr;
    uint32_t length; /* bytes */
};

/* Gives block `block_index` of DPU `dpu_index` of the set; false: there are no more. May be called
   from several threads in any order. */
typedef bool (*get_block_func_t)(struct sg_block_info *out, uint32_t dpu_index,
                                 uint32_t block_index, void *args);

/* A get_block function with its arguments, which are copied when the transfer is requested. */
typedef struct get_block_t {
    get_block_func_t f;
    void *args;
    size_t args_size; /* bytes */
} get_block_t;

#ifdef __cplusplus
}
#endif

#endif
