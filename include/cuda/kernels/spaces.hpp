/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/spaces.hpp - in which memory an address is (CUDA C++ Programming Guide, "Address space predicate
 * functions", "Address space conversion functions"). All of it is one address space here, in which shared memory has
 * addresses of its own besides.
 */
#ifndef CUDLA_SIM_KERNELS_SPACES_H
#define CUDLA_SIM_KERNELS_SPACES_H

#include "engine.hpp"

namespace cudla_sim {

#define CUDLA_SIM_OWN __attribute__((visibility("hidden")))

/* The running system thread's variables of this module: shared memory is among them. Hidden, as each module has
 * its own, whatever other ones are loaded. */
struct CUDLA_SIM_OWN OwnVariables {
    static inline thread_local char inside;
    uintptr_t begin = 0, end = 0;

    OwnVariables() {
        Unwatched ours; /* below the library's function nobody knows which thread runs */
        void *first, *behind;
        __cudlaSimThreadVariables(&inside, &first, &behind);
        begin = reinterpret_cast<uintptr_t>(first);
        end = reinterpret_cast<uintptr_t>(behind);
    }
    static const OwnVariables &get() {
        static thread_local const OwnVariables own;
        return own;
    }
};

/* Code for both sides asks on the host, too (libcu++'s atomics): there memory is of neither kind. */
CUDLA_SIM_OWN inline bool is_shared(const void *pointer) {
    Unwatched ours;
    if (!block)
        return false;
    uintptr_t at = reinterpret_cast<uintptr_t>(pointer);
    const OwnVariables &own = OwnVariables::get();
    return at - block->dynamic_start() < block->shape->shared_bytes || (at >= own.begin && at < own.end);
}

inline bool is_local(const void *pointer) {
    const char *at = static_cast<const char *>(pointer);
    return block && at >= block->current->stack && at < block->current->top();
}

/* Addresses in shared memory fit in 32 bits: programs keep them so for instructions of PTX. Variables come first,
 * as far into the thread's as they are, then dynamic memory. What is beyond is an address that nobody converted. */
constexpr uintptr_t SHARED_DYNAMIC = uintptr_t{1} << 30, SHARED_END = uintptr_t{1} << 32;

CUDLA_SIM_OWN inline uintptr_t to_shared(uintptr_t at) {
    Unwatched ours;
    const OwnVariables &own = OwnVariables::get();
    if (at - block->dynamic_start() <= block->shape->shared_bytes) /* the end is one, too */
        return at - block->dynamic_start() + SHARED_DYNAMIC;
    return at >= own.begin && at < own.end ? at - own.begin : at;
}

/* Where a block's shared memory begins, for code that goes there often: a block stays in its system thread. */
struct CUDLA_SIM_OWN SharedMemory {
    uintptr_t variables, dynamic;

    static SharedMemory here() {
        Unwatched ours;
        return {OwnVariables::get().begin, block->dynamic_start() - SHARED_DYNAMIC};
    }
    /* Of the address `at` and what is `offset` bytes behind it: a compiler finds the first once for all of them. The
     * first alone may lie before its array: below zero, or below where dynamic memory begins. */
    uintptr_t generic(uintptr_t at, intptr_t offset = 0) const {
        if (static_cast<intptr_t>(at) >= static_cast<intptr_t>(SHARED_END))
            return at + static_cast<uintptr_t>(offset);
        const intptr_t within = static_cast<int32_t>(at);
        const uintptr_t begin = within >= static_cast<intptr_t>(SHARED_DYNAMIC / 2) ? dynamic : variables;
        return begin + static_cast<uintptr_t>(within + offset);
    }
};

CUDLA_SIM_OWN inline uintptr_t from_shared(uintptr_t at) {
    return at >= SHARED_END ? at : SharedMemory::here().generic(at);
}

} // namespace cudla_sim

inline unsigned __isShared(const void *pointer) { return cudla_sim::is_shared(pointer); }
inline unsigned __isLocal(const void *pointer) { return cudla_sim::is_local(pointer); }
/* Variables of both kinds are the program's own, and parameters are on the stack. */
inline unsigned __isConstant(const void *) { return 0; }
inline unsigned __isGridConstant(const void *) { return 0; }
inline unsigned __isGlobal(const void *pointer) { return !__isShared(pointer) && !__isLocal(pointer); }

inline size_t __cvta_generic_to_global(const void *pointer) { return reinterpret_cast<size_t>(pointer); }
inline size_t __cvta_generic_to_shared(const void *pointer) {
    return cudla_sim::to_shared(reinterpret_cast<uintptr_t>(pointer));
}
inline size_t __cvta_generic_to_local(const void *pointer) { return reinterpret_cast<size_t>(pointer); }
inline size_t __cvta_generic_to_constant(const void *pointer) { return reinterpret_cast<size_t>(pointer); }
inline void *__cvta_global_to_generic(size_t address) { return reinterpret_cast<void *>(address); }
inline void *__cvta_shared_to_generic(size_t address) {
    return reinterpret_cast<void *>(cudla_sim::from_shared(address));
}
inline void *__cvta_local_to_generic(size_t address) { return reinterpret_cast<void *>(address); }
inline void *__cvta_constant_to_generic(size_t address) { return reinterpret_cast<void *>(address); }

/* nvcc's own. */
#define __builtin_assume(...) static_cast<void>(0)

#endif
