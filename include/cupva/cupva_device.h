/*
 * Device side of cuPVA: what a VPU kernel includes.
 *
 * Kernels are .c files that use features of C++ (overloads, references), so they are compiled as
 * C++. Native mode only: a kernel is a process of this machine with the VPU's memory layout.
 */
#ifndef CUPVA_DEVICE_H
#define CUPVA_DEVICE_H

#ifndef CUPVA_DEVICE
#define CUPVA_DEVICE 1
#endif
#ifndef __cplusplus
#error "VPU kernels are compiled as C++: use pva_device() or `cudla-sim pva-cc`, or -x c++"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cupva_types.h"

static_assert(CUPVA_DEVICE == 1, "cupva_device.h is for kernels; hosts include cupva_host.hpp");
static_assert(CUPVA_BUILD_MODE == CUPVA_NATIVE, "only the native build mode exists here");

#include <assert.h>
#include <vpu_native.h>

#include <cupva_device_native.h>

#include "cupva_device/device_core.h"
#include "cupva_device/raster_dataflow.h"
#include "cupva_device/tensor_dataflow.h"
#include "cupva_device/sequence_dataflow.h"
#include "cupva_device/gatherscatter_dataflow.h"
#include "cupva_device/dynamic_dataflow.h"
#include "cupva_device/sampler.h"

#endif
