/* Sizes, offsets, numbers and symbols that real programs were compiled with. */
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>

#include "nvdla/ILoadable.h"
#include "nvdla/IRuntime.h"
#include "nvdla/dla_err.h"
#include "nvdla/dla_fw_version.h"
#include "nvdla/dla_interface.h"
#include "nvdla/dla_sched.h"
#include "nvdla/nvdla_inf.h"
#include "nvdla/nvdla_os_inf.h"
#include "nvdla/opendla.h"

#define SIZE(type, bytes) static_assert(sizeof(type) == (bytes), #type)
#define AT(type, member, bytes) static_assert(offsetof(type, member) == (bytes), #type " " #member)

/* user mode */
SIZE(NvDlaMemDesc, 16);
AT(NvDlaMemDesc, offset, 8);
SIZE(NvDlaTask, 98320);
AT(NvDlaTask, num_addresses, 8);
AT(NvDlaTask, address_list, 16);
SIZE(NvDlaError, 4);
SIZE(NvDlaStatType, 24);
SIZE(NvUPtr, 8);
SIZE(NvBool, 1);
static_assert(NvDlaHeap_System == 0 && NvDlaHeap_SRAM == 1, "heaps");
static_assert(NvDlaSuccess == 0 && NvDlaError_BadParameter == 4 && NvDlaError_BadValue == 0xB &&
                  NvDlaError_AlreadyAllocated == 0xD && NvDlaError_DeviceNotFound == 0x15 &&
                  NvDlaError_SurfaceNotSupported == 0x10003 && NvDlaError_EndOfFile == 0x30002 &&
                  NvDlaError_IoctlFailed == 0x3000F && NvDlaError_ModuleNotPresent == 0xA000E,
              "errors");

typedef nvdla::IRuntime::NvDlaTensor Tensor;
SIZE(Tensor, 152);
AT(Tensor, name, 0);
AT(Tensor, bufferSize, 88);
AT(Tensor, dims, 96);
AT(Tensor, dataFormat, 112);
AT(Tensor, dataType, 113);
AT(Tensor, dataCategory, 114);
AT(Tensor, pixelFormat, 115);
AT(Tensor, pixelMapping, 116);
AT(Tensor, stride, 120);
static_assert(TENSOR_PIXEL_FORMAT_FEATURE == 36 && TENSOR_PIXEL_FORMAT_FEATURE_X8 == 37 &&
                  TENSOR_PIXEL_FORMAT_UNKNOWN == 38 && NVDLA_PIXEL_FORMAT_UNKNOWN == 37 &&
                  TENSOR_PIXEL_FORMAT_A8B8G8R8 == 12 && TENSOR_PIXEL_FORMAT_A16B16G16R16_F == 8,
              "pixel formats");

/* descriptors */
SIZE(struct dla_network_desc, 40);
AT(struct dla_network_desc, stat_list_index, 12);
AT(struct dla_network_desc, op_head, 16);
AT(struct dla_network_desc, num_rois, 28);
AT(struct dla_network_desc, num_operations, 30);
AT(struct dla_network_desc, num_luts, 32);
AT(struct dla_network_desc, num_addresses, 34);
AT(struct dla_network_desc, input_layer, 36);
AT(struct dla_network_desc, dynamic_roi, 38);
SIZE(struct dla_consumer, 4);
SIZE(struct dla_common_op_desc, 36);
AT(struct dla_common_op_desc, op_type, 3);
AT(struct dla_common_op_desc, dependency_count, 4);
AT(struct dla_common_op_desc, consumers, 8);
AT(struct dla_common_op_desc, fused_parent, 32);
SIZE(struct dla_roi_array_desc, 8);
SIZE(struct dla_roi_desc, 16);
SIZE(struct dla_data_cube, 32);
AT(struct dla_data_cube, address, 2);
AT(struct dla_data_cube, offset, 4);
AT(struct dla_data_cube, size, 8);
AT(struct dla_data_cube, width, 12);
AT(struct dla_data_cube, channel, 16);
AT(struct dla_data_cube, line_stride, 20);
AT(struct dla_data_cube, surf_stride, 24);
AT(struct dla_data_cube, plane_stride, 28);
SIZE(struct dla_cvt_param, 8);
SIZE(struct dla_bdma_transfer_desc, 32);
SIZE(struct dla_bdma_surface_desc, 644);
SIZE(struct dla_bdma_op_desc, 4);
SIZE(struct dla_bdma_stat_desc, 12);
SIZE(struct dla_conv_surface_desc, 172);
AT(struct dla_conv_surface_desc, offset_u, 160);
AT(struct dla_conv_surface_desc, in_line_uv_stride, 168);
SIZE(struct dla_conv_op_desc, 92);
AT(struct dla_conv_op_desc, entry_per_slice, 6);
AT(struct dla_conv_op_desc, fetch_grain, 10);
AT(struct dla_conv_op_desc, batch, 20);
AT(struct dla_conv_op_desc, batch_stride, 24);
AT(struct dla_conv_op_desc, release, 30);
AT(struct dla_conv_op_desc, input_width_csc, 32);
AT(struct dla_conv_op_desc, input_width_cmac, 44);
AT(struct dla_conv_op_desc, bytes_per_kernel, 48);
AT(struct dla_conv_op_desc, mean_format, 60);
AT(struct dla_conv_op_desc, pra_truncate, 71);
AT(struct dla_conv_op_desc, pad_val, 74);
AT(struct dla_conv_op_desc, in_cvt, 76);
SIZE(struct dla_conv_stat_desc, 40);
SIZE(struct dla_sdp_surface_desc, 160);
AT(struct dla_sdp_surface_desc, dst_data, 128);
SIZE(struct dla_sdp_op, 32);
AT(struct dla_sdp_op, alu_operand, 8);
AT(struct dla_sdp_op, cvt, 16);
SIZE(struct dla_sdp_op_desc, 116);
AT(struct dla_sdp_op_desc, batch_stride, 16);
AT(struct dla_sdp_op_desc, x1_op, 20);
AT(struct dla_sdp_op_desc, y_op, 84);
SIZE(struct dla_sdp_stat_desc, 44);
SIZE(struct dla_pdp_surface_desc, 64);
SIZE(struct dla_pdp_op_desc, 52);
AT(struct dla_pdp_op_desc, split_num, 12);
AT(struct dla_pdp_op_desc, padding_value, 24);
SIZE(struct dla_pdp_stat_desc, 20);
SIZE(struct dla_cdp_surface_desc, 64);
SIZE(struct dla_cdp_op_desc, 24);
SIZE(struct dla_cdp_stat_desc, 44);
SIZE(struct dla_rubik_surface_desc, 64);
SIZE(struct dla_rubik_op_desc, 4);
SIZE(struct dla_rubik_stat_desc, 12);
SIZE(struct dla_lut_param, 700);
AT(struct dla_lut_param, linear_only_table, 130);
AT(struct dla_lut_param, linear_exp_start, 648);
AT(struct dla_lut_param, linear_exp_underflow_slope, 680);
AT(struct dla_lut_param, hybrid_priority, 696);
SIZE(union dla_operation_container, 116);
SIZE(union dla_surface_container, 644);
SIZE(union dla_stat_container, 44);
SIZE(struct dla_task_status, 16);
SIZE(struct dla_config, 8);
AT(struct dla_config, bdma_enable, 4);
static_assert(sizeof(struct dla_task) % 256 == 0, "dla_task");
static_assert(DLA_ERR_INVALID_INPUT == 3 && DLA_ERR_PROCESSOR_BUSY == 12 &&
                  DLA_ERR_TASK_STATUS_MISMATCH == 14 && ERR(INVALID_TASK) == -2,
              "firmware errors");
static_assert(CDMA_S_STATUS_0 == 0x5000 && GLB_S_INTR_STATUS_0 == 0xc, "registers");

/* the virtual table: slot numbers of all functions, by calling through it */
typedef NvU16 (*Slot)(void *);

int main()
{
    const char *symbols[] = {"_ZN5nvdla13createRuntimeEv",
                             "_ZN5nvdla14destroyRuntimeEPNS_8IRuntimeE",
                             "NvDlaSubmit",
                             "dla_execute_task",
                             "NvDlaUtilsLogError"};
    for (const char *symbol : symbols) {
        if (dlsym(RTLD_DEFAULT, symbol) == nullptr) {
            return 1;
        }
    }
    nvdla::IRuntime *runtime = nvdla::createRuntime();
    void **table = *reinterpret_cast<void ***>(runtime);
    int number = 99;
    NvDlaError (*inputs)(void *, int *) = reinterpret_cast<NvDlaError (*)(void *, int *)>(table[11]);
    NvDlaError (*outputs)(void *, int *) =
        reinterpret_cast<NvDlaError (*)(void *, int *)>(table[14]);
    bool (*submit)(void *) = reinterpret_cast<bool (*)(void *)>(table[17]);
    bool (*emu)(void *) = reinterpret_cast<bool (*)(void *)>(table[2]);
    if (reinterpret_cast<Slot>(table[0])(runtime) != 2 ||
        reinterpret_cast<Slot>(table[1])(runtime) != 2 || !emu(runtime) ||
        inputs(runtime, &number) != NvDlaSuccess || number != 0 ||
        outputs(runtime, nullptr) != NvDlaError_BadParameter || submit(runtime)) {
        return 2;
    }
    nvdla::destroyRuntime(runtime);
    return 0;
}
