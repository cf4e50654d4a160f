/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/reference.hpp - what cuda::atomic_ref does, without a name in CUDA's own spaces: those are the user's, who
 * may have another <cuda/atomic>.
 */
#ifndef CUDLA_SIM_KERNELS_REFERENCE_H
#define CUDLA_SIM_KERNELS_REFERENCE_H

#include <atomic>
#include <type_traits>

#include "builtins.hpp"

namespace cudla_sim {

/* The operations on a value somewhere. */
template <class T> class Reference {
  public:
    using value_type = T;
    static constexpr bool is_always_lock_free = sizeof(T) <= 8;

    explicit Reference(T &value) : at_(&value) {}
    bool is_lock_free() const { return is_always_lock_free; }

    T load(std::memory_order = std::memory_order_seq_cst) const {
        T value;
        __atomic_load(at_, &value, __ATOMIC_SEQ_CST);
        return value;
    }
    void store(T value, std::memory_order = std::memory_order_seq_cst) const {
        __atomic_store(at_, &value, __ATOMIC_SEQ_CST);
    }
    T exchange(T value, std::memory_order = std::memory_order_seq_cst) const {
        T old;
        __atomic_exchange(at_, &value, &old, __ATOMIC_SEQ_CST);
        return old;
    }
    bool compare_exchange_strong(T &expected, T value, std::memory_order = std::memory_order_seq_cst,
                                 std::memory_order = std::memory_order_seq_cst) const {
        return __atomic_compare_exchange(at_, &expected, &value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    }
    bool compare_exchange_weak(T &expected, T value, std::memory_order = std::memory_order_seq_cst,
                               std::memory_order = std::memory_order_seq_cst) const {
        return compare_exchange_strong(expected, value);
    }
    T fetch_add(T value, std::memory_order = std::memory_order_seq_cst) const {
        return changed([value](T old) { return static_cast<T>(old + value); });
    }
    T fetch_sub(T value, std::memory_order = std::memory_order_seq_cst) const {
        return changed([value](T old) { return static_cast<T>(old - value); });
    }
    T fetch_and(T value, std::memory_order = std::memory_order_seq_cst) const {
        return changed([value](T old) { return static_cast<T>(old & value); });
    }
    T fetch_or(T value, std::memory_order = std::memory_order_seq_cst) const {
        return changed([value](T old) { return static_cast<T>(old | value); });
    }
    T fetch_xor(T value, std::memory_order = std::memory_order_seq_cst) const {
        return changed([value](T old) { return static_cast<T>(old ^ value); });
    }
    T fetch_min(T value, std::memory_order = std::memory_order_seq_cst) const {
        return changed([value](T old) { return value < old ? value : old; });
    }
    T fetch_max(T value, std::memory_order = std::memory_order_seq_cst) const {
        return changed([value](T old) { return old < value ? value : old; });
    }
    operator T() const { return load(); }
    T operator=(T value) const {
        store(value);
        return value;
    }
    T operator++() const { return static_cast<T>(fetch_add(1) + 1); }
    T operator++(int) const { return fetch_add(1); }
    T operator--() const { return static_cast<T>(fetch_sub(1) - 1); }
    T operator--(int) const { return fetch_sub(1); }
    T operator+=(T value) const { return static_cast<T>(fetch_add(value) + value); }
    T operator-=(T value) const { return static_cast<T>(fetch_sub(value) - value); }
    T operator&=(T value) const { return static_cast<T>(fetch_and(value) & value); }
    T operator|=(T value) const { return static_cast<T>(fetch_or(value) | value); }
    T operator^=(T value) const { return static_cast<T>(fetch_xor(value) ^ value); }

  private:
    template <class Next> T changed(Next next) const { return cudla_sim::changed(at_, next); }
    T *at_;
};

} // namespace cudla_sim

#endif
