/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/atomics.hpp - cuda::atomic and cuda::atomic_ref, of any scope: std::atomic's operations with the least
 * and the most of two values besides (libcu++, "cuda::atomic"). Each is sequentially consistent.
 */
#ifndef CUDLA_SIM_KERNELS_ATOMICS_H
#define CUDLA_SIM_KERNELS_ATOMICS_H

#include "reference.hpp"
#include "standard.hpp"

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_consume;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

template <class T, thread_scope Scope = thread_scope_system> class atomic_ref : public cudla_sim::Reference<T> {
  public:
    using cudla_sim::Reference<T>::Reference;
    using cudla_sim::Reference<T>::operator=;
};

/* The same on a value of its own. */
template <class T, thread_scope Scope = thread_scope_system> class atomic {
  public:
    using value_type = T;
    static constexpr bool is_always_lock_free = sizeof(T) <= 8;

    atomic() = default;
    constexpr atomic(T value) : value_(value) {}
    atomic(const atomic &) = delete;
    atomic &operator=(const atomic &) = delete;

    bool is_lock_free() const { return is_always_lock_free; }
    T load(memory_order = memory_order_seq_cst) const { return ref().load(); }
    void store(T value, memory_order = memory_order_seq_cst) { ref().store(value); }
    T exchange(T value, memory_order = memory_order_seq_cst) { return ref().exchange(value); }
    bool compare_exchange_strong(T &expected, T value, memory_order = memory_order_seq_cst,
                                 memory_order = memory_order_seq_cst) {
        return ref().compare_exchange_strong(expected, value);
    }
    bool compare_exchange_weak(T &expected, T value, memory_order = memory_order_seq_cst,
                               memory_order = memory_order_seq_cst) {
        return ref().compare_exchange_strong(expected, value);
    }
    T fetch_add(T value, memory_order = memory_order_seq_cst) { return ref().fetch_add(value); }
    T fetch_sub(T value, memory_order = memory_order_seq_cst) { return ref().fetch_sub(value); }
    T fetch_and(T value, memory_order = memory_order_seq_cst) { return ref().fetch_and(value); }
    T fetch_or(T value, memory_order = memory_order_seq_cst) { return ref().fetch_or(value); }
    T fetch_xor(T value, memory_order = memory_order_seq_cst) { return ref().fetch_xor(value); }
    T fetch_min(T value, memory_order = memory_order_seq_cst) { return ref().fetch_min(value); }
    T fetch_max(T value, memory_order = memory_order_seq_cst) { return ref().fetch_max(value); }
    operator T() const { return load(); }
    T operator=(T value) { return ref() = value; }
    T operator++() { return ++ref(); }
    T operator++(int) { return ref()++; }
    T operator--() { return --ref(); }
    T operator--(int) { return ref()--; }
    T operator+=(T value) { return ref() += value; }
    T operator-=(T value) { return ref() -= value; }
    T operator&=(T value) { return ref() &= value; }
    T operator|=(T value) { return ref() |= value; }
    T operator^=(T value) { return ref() ^= value; }

  private:
    atomic_ref<T, Scope> ref() const { return atomic_ref<T, Scope>(value_); }
    mutable T value_;
};

inline void atomic_thread_fence(memory_order, thread_scope = thread_scope_system) {
    ::std::atomic_thread_fence(::std::memory_order_seq_cst);
}

} // namespace cuda

#endif
