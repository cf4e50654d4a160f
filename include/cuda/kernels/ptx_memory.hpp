/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/ptx_memory.hpp - instructions of inline PTX that read or write memory (PTX ISA, "ld", "st", "atom",
 * "cp.async").
 */
#ifndef CUDLA_SIM_KERNELS_PTX_MEMORY_H
#define CUDLA_SIM_KERNELS_PTX_MEMORY_H

#include "ptx.hpp"
#include "spaces.hpp"

namespace cudla_sim {

template <class From> inline uintptr_t ptx_address(From base, int64_t offset) {
    if constexpr (std::is_integral_v<From> && sizeof(From) <= sizeof(uint32_t)) /* one in shared memory, which wraps */
        return static_cast<uint32_t>(base) + static_cast<uint32_t>(offset);
    else if constexpr (std::is_integral_v<From>)
        return static_cast<uintptr_t>(base) + static_cast<uintptr_t>(offset);
    else
        return (uintptr_t)base + static_cast<uintptr_t>(offset);
}

/* What a GPU keeps of a block's shared memory for its libraries: two parts, and the end. As addresses in it. */
CUDLA_SIM_OWN inline uint32_t ptx_reserved(unsigned part) {
    static thread_local uint64_t memory[2][128];
    return static_cast<uint32_t>(to_shared(reinterpret_cast<uintptr_t>(memory + part)));
}

template <class T, unsigned Count> struct Loaded {
    T v[Count];
};
/* A thread that asks for the same again and again lets the blocks that it waits for run. */
extern "C" int cudla_sim_yield() __asm__("sched_yield");
inline void ptx_polled() {
    static thread_local unsigned times = 0;
    if (++times % 128 == 0)
        cudla_sim_yield();
}

/* As bytes: the program may know the memory by another type. */
template <class T, unsigned Count, bool Ordered> inline Loaded<T, Count> ptx_load(uintptr_t address) {
    Loaded<T, Count> result;
    if constexpr (Ordered)
        ptx_polled();
    if constexpr (Ordered && Count == 1) {
        typedef std::conditional_t<sizeof(T) == 8, uint64_t,
                std::conditional_t<sizeof(T) == 4, uint32_t, std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>
            Bits;
        result.v[0] = ptx_in<T>(__atomic_load_n(reinterpret_cast<const Bits *>(address), __ATOMIC_SEQ_CST));
    } else {
        if (Ordered)
            __atomic_thread_fence(__ATOMIC_SEQ_CST);
        memcpy(&result, reinterpret_cast<const void *>(address), sizeof result);
    }
    return result;
}
template <bool Ordered, class T, class... More> inline void ptx_store(uintptr_t address, T first, More... more) {
    const T values[] = {first, more...};
    if (Ordered)
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    memcpy(reinterpret_cast<void *>(address), values, sizeof values);
    if (Ordered)
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#define CUDLA_SIM_PTX_ATOM(name, expression)                                                                         \
    template <class T> inline T ptx_atom_##name(T *address, T value) {                                               \
        return changed(address, [value](T old) -> T { return expression; });                                         \
    }
CUDLA_SIM_PTX_ATOM(add, ptx_add<T>(old, value))
CUDLA_SIM_PTX_ATOM(min, ptx_min<T>(old, value))
CUDLA_SIM_PTX_ATOM(max, ptx_max<T>(old, value))
CUDLA_SIM_PTX_ATOM(and, ptx_and<T>(old, value))
CUDLA_SIM_PTX_ATOM(or, ptx_or<T>(old, value))
CUDLA_SIM_PTX_ATOM(xor, ptx_xor<T>(old, value))
CUDLA_SIM_PTX_ATOM(exch, ((void)old, value))
CUDLA_SIM_PTX_ATOM(inc, old >= value ? T{0} : static_cast<T>(old + 1))
CUDLA_SIM_PTX_ATOM(dec, old == 0 || old > value ? value : static_cast<T>(old - 1))
#undef CUDLA_SIM_PTX_ATOM
template <class T> inline T ptx_atom_cas(T *address, T compare, T value) {
    __atomic_compare_exchange(address, &compare, &value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return compare;
}

/* Zeros behind what is read. */
inline void ptx_copy(uintptr_t to, uintptr_t from, uint32_t bytes, uint32_t read) {
    const uint32_t taken = read < bytes ? read : bytes;
    memcpy(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), taken);
    memset(reinterpret_cast<char *>(to) + taken, 0, bytes - taken);
}

} // namespace cudla_sim

#endif
