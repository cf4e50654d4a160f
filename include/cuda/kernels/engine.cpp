/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/engine.cpp - what of the engine is compiled once: see once.hpp.
 */
#define CUDLA_SIM_WHOLE
#define CUDLA_SIM_ENGINE
#include "../cuda_runtime.h"
#include "whole.hpp"
#include "checks.hpp"
