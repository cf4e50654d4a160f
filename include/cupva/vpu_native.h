/* The vector processor for native kernels: types, operators, address generators, intrinsics. */
#ifndef VPU_NATIVE_H
#define VPU_NATIVE_H

#include <stddef.h>
#include <stdint.h>

#include "vpu_native/chess.h"
#include "vpu_native/lanes.h"
#include "vpu_native/operators.h"
#include "vpu_native/agen.h"
#include "vpu_native/load_store.h"
#include "vpu_native/intrinsics.h"

#endif
