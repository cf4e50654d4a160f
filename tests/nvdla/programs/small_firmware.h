/* Programs one convolution of nv_full by its registers: 32 channels of 2 lines of 4 pixels, 32
   kernels of 1 x 1, int8, SDP hands the sums on. */
#include <stdint.h>

#include "nvdla/nvdla_interface.h"
#include "nvdla/opendla.h"

enum { WIDTH = 4, HEIGHT = 2, CHANNELS = 32, LINE = WIDTH * 32, BYTES = LINE * HEIGHT };

#define SIZE (((HEIGHT - 1u) << 16) | (WIDTH - 1u))
#define BOTH_PACKED 0x10001u

static void program(void *context, uint64_t input, uint64_t weights, uint64_t output)
{
    const uint32_t pairs[][2] = {
        {CDMA_D_MISC_CFG_0, 0}, /* int8 everywhere: after reset these say int16 */
        {CSC_D_MISC_CFG_0, 0},
        {CMAC_A_D_MISC_CFG_0, 0},
        {CMAC_B_D_MISC_CFG_0, 0},
        {CACC_D_MISC_CFG_0, 0},
        {SDP_D_DATA_FORMAT_0, 0},
        {CDMA_D_DATAIN_SIZE_0_0, SIZE},
        {CDMA_D_DATAIN_SIZE_1_0, CHANNELS - 1},
        {CDMA_D_DATAIN_SIZE_EXT_0_0, SIZE},
        {CDMA_D_DAIN_RAM_TYPE_0, 1},
        {CDMA_D_DAIN_ADDR_HIGH_0_0, (uint32_t)(input >> 32)},
        {CDMA_D_DAIN_ADDR_LOW_0_0, (uint32_t)input},
        {CDMA_D_LINE_STRIDE_0, LINE},
        {CDMA_D_SURF_STRIDE_0, BYTES},
        {CDMA_D_DAIN_MAP_0, BOTH_PACKED},
        {CDMA_D_WEIGHT_SIZE_0_0, CHANNELS - 1},
        {CDMA_D_WEIGHT_SIZE_1_0, CHANNELS - 1},
        {CDMA_D_WEIGHT_RAM_TYPE_0, 1},
        {CDMA_D_WEIGHT_ADDR_HIGH_0, (uint32_t)(weights >> 32)},
        {CDMA_D_WEIGHT_ADDR_LOW_0, (uint32_t)weights},
        {CDMA_D_WEIGHT_BYTES_0, CHANNELS * CHANNELS},
        {CSC_D_DATAIN_SIZE_EXT_0_0, SIZE},
        {CSC_D_DATAIN_SIZE_EXT_1_0, CHANNELS - 1},
        {CSC_D_WEIGHT_SIZE_EXT_1_0, (CHANNELS - 1) << 16 | (CHANNELS - 1)},
        {CSC_D_WEIGHT_BYTES_0, CHANNELS * CHANNELS},
        {CSC_D_DATAOUT_SIZE_0_0, SIZE},
        {CSC_D_DATAOUT_SIZE_1_0, CHANNELS - 1},
        {CSC_D_ATOMICS_0, WIDTH * HEIGHT - 1},
        {CSC_D_RELEASE_0, HEIGHT - 1},
        {CACC_D_DATAOUT_SIZE_0_0, SIZE},
        {CACC_D_DATAOUT_SIZE_1_0, CHANNELS - 1},
        {CACC_D_LINE_STRIDE_0, LINE},
        {CACC_D_SURF_STRIDE_0, BYTES},
        {CACC_D_DATAOUT_MAP_0, BOTH_PACKED},
        {SDP_D_DATA_CUBE_WIDTH_0, WIDTH - 1},
        {SDP_D_DATA_CUBE_HEIGHT_0, HEIGHT - 1},
        {SDP_D_DATA_CUBE_CHANNEL_0, CHANNELS - 1},
        {SDP_D_DST_BASE_ADDR_HIGH_0, (uint32_t)(output >> 32)},
        {SDP_D_DST_BASE_ADDR_LOW_0, (uint32_t)output},
        {SDP_D_DST_LINE_STRIDE_0, LINE},
        {SDP_D_DST_SURFACE_STRIDE_0, BYTES},
        {SDP_D_DP_BS_CFG_0, 1}, /* bypass */
        {SDP_D_DP_BN_CFG_0, 1},
        {SDP_D_DP_EW_CFG_0, 1},
        {SDP_D_FEATURE_MODE_CFG_0, 1}, /* from the convolution, to memory */
        {SDP_D_DST_DMA_CFG_0, 1},
        {SDP_D_CVT_SCALE_0, 1},
        {GLB_S_INTR_MASK_0, 0},
        {CACC_D_OP_ENABLE_0, 1},
        {CMAC_A_D_OP_ENABLE_0, 1},
        {CMAC_B_D_OP_ENABLE_0, 1},
        {CSC_D_OP_ENABLE_0, 1},
        {SDP_D_OP_ENABLE_0, 1},
        {CDMA_D_OP_ENABLE_0, 1},
    };
    /* the register group whose turn it is */
    const uint32_t pointers[] = {CDMA_S_POINTER_0,   CSC_S_POINTER_0,  CMAC_A_S_POINTER_0,
                                 CMAC_B_S_POINTER_0, CACC_S_POINTER_0, SDP_S_POINTER_0};
    const uint32_t group = dla_reg_read(context, SDP_S_POINTER_0) >> 16 & 1;
    for (unsigned i = 0; i < sizeof pointers / sizeof *pointers; i++) {
        dla_reg_write(context, pointers[i], group);
    }
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        dla_reg_write(context, pairs[i][0], pairs[i][1]);
    }
}

#define SDP_DONE \
    (GLB_S_INTR_STATUS_0_SDP_DONE_STATUS0_FIELD | GLB_S_INTR_STATUS_0_SDP_DONE_STATUS1_FIELD)

/* Input x[c], weights that add neighbouring channels: y[c] must be x[c] + x[c + 1]. */
static void fill(int8_t *input, int8_t *weights)
{
    for (int i = 0; i < BYTES; i++) {
        input[i] = (int8_t)(i * 7 % 61 - 30);
    }
    for (int k = 0; k < CHANNELS; k++) {
        for (int c = 0; c < CHANNELS; c++) {
            weights[k * CHANNELS + c] = c == k || c == (k + 1) % CHANNELS;
        }
    }
}

static int right(const int8_t *input, const int8_t *output)
{
    for (int i = 0; i < BYTES; i++) {
        int next = i / CHANNELS * CHANNELS + (i + 1) % CHANNELS;
        if (output[i] != input[i] + input[next]) {
            return 0;
        }
    }
    return 1;
}
