/* SPDX-License-Identifier: Apache-2.0
 *
 * NvInferRuntime.h - nothing, for programs that include it and name nothing of TensorRT. Where TensorRT is
 * installed, its own header is taken.
 */
#pragma GCC system_header
#if defined(__has_include_next)
#if __has_include_next(<NvInferRuntime.h>)
#include_next <NvInferRuntime.h>
#endif
#endif
#if defined(__cplusplus)
namespace nvinfer1 {}
#endif
