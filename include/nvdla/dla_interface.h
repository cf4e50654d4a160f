/*
 * dla_interface.h - the descriptors that a task consists of, as the firmware reads them from
 * memory: little endian, no padding.
 *
 * A task's network descriptor names positions in its address list; there lie the lists: one
 * operation container, one surface container and one dla_common_op_desc for each operation, look-up
 * tables, regions of interest, statistics.
 *
 * Two generations look alike: firmware before 0.12 has no `offset` in dla_data_cube. Define
 * DLA_OLD_DATA_CUBE before including this header to get that layout.
 */
#ifndef __FIRMWARE_DLA_INTERFACE_H_
#define __FIRMWARE_DLA_INTERFACE_H_

#include "nvdla_interface.h"

#ifdef CUDLA_SIM_PARSE
#define DLA_PACKED
#else
#define DLA_PACKED __attribute__((packed, aligned(4)))
#endif

/* processors, in the order of op_head, consumers and process_events */
#define DLA_OP_BDMA 0
#define DLA_OP_CONV 1
#define DLA_OP_SDP 2
#define DLA_OP_PDP 3
#define DLA_OP_CDP 4
#define DLA_OP_RUBIK 5
#define DLA_OP_NUM 6

/* register groups of a processor */
#define DLA_NUM_GROUPS 2

/* where a data cube lies: DRAM, SRAM, or nowhere because the next unit takes it directly */
#define DLA_MEM_MC 0
#define DLA_MEM_CV 1
#define DLA_MEM_HW 2

/* what a consumer waits for */
#define DLA_EVENT_OP_COMPLETED 1
#define DLA_EVENT_OP_PROGRAMMED 2
#define DLA_EVENT_OP_ENABLED 3
#define DLA_EVENT_CDMA_WT_DONE 4
#define DLA_EVENT_CDMA_DT_DONE 5

#define NUM_MAX_BDMA_OPS 20
#define PDP_PAD_VAL_NUM 7

#define CONV_MODE_DIRECT 0
#define CONV_MODE_WINOGRAD 1

#define PRECISION_INT8 0
#define PRECISION_INT16 1
#define PRECISION_FP16 2

#define BPE_PRECISION_INT8 1
#define BPE_PRECISION_INT16 2
#define BPE_PRECISION_FP16 2

/* convolution input: pixels, or feature data */
#define FORMAT_T_R8 0
#define FORMAT_T_R10 1
#define FORMAT_T_R12 2
#define FORMAT_T_R16 3
#define FORMAT_T_R16_I 4
#define FORMAT_T_R16_F 5
#define FORMAT_T_A16B16G16R16 6
#define FORMAT_T_X16B16G16R16 7
#define FORMAT_T_A16B16G16R16_F 8
#define FORMAT_T_A16Y16U16V16 9
#define FORMAT_T_V16U16Y16A16 10
#define FORMAT_T_A16Y16U16V16_F 11
#define FORMAT_T_A8B8G8R8 12
#define FORMAT_T_A8R8G8B8 13
#define FORMAT_T_B8G8R8A8 14
#define FORMAT_T_R8G8B8A8 15
#define FORMAT_T_X8B8G8R8 16
#define FORMAT_T_X8R8G8B8 17
#define FORMAT_T_B8G8R8X8 18
#define FORMAT_T_R8G8B8X8 19
#define FORMAT_T_A2B10G10R10 20
#define FORMAT_T_A2R10G10B10 21
#define FORMAT_T_B10G10R10A2 22
#define FORMAT_T_R10G10B10A2 23
#define FORMAT_T_A2Y10U10V10 24
#define FORMAT_T_V10U10Y10A2 25
#define FORMAT_T_A8Y8U8V8 26
#define FORMAT_T_V8U8Y8A8 27
#define FORMAT_T_Y8___U8V8_N444 28
#define FORMAT_T_Y8___V8U8_N444 29
#define FORMAT_T_Y10___U10V10_N444 30
#define FORMAT_T_Y10___V10U10_N444 31
#define FORMAT_T_Y12___U12V12_N444 32
#define FORMAT_T_Y12___V12U12_N444 33
#define FORMAT_T_Y16___U16V16_N444 34
#define FORMAT_T_Y16___V16U16_N444 35
#define FORMAT_FEATURE 36

#define MAP_PITCH_LINEAR 0
#define PIXEL_OVERRIDE_UINT 0
#define PIXEL_OVERRIDE_INT 1
#define WEIGHT_FORMAT_UNCOMPRESSED 0
#define WEIGHT_FORMAT_COMPRESSED 1
#define MEAN_FORMAT_DISABLE 0
#define MEAN_FORMAT_ENABLE 1

#define ACTIVATION_NONE 0
#define ACTIVATION_RELU 1
#define ACTIVATION_LUT 2
#define ACTIVATION_PRELU 3

/* look-up tables */
#define LUT_LINEAR_EXP_TABLE_ENTRY_LOG2 6
#define LUT_LINEAR_ONLY_TABLE_ENTRY_LOG2 8
#define LUT_LINEAR_EXP_TABLE 0
#define LUT_LINEAR_ONLY_TABLE 1
#define LUT_METHOD_EXPONENTIAL 0
#define LUT_METHOD_LINEAR 1
#define LUT_PRI_LINEAR_EXP 0
#define LUT_PRI_LINEAR_ONLY 1

/* SDP: which of multiplier and adder, which function, which operand for what */
#define SDP_OP_NONE 0
#define SDP_OP_MUL 1
#define SDP_OP_ADD 2
#define SDP_OP_BOTH 3
#define SDP_ALU_OP_MAX 0
#define SDP_ALU_OP_MIN 1
#define SDP_ALU_OP_SUM 2
#define SDP_ALU_OP_EQL 3
#define SDP_OP_PER_LAYER 0
#define SDP_OP_PER_KERNEL 1
#define SDP_OP_PER_POINT 2

#define POOL_MODE_AVG 0
#define POOL_MODE_MAX 1
#define POOL_MODE_MIN 2
#define POOL_SIZE_1 0
#define POOL_SIZE_2 1
#define POOL_SIZE_3 2
#define POOL_SIZE_4 3
#define POOL_SIZE_5 4
#define POOL_SIZE_6 5
#define POOL_SIZE_7 6
#define POOL_SIZE_8 7

#define RUBIK_MODE_CONTRACT 0
#define RUBIK_MODE_SPLIT 1
#define RUBIK_MODE_MERGE 2

/* --- the network and its graph -------------------------------------------------------------- */

/* Entry 0 of a task's address list. Every ..._index is a position in that list, -1 for none. */
struct dla_network_desc {
    int16_t operation_desc_index;
    int16_t surface_desc_index;
    int16_t dependency_graph_index;
    int16_t lut_data_index;
    int16_t roi_array_index;
    int16_t surface_index;
    int16_t stat_list_index;
    int16_t reserved1;
    int16_t op_head[6]; /* first operation of each processor, -1 for none */
    uint16_t num_rois;
    uint16_t num_operations;
    uint16_t num_luts;
    uint16_t num_addresses;
    int16_t input_layer;
    uint8_t dynamic_roi;
    uint8_t reserved0;
} DLA_PACKED;

/* "Tell operation `index` when `event` happens to me." */
struct dla_consumer {
    int16_t index;
    uint8_t event;
    uint8_t res;
} DLA_PACKED;

/* One node of the dependency graph. The firmware counts dependency_count down in place. */
struct dla_common_op_desc {
    int16_t index; /* set by the firmware */
    int8_t roi_index;
    uint8_t op_type;
    uint8_t dependency_count;
    uint8_t reserved0[3];
    struct dla_consumer consumers[6];
    struct dla_consumer fused_parent;
} DLA_PACKED;

struct dla_roi_array_desc {
    uint32_t array_length;
    uint32_t array_reserved;
} DLA_PACKED;

struct dla_roi_desc {
    uint32_t left;
    uint32_t top;
    uint32_t right;
    uint32_t bottom;
} DLA_PACKED;

/* --- parts of surfaces and operations ------------------------------------------------------- */

struct dla_data_cube {
    uint16_t type;   /* DLA_MEM_ */
    int16_t address; /* position in the task's address list */
#ifndef DLA_OLD_DATA_CUBE
    uint32_t offset; /* bytes to add to that address */
#endif
    uint32_t size;
    uint16_t width;
    uint16_t height;
    uint16_t channel;
    uint16_t reserved0;
    uint32_t line_stride;
    uint32_t surf_stride;
    uint32_t plane_stride; /* Rubik only */
} DLA_PACKED;

/* (x - offset) * scale >> truncate */
struct dla_cvt_param {
    int16_t scale;
    uint8_t truncate;
    uint8_t enable;
    int32_t offset;
} DLA_PACKED;

/* --- BDMA: memory to memory ----------------------------------------------------------------- */

struct dla_bdma_transfer_desc {
    int16_t source_address;
    int16_t destination_address;
    uint32_t line_size;
    uint32_t line_repeat;
    uint32_t source_line;
    uint32_t destination_line;
    uint32_t surface_repeat;
    uint32_t source_surface;
    uint32_t destination_surface;
} DLA_PACKED;

struct dla_bdma_surface_desc {
    uint8_t source_type;
    uint8_t destination_type;
    uint16_t num_transfers;
    struct dla_bdma_transfer_desc transfers[20];
} DLA_PACKED;

struct dla_bdma_op_desc {
    uint16_t num_transfers;
    uint16_t reserved0;
} DLA_PACKED;

struct dla_bdma_stat_desc {
    uint32_t read_stall;
    uint32_t write_stall;
    uint32_t runtime;
} DLA_PACKED;

/* --- convolution ---------------------------------------------------------------------------- */

struct dla_conv_surface_desc {
    struct dla_data_cube weight_data;
    struct dla_data_cube wmb_data; /* compressed weights: bit masks */
    struct dla_data_cube wgs_data; /* and sizes of groups */
    struct dla_data_cube src_data;
    struct dla_data_cube dst_data;
    int64_t offset_u; /* second plane of a planar image, relative to the first */
    uint32_t in_line_uv_stride;
} DLA_PACKED;

struct dla_conv_op_desc {
    uint8_t conv_mode;
    uint8_t data_reuse;
    uint8_t weight_reuse;
    uint8_t skip_data_rls;
    uint8_t skip_weight_rls;
    uint8_t reserved0;
    uint16_t entry_per_slice;
    uint8_t data_format;
    uint8_t pixel_mapping;
    uint16_t fetch_grain;
    uint8_t reserved_b[8];
    uint8_t batch;
    uint8_t weight_format;
    uint8_t data_bank;
    uint8_t weight_bank;
    uint32_t batch_stride;
    uint8_t post_extension;
    uint8_t pixel_override;
    uint16_t release;
    uint16_t input_width_csc;
    uint16_t input_height_csc;
    uint16_t input_channel_csc;
    uint16_t kernel_width_csc;
    uint16_t kernel_height_csc;
    uint16_t kernel_channel_csc;
    uint16_t input_width_cmac; /* width and height of the result */
    uint16_t input_height_cmac;
    uint32_t bytes_per_kernel;
    int16_t mean_ry;
    int16_t mean_gu;
    int16_t mean_bv;
    int16_t mean_ax;
    uint8_t mean_format;
    uint8_t conv_stride_x;
    uint8_t conv_stride_y;
    uint8_t pad_x_left;
    uint8_t pad_x_right;
    uint8_t pad_y_top;
    uint8_t pad_y_bottom;
    uint8_t dilation_x;
    uint8_t dilation_y;
    uint8_t reserved2[2];
    uint8_t pra_truncate;
    uint8_t in_precision;
    uint8_t out_precision; /* what the multipliers compute in */
    int16_t pad_val;
    struct dla_cvt_param in_cvt;
    struct dla_cvt_param out_cvt; /* only truncate */
} DLA_PACKED;

struct dla_conv_stat_desc {
    uint32_t data_read_stall;
    uint32_t weight_read_stall;
    uint32_t data_read_latency;
    uint32_t weight_read_latency;
    uint32_t saturation_count;
    uint32_t nan_data_num;
    uint32_t nan_weight_num;
    uint32_t inf_data_num;
    uint32_t inf_weight_num;
    uint32_t runtime;
} DLA_PACKED;

/* --- look-up tables (SDP and CDP) ----------------------------------------------------------- */

union dla_lut_offset {
    int8_t exp_offset;
    int8_t frac_bits;
    uint16_t reserved0;
};

struct dla_float_data {
    int16_t scale;
    int8_t shifter;
    uint8_t reserved0;
} DLA_PACKED;

union dla_slope {
    struct dla_float_data data_i;
    uint16_t data_f;
};

struct dla_lut_param {
    int16_t linear_exp_table[65];
    int16_t linear_only_table[257];
    union dla_lut_offset linear_exp_offset;
    union dla_lut_offset linear_only_offset;
    uint64_t linear_exp_start;
    uint64_t linear_exp_end;
    uint64_t linear_only_start;
    uint64_t linear_only_end;
    union dla_slope linear_exp_underflow_slope;
    union dla_slope linear_exp_overflow_slope;
    union dla_slope linear_only_underflow_slope;
    union dla_slope linear_only_overflow_slope;
    uint8_t hybrid_priority;
    uint8_t underflow_priority;
    uint8_t overflow_priority;
    uint8_t method;
} DLA_PACKED;

/* --- SDP: single data points ---------------------------------------------------------------- */

struct dla_sdp_surface_desc {
    struct dla_data_cube src_data;
    struct dla_data_cube x1_data;
    struct dla_data_cube x2_data;
    struct dla_data_cube y_data;
    struct dla_data_cube dst_data;
} DLA_PACKED;

struct dla_sdp_cvt {
    struct dla_cvt_param alu_cvt;
    struct dla_cvt_param mul_cvt;
} DLA_PACKED;

struct dla_sdp_op {
    uint8_t enable;
    uint8_t alu_type; /* SDP_ALU_OP_ */
    uint8_t type;     /* SDP_OP_ */
    uint8_t mode;     /* SDP_OP_PER_ */
    uint8_t act;      /* ACTIVATION_ */
    uint8_t shift_value;
    uint8_t truncate;
    uint8_t precision;
    int32_t alu_operand;
    int32_t mul_operand;
    struct dla_sdp_cvt cvt;
} DLA_PACKED;

struct dla_sdp_op_desc {
    uint8_t src_precision;
    uint8_t dst_precision;
    int16_t lut_index;
    struct dla_cvt_param out_cvt;
    uint8_t conv_mode;
    uint8_t batch_num;
    uint16_t reserved0;
    uint32_t batch_stride;
    struct dla_sdp_op x1_op;
    struct dla_sdp_op x2_op;
    struct dla_sdp_op y_op;
} DLA_PACKED;

struct dla_sdp_stat_desc {
    uint32_t nan_input_num;
    uint32_t inf_input_num;
    uint32_t nan_output_num;
    uint32_t wdma_write_stall;
    uint32_t lut_underflow;
    uint32_t lut_overflow;
    uint32_t lut_hybrid;
    uint32_t lut_le_hit;
    uint32_t lut_lo_hit;
    uint32_t saturation_count;
    uint32_t runtime;
} DLA_PACKED;

/* --- PDP: pooling --------------------------------------------------------------------------- */

struct dla_pdp_surface_desc {
    struct dla_data_cube src_data;
    struct dla_data_cube dst_data;
} DLA_PACKED;

struct dla_pdp_op_desc {
    uint16_t partial_in_width_first;
    uint16_t partial_in_width_mid;
    uint16_t partial_in_width_last;
    uint16_t partial_width_first;
    uint16_t partial_width_mid;
    uint16_t partial_width_last;
    uint8_t split_num;
    uint8_t pool_mode;   /* POOL_MODE_ */
    uint8_t pool_width;  /* POOL_SIZE_ */
    uint8_t pool_height;
    uint8_t stride_x;
    uint8_t stride_y;
    uint8_t pad_left;
    uint8_t pad_right;
    uint8_t pad_top;
    uint8_t pad_bottom;
    uint8_t precision;
    uint8_t reserved0;
    int32_t padding_value[7]; /* multiples 1 to 7 of the padding value */
} DLA_PACKED;

struct dla_pdp_stat_desc {
    uint32_t inf_input_num;
    uint32_t nan_input_num;
    uint32_t nan_output_num;
    uint32_t write_stall;
    uint32_t runtime;
} DLA_PACKED;

/* --- CDP: normalisation across channels ----------------------------------------------------- */

struct dla_cdp_surface_desc {
    struct dla_data_cube src_data;
    struct dla_data_cube dst_data;
} DLA_PACKED;

struct dla_cdp_op_desc {
    uint8_t in_precision;
    uint8_t out_precision;
    int16_t lut_index;
    struct dla_cvt_param in_cvt;
    struct dla_cvt_param out_cvt;
    uint8_t local_size;
    uint8_t bypass_sqsum;
    uint8_t bypass_out_mul;
    uint8_t reserved0;
} DLA_PACKED;

struct dla_cdp_stat_desc {
    uint32_t nan_input_num;
    uint32_t inf_input_num;
    uint32_t nan_output_num;
    uint32_t write_stall;
    uint32_t lut_uflow;
    uint32_t lut_oflow;
    uint32_t lut_hybrid;
    uint32_t lut_le_hit;
    uint32_t lut_lo_hit;
    uint32_t saturation_count;
    uint32_t runtime;
} DLA_PACKED;

/* --- Rubik: reshaping ----------------------------------------------------------------------- */

struct dla_rubik_surface_desc {
    struct dla_data_cube src_data;
    struct dla_data_cube dst_data;
} DLA_PACKED;

struct dla_rubik_op_desc {
    uint8_t mode;
    uint8_t precision;
    uint8_t stride_x;
    uint8_t stride_y;
} DLA_PACKED;

struct dla_rubik_stat_desc {
    uint32_t read_stall;
    uint32_t write_stall;
    uint32_t runtime;
} DLA_PACKED;

/* --- one entry of each list ----------------------------------------------------------------- */

union dla_surface_container {
    struct dla_bdma_surface_desc bdma_surface;
    struct dla_conv_surface_desc conv_surface;
    struct dla_sdp_surface_desc sdp_surface;
    struct dla_pdp_surface_desc pdp_surface;
    struct dla_cdp_surface_desc cdp_surface;
    struct dla_rubik_surface_desc rubik_surface;
};

union dla_operation_container {
    struct dla_bdma_op_desc bdma_op;
    struct dla_conv_op_desc conv_op;
    struct dla_sdp_op_desc sdp_op;
    struct dla_pdp_op_desc pdp_op;
    struct dla_cdp_op_desc cdp_op;
    struct dla_rubik_op_desc rubik_op;
};

union dla_stat_container {
    struct dla_bdma_stat_desc bdma_stat;
    struct dla_conv_stat_desc conv_stat;
    struct dla_sdp_stat_desc sdp_stat;
    struct dla_pdp_stat_desc pdp_stat;
    struct dla_cdp_stat_desc cdp_stat;
    struct dla_rubik_stat_desc rubik_stat;
};

struct dla_task_status {
    uint64_t timestamp;
    uint32_t status_engine;
    uint16_t subframe;
    uint16_t status_task;
} DLA_PACKED;

#endif
