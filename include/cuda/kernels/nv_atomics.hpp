/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/nv_atomics.hpp - nvcc's __nv_atomic_... functions (CUDA C++ Programming Guide, "CUDA C++ Atomic
 * Functions"), and loads and stores with a cache operator. Each atomic is sequentially consistent and seen by
 * everybody.
 */
#ifndef CUDLA_SIM_KERNELS_NV_ATOMICS_H
#define CUDLA_SIM_KERNELS_NV_ATOMICS_H

#include "reference.hpp"

#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD 1
#define __NV_THREAD_SCOPE_BLOCK 2
#define __NV_THREAD_SCOPE_CLUSTER 3
#define __NV_THREAD_SCOPE_DEVICE 4
#define __NV_THREAD_SCOPE_SYSTEM 5

namespace cudla_sim {
template <class T> using Plain = typename std::remove_cv<T>::type;
template <class T> inline Reference<Plain<T>> reference_to(T *at) {
    return Reference<Plain<T>>(*const_cast<Plain<T> *>(at));
}
/* A value's type is what the address says. */
template <class T> struct Same {
    using type = T;
};
template <class T> using Value = typename Same<Plain<T>>::type;
} // namespace cudla_sim

template <class T> inline void __nv_atomic_load(T *at, cudla_sim::Plain<T> *value, int, int = 5) {
    *value = cudla_sim::reference_to(at).load();
}
template <class T> inline cudla_sim::Plain<T> __nv_atomic_load_n(T *at, int, int = 5) {
    return cudla_sim::reference_to(at).load();
}
template <class T> inline void __nv_atomic_store(T *at, const cudla_sim::Plain<T> *value, int, int = 5) {
    cudla_sim::reference_to(at).store(*value);
}
template <class T> inline void __nv_atomic_store_n(T *at, cudla_sim::Value<T> value, int, int = 5) {
    cudla_sim::reference_to(at).store(value);
}
template <class T>
inline void __nv_atomic_exchange(T *at, const cudla_sim::Plain<T> *value, cudla_sim::Plain<T> *old, int, int = 5) {
    *old = cudla_sim::reference_to(at).exchange(*value);
}
template <class T> inline cudla_sim::Plain<T> __nv_atomic_exchange_n(T *at, cudla_sim::Value<T> value, int, int = 5) {
    return cudla_sim::reference_to(at).exchange(value);
}
template <class T>
inline bool __nv_atomic_compare_exchange(T *at, cudla_sim::Plain<T> *expected, const cudla_sim::Plain<T> *value,
                                         bool, int, int, int = 5) {
    return cudla_sim::reference_to(at).compare_exchange_strong(*expected, *value);
}
template <class T>
inline bool __nv_atomic_compare_exchange_n(T *at, cudla_sim::Plain<T> *expected, cudla_sim::Value<T> value, bool,
                                           int, int, int = 5) {
    return cudla_sim::reference_to(at).compare_exchange_strong(*expected, value);
}

#define CUDLA_SIM_NV_ATOMIC(name)                                                                  \
    template <class T>                                                                             \
    inline cudla_sim::Plain<T> __nv_atomic_##name(T *at, cudla_sim::Value<T> value, int, int = 5) { \
        return cudla_sim::reference_to(at).name(value);                                            \
    }
CUDLA_SIM_NV_ATOMIC(fetch_add)
CUDLA_SIM_NV_ATOMIC(fetch_sub)
CUDLA_SIM_NV_ATOMIC(fetch_and)
CUDLA_SIM_NV_ATOMIC(fetch_or)
CUDLA_SIM_NV_ATOMIC(fetch_xor)
CUDLA_SIM_NV_ATOMIC(fetch_min)
CUDLA_SIM_NV_ATOMIC(fetch_max)
#undef CUDLA_SIM_NV_ATOMIC

inline void __nv_atomic_thread_fence(int, int = 5) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

/* What stays in which cache is nobody's business here. */
template <class T> inline T __ldcg(const T *at) { return *at; }
template <class T> inline T __ldca(const T *at) { return *at; }
template <class T> inline T __ldcs(const T *at) { return *at; }
template <class T> inline T __ldlu(const T *at) { return *at; }
template <class T> inline T __ldcv(const T *at) {
    T value; /* read each time */
    asm volatile("" : : : "memory");
    value = *at;
    return value;
}
template <class T> inline void __stwb(T *at, cudla_sim::Value<T> value) { *at = value; }
template <class T> inline void __stcg(T *at, cudla_sim::Value<T> value) { *at = value; }
template <class T> inline void __stcs(T *at, cudla_sim::Value<T> value) { *at = value; }
template <class T> inline void __stwt(T *at, cudla_sim::Value<T> value) { *at = value; }

#endif
