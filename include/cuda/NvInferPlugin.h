/* SPDX-License-Identifier: Apache-2.0
 *
 * NvInferPlugin.h - nothing, for programs that include it and name nothing of TensorRT. Where TensorRT is
 * installed, its own header is taken.
 */
#pragma GCC system_header
#if defined(__has_include_next)
#if __has_include_next(<NvInferPlugin.h>)
#include_next <NvInferPlugin.h>
#endif
#endif
#if defined(__cplusplus)
namespace nvinfer1 {}
#endif
