/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/check_hooks.hpp - the functions that g++ calls under -fsanitize=thread, and the heap of kernels.
 */
#ifndef CUDLA_SIM_KERNELS_CHECK_HOOKS_H
#define CUDLA_SIM_KERNELS_CHECK_HOOKS_H

#include <new>

/* Each object file has them; the linker keeps one. */
#define CUDLA_SIM_HOOK extern "C" __attribute__((weak, used, noinline, no_sanitize_thread))

#define CUDLA_SIM_SEEN(address, size, how, aligned)                                                \
    if (__builtin_expect(::cudla_sim::watching, 0))                                                \
    ::cudla_sim::check_one(address, size, ::cudla_sim::How::how, aligned, __builtin_return_address(0))

#define CUDLA_SIM_ACCESS(size)                                                                     \
    CUDLA_SIM_HOOK void __tsan_read##size(void *at) { CUDLA_SIM_SEEN(at, size, READ, true); }      \
    CUDLA_SIM_HOOK void __tsan_write##size(void *at) { CUDLA_SIM_SEEN(at, size, WRITE, true); }    \
    CUDLA_SIM_HOOK void __tsan_unaligned_read##size(void *at) {                                    \
        CUDLA_SIM_SEEN(at, size, READ, false);                                                     \
    }                                                                                              \
    CUDLA_SIM_HOOK void __tsan_unaligned_write##size(void *at) {                                   \
        CUDLA_SIM_SEEN(at, size, WRITE, false);                                                    \
    }
CUDLA_SIM_ACCESS(1)
CUDLA_SIM_ACCESS(2)
CUDLA_SIM_ACCESS(4)
CUDLA_SIM_ACCESS(8)
CUDLA_SIM_ACCESS(16)
#undef CUDLA_SIM_ACCESS
CUDLA_SIM_HOOK void __tsan_read_range(void *at, long size) {
    CUDLA_SIM_SEEN(at, static_cast<size_t>(size), READ, false);
}
CUDLA_SIM_HOOK void __tsan_write_range(void *at, long size) {
    CUDLA_SIM_SEEN(at, static_cast<size_t>(size), WRITE, false);
}
CUDLA_SIM_HOOK void __tsan_init() {}
CUDLA_SIM_HOOK void __tsan_func_entry(void *) {}
CUDLA_SIM_HOOK void __tsan_func_exit(void *) {}
CUDLA_SIM_HOOK void __tsan_vptr_update(void *, void *) {}
CUDLA_SIM_HOOK void __tsan_vptr_read(void *) {}

/* The strongest order serves for each; the parameters are those of the compiler's own declarations. */
#define CUDLA_SIM_ATOM(result, bits, T, name, parameters, at, expression)                          \
    CUDLA_SIM_HOOK result __tsan_atomic##bits##_##name parameters {                                \
        CUDLA_SIM_SEEN(const_cast<const void *>(at), sizeof(T), ATOMIC, true);                     \
        return expression;                                                                         \
    }
#define CUDLA_SIM_CHANGE(bits, T, name)                                                            \
    CUDLA_SIM_ATOM(T, bits, T, name, (volatile void *at, T value, int), at,                        \
                   __atomic_##name(static_cast<volatile T *>(at), value, __ATOMIC_SEQ_CST))
#define CUDLA_SIM_COMPARE(bits, T, kind, weakly)                                                   \
    CUDLA_SIM_ATOM(bool, bits, T, compare_exchange_##kind,                                         \
                   (volatile void *at, void *expected, T value, int, int), at,                     \
                   __atomic_compare_exchange_n(static_cast<volatile T *>(at),                      \
                                               static_cast<T *>(expected), value, weakly,          \
                                               __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
#define CUDLA_SIM_ATOMS(bits, T)                                                                   \
    CUDLA_SIM_ATOM(T, bits, T, load, (const volatile void *at, int), at,                           \
                   __atomic_load_n(static_cast<const volatile T *>(at), __ATOMIC_SEQ_CST))         \
    CUDLA_SIM_ATOM(void, bits, T, store, (volatile void *at, T value, int), at,                    \
                   __atomic_store_n(static_cast<volatile T *>(at), value, __ATOMIC_SEQ_CST))       \
    CUDLA_SIM_ATOM(T, bits, T, exchange, (volatile void *at, T value, int), at,                    \
                   __atomic_exchange_n(static_cast<volatile T *>(at), value, __ATOMIC_SEQ_CST))    \
    CUDLA_SIM_CHANGE(bits, T, fetch_add)                                                           \
    CUDLA_SIM_CHANGE(bits, T, fetch_sub)                                                           \
    CUDLA_SIM_CHANGE(bits, T, fetch_and)                                                           \
    CUDLA_SIM_CHANGE(bits, T, fetch_or)                                                            \
    CUDLA_SIM_CHANGE(bits, T, fetch_xor)                                                           \
    CUDLA_SIM_CHANGE(bits, T, fetch_nand)                                                          \
    CUDLA_SIM_COMPARE(bits, T, strong, false)                                                      \
    CUDLA_SIM_COMPARE(bits, T, weak, true)
CUDLA_SIM_ATOMS(8, unsigned char)
CUDLA_SIM_ATOMS(16, unsigned short)
CUDLA_SIM_ATOMS(32, unsigned int)
CUDLA_SIM_ATOMS(64, unsigned long)
#undef CUDLA_SIM_ATOMS
#undef CUDLA_SIM_COMPARE
#undef CUDLA_SIM_CHANGE
#undef CUDLA_SIM_ATOM
CUDLA_SIM_HOOK void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
CUDLA_SIM_HOOK void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

#undef CUDLA_SIM_SEEN
#undef CUDLA_SIM_HOOK

/* --- what kernels allocate: by the program's own names for malloc, free and new (kernels.hpp) --- */

namespace cudla_sim {
CUDLA_SIM_NOT_SEEN inline void *heap_new(size_t size) {
    if (!watching)
        return __libc_malloc(size);
    Unwatched ours;
    void *made = __libc_malloc(size ? size : 1);
    if (made)
        DeviceHeap::get().add(made, size);
    return made;
}
CUDLA_SIM_NOT_SEEN inline void heap_delete(void *memory) {
    if (watching && memory) { /* only kernels free what kernels allocated */
        Unwatched ours;
        DeviceHeap::get().remove(memory);
    }
    __libc_free(memory);
}
} // namespace cudla_sim

extern "C" __attribute__((weak, used)) void *cudla_sim_malloc(size_t size) {
    return cudla_sim::heap_new(size);
}
extern "C" __attribute__((weak, used)) void cudla_sim_free(void *memory) {
    cudla_sim::heap_delete(memory);
}

/* The program's new and delete: those of the library take the library's heap. */
#define CUDLA_SIM_NEW __attribute__((weak, used)) void *
#define CUDLA_SIM_DELETE __attribute__((weak, used)) void
CUDLA_SIM_NEW operator new(size_t size) {
    void *made = cudla_sim::heap_new(size ? size : 1);
    if (!made)
        throw std::bad_alloc();
    return made;
}
CUDLA_SIM_NEW operator new[](size_t size) { return operator new(size); }
CUDLA_SIM_DELETE operator delete(void *memory) noexcept { cudla_sim::heap_delete(memory); }
CUDLA_SIM_DELETE operator delete(void *memory, size_t) noexcept { cudla_sim::heap_delete(memory); }
CUDLA_SIM_DELETE operator delete[](void *memory) noexcept { cudla_sim::heap_delete(memory); }
CUDLA_SIM_DELETE operator delete[](void *memory, size_t) noexcept { cudla_sim::heap_delete(memory); }
#undef CUDLA_SIM_NEW
#undef CUDLA_SIM_DELETE

#endif
