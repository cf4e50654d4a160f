/*
 * cupva_host.hpp - the C++ API of the PVA SDK, in headers only, over the C API (cupva_host.h). C++14.
 *
 * Everything that fails throws cupva::Exception. Objects own what they stand for and can be moved; a
 * default-constructed one stands for nothing, and using it throws UninitializedObject or
 * InvalidState.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_HPP
#define CUDLA_SIM_CUPVA_CUPVA_HOST_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "cupva_host_common.hpp"
#include "cupva_types.h"
#include "detail/cpp/commands.hpp"
#include "detail/cpp/dataflows.hpp"
#include "detail/cpp/memory.hpp"
#include "detail/cpp/parameter.hpp"
#include "detail/cpp/pointers.hpp"
#include "detail/cpp/program.hpp"
#include "detail/cpp/stream.hpp"

#endif
