/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/lanes.hpp - all threads of a block in one call of the kernel: what is between two barriers is a loop over
 * them. The rewriter writes these loops (cudla_sim/cuda_kernels/regions/).
 */
#ifndef CUDLA_SIM_KERNELS_LANES_H
#define CUDLA_SIM_KERNELS_LANES_H

#include <type_traits>

#include "engine.hpp"

#define CUDLA_SIM_INLINE __attribute__((always_inline)) inline

namespace cudla_sim {

/* The next room of the block: one as long as it is in use. */
inline void *take_room(Block &own, size_t bytes) {
    constexpr size_t LINE = 64;
    if (own.rooms_taken == own.rooms.size())
        own.rooms.add();
    Vector<char> &room = own.rooms[own.rooms_taken++];
    if (room.size() < bytes + LINE)
        room.resize(bytes + LINE);
    return reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(room.data()) + LINE - 1) & ~(LINE - 1));
}

/* Threads of a row, from one to another. */
struct LaneSpan {
    unsigned first, end;
};

/* Those of a row of so many whose number, as a T, is less than a value, or equals it; all where that is no number. */
template <class T, class V> CUDLA_SIM_INLINE LaneSpan lanes_below(unsigned size, const V &value) {
    if constexpr (std::is_arithmetic_v<V>) {
        using Both = std::common_type_t<T, V>;
        if (!(Both(0) < Both(value)))
            return {0, 0};
        if (!(Both(size - 1) < Both(value)) && Both(static_cast<unsigned>(value)) == Both(value))
            return {0, static_cast<unsigned>(value)};
    }
    return {0, size};
}
template <class T, class V> CUDLA_SIM_INLINE LaneSpan lane_at(unsigned size, const V &value) {
    if constexpr (std::is_arithmetic_v<V>) {
        using Both = std::common_type_t<T, V>;
        if (!(Both(0) <= Both(value) && Both(value) <= Both(size - 1)))
            return {0, 0};
        unsigned only = static_cast<unsigned>(value);
        return Both(only) == Both(value) ? LaneSpan{only, only + 1} : LaneSpan{0, 0};
    }
    return {0, size};
}

/* The loop over threads that goes on now. LEAVE: some may return before others. */
template <bool LEAVE> struct Lanes {
    Block &own;
    const dim3 size;
    unsigned x = 0, y = 0, z = 0;
    unsigned end = 0, row = 0; /* of the row: behind its last, and the number of its first */
    bool *gone = nullptr;

    CUDLA_SIM_INLINE Lanes() : own(*block), size(own.shape->block) {
        own.together = true;
        own.rooms_taken = 0;
        if constexpr (LEAVE) {
            gone = static_cast<bool *>(take_room(own, own.threads));
            memset(gone, 0, own.threads);
        }
    }
    Lanes(const Lanes &) = delete;
    Lanes &operator=(const Lanes &) = delete;
    CUDLA_SIM_INLINE ~Lanes() { /* each_thread has no other to run */
        own.together = false;
        own.whole = true;
        own.quiet = Quiet::NO;
    }

    CUDLA_SIM_INLINE void begin() { z = row = 0; }
    CUDLA_SIM_INLINE bool more() {
        if (z == size.z)
            return false;
        ::threadIdx.z.set(z);
        return true;
    }
    CUDLA_SIM_INLINE void next() { z++; }
    CUDLA_SIM_INLINE void begin_row() { y = 0; }
    CUDLA_SIM_INLINE bool more_rows() {
        if (y == size.y)
            return false;
        ::threadIdx.y.set(y);
        return true;
    }
    CUDLA_SIM_INLINE void next_row() {
        y++;
        row += size.x;
    }
    CUDLA_SIM_INLINE void begin_lane() { begin_lane({0, size.x}); }
    CUDLA_SIM_INLINE void begin_lane(LaneSpan of) {
        x = of.first;
        end = of.end;
    }
    CUDLA_SIM_INLINE bool more_lanes() {
        if (x >= end)
            return false;
        ::threadIdx.x.set(x);
        ::threadIdx.x.keep();
        return true;
    }
    CUDLA_SIM_INLINE void next_lane() { x++; }
    CUDLA_SIM_INLINE unsigned lane() const { return row + x; } /* its number in the block */
    CUDLA_SIM_INLINE bool here() const { return !gone[lane()]; }
    CUDLA_SIM_INLINE void leave() { gone[lane()] = true; }
};

template <class T> struct Unrestricted {
    using type = std::remove_cv_t<T>;
};
template <class T> struct Unrestricted<T *__restrict> {
    using type = T *;
};
template <class T> struct Unrestricted<T *const __restrict> {
    using type = T *;
};

/* A variable of each thread, from one barrier to another. */
template <class T> struct Crossing {
    using Own = typename Unrestricted<T>::type;

    template <bool LEAVE>
    CUDLA_SIM_INLINE explicit Crossing(const Lanes<LEAVE> &of)
        : own(of.own), values(static_cast<Own *>(take_room(own, sizeof(Own) * own.threads))) {}
    template <bool LEAVE, class V> CUDLA_SIM_INLINE Crossing(const Lanes<LEAVE> &of, V &all) : Crossing(of) {
        for (unsigned i = 0; i < own.threads; i++)
            new (static_cast<void *>(values + i)) Own(all);
    }
    Crossing(const Crossing &) = delete;
    Crossing &operator=(const Crossing &) = delete;
    CUDLA_SIM_INLINE ~Crossing() { own.rooms_taken--; }

    CUDLA_SIM_INLINE Own &operator[](unsigned lane) { return values[lane]; }
    /* As a declaration without a value leaves it. */
    CUDLA_SIM_INLINE Own &begin(unsigned lane) {
        if constexpr (!std::is_array_v<Own> && !std::is_trivially_default_constructible_v<Own>)
            new (static_cast<void *>(values + lane)) Own;
        return values[lane];
    }
    template <class V> CUDLA_SIM_INLINE Own &begin(unsigned lane, V &value) {
        if constexpr (std::is_array_v<Own>)
            memcpy(static_cast<void *>(values + lane), static_cast<const void *>(value), sizeof(Own));
        else
            new (static_cast<void *>(values + lane)) Own(value);
        return values[lane];
    }

  private:
    Block &own;
    Own *values;
};

} // namespace cudla_sim

#undef CUDLA_SIM_INLINE

#endif
