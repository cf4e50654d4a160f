/*
 * dpu_transfer_matrix.h - one host buffer for each DPU of a rank.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_TRANSFER_MATRIX_H
#define CUDLA_SIM_UPMEM_DPU_TRANSFER_MATRIX_H

#include <stdint.h>

#include "dpu_error.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum dpu_transfer_matrix_type_t {
    DPU_DEFAULT_XFER_MATRIX = 0,
    DPU_SG_XFER_MATRIX = 1
} dpu_transfer_matrix_type_t;

/* The blocks of one DPU in a scatter/gather transfer. */
struct sg_xfer_buffer {
    uint32_t max_nr_blocks;
    uint8_t **blocks_addr;
    uint32_t *blocks_length; /* bytes */
    uint32_t nr_blocks;
};

struct dpu_transfer_matrix {
    union {
        void *ptr[MAX_NR_DPUS_PER_RANK];
        struct sg_xfer_buffer *sg_ptr[MAX_NR_DPUS_PER_RANK];
    };
    uint32_t offset; /* MRAM and instructions: bytes, instructions; WRAM: words */
    uint32_t size;
    dpu_transfer_matrix_type_t type;
};

void dpu_transfer_matrix_add_dpu(struct dpu_t *dpu, struct dpu_transfer_matrix *transfer_matrix,
                                 void *buffer);
/* For DPU_SG_XFER_MATRIX; DPU_ERR_INTERNAL for others, and when there is no room for the block. */
dpu_error_t dpu_transfer_matrix_add_dpu_block(struct dpu_t *dpu,
                                              struct dpu_transfer_matrix *transfer_matrix,
                                              void *buffer, uint32_t length);
void dpu_transfer_matrix_set_all(struct dpu_rank_t *rank,
                                 struct dpu_transfer_matrix *transfer_matrix, void *buffer);
void dpu_transfer_matrix_clear_dpu(struct dpu_t *dpu,
                                   struct dpu_transfer_matrix *transfer_matrix);
void dpu_transfer_matrix_clear_all(struct dpu_rank_t *rank,
                                   struct dpu_transfer_matrix *transfer_matrix);
void dpu_transfer_matrix_copy(struct dpu_transfer_matrix *dst, struct dpu_transfer_matrix *src);
void *dpu_transfer_matrix_get_ptr(struct dpu_t *dpu, struct dpu_transfer_matrix *transfer_matrix);

#ifdef __cplusplus
}
#endif

#endif
