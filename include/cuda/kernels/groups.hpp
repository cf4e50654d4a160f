/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/groups.hpp - groups of threads that meet: blocks, tiles of a warp, the whole grid (CUDA
 * C++ Programming Guide, "Cooperative groups").
 */
#ifndef CUDLA_SIM_KERNELS_GROUPS_H
#define CUDLA_SIM_KERNELS_GROUPS_H

#include <type_traits>

#include "builtins.hpp"

namespace cooperative_groups {

namespace details {
inline unsigned low(unsigned lanes) { return lanes >= 32 ? ~0u : (1u << lanes) - 1; }
} // namespace details

class thread_block;

/* Some lanes of a warp, or a block: `mask` is 0 for a block. */
class thread_group {
  public:
    unsigned size() const { return mask_ ? cudla_sim::count_bits(mask_) : block_size(); }
    unsigned num_threads() const { return size(); }
    unsigned thread_rank() const {
        if (!mask_)
            return cudla_sim::rank();
        return cudla_sim::count_bits(mask_ & details::low(cudla_sim::lane()));
    }
    void sync() const {
        if (mask_)
            cudla_sim::lanes_barrier(mask_, "sync of a group");
        else
            cudla_sim::block_barrier("sync of a block");
    }
    bool is_valid() const { return true; }

  protected:
    explicit thread_group(unsigned mask) : mask_(mask) {}
    static unsigned block_size() { return cudla_sim::block->threads; }
    unsigned mask_;

    friend thread_group tiled_partition(const thread_group &, unsigned);
};

class thread_block : public thread_group {
  public:
    thread_block() : thread_group(0) {}
    static void sync() { cudla_sim::block_barrier("sync of a block"); }
    static dim3 group_index() { return dim3(blockIdx); }
    static dim3 thread_index() { return dim3(threadIdx); }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
    static unsigned thread_rank() { return cudla_sim::rank(); }
    static unsigned size() { return block_size(); }
    static unsigned num_threads() { return block_size(); }
};

inline thread_block this_thread_block() { return thread_block(); }

/* Where a GPU keeps what tiles above a warp exchange. */
template <unsigned MostThreads = 1024> struct block_tile_memory {};
template <unsigned MostThreads>
inline thread_block this_thread_block(block_tile_memory<MostThreads> &) { return thread_block(); }

class grid_group {
  public:
    bool is_valid() const { return cudla_sim::block->shape->cooperative != nullptr; }
    void sync() const { cudla_sim::grid_barrier(); }
    static uint64_t block_rank() {
        return blockIdx.x + static_cast<uint64_t>(gridDim.x) * (blockIdx.y + static_cast<uint64_t>(gridDim.y) * blockIdx.z);
    }
    static uint64_t num_blocks() {
        return static_cast<uint64_t>(gridDim.x) * gridDim.y * gridDim.z;
    }
    static uint64_t thread_rank() {
        return block_rank() * cudla_sim::block->threads + cudla_sim::rank();
    }
    static uint64_t size() { return num_blocks() * cudla_sim::block->threads; }
    static uint64_t num_threads() { return size(); }
    static dim3 group_dim() { return gridDim; }
};

inline grid_group this_grid() { return grid_group(); }

/* What tiles and coalesced groups can do with each other's values. */
class lanes_group : public thread_group {
  public:
    explicit lanes_group(unsigned mask) : thread_group(mask) {}

    template <class T> T shfl(T value, unsigned rank) const {
        return cudla_sim::shuffled(mask_, value, lane_of(rank), rank < size(), "shfl");
    }
    template <class T> T shfl_down(T value, unsigned delta) const {
        unsigned rank = thread_rank() + delta;
        return cudla_sim::shuffled(mask_, value, lane_of(rank), rank < size(), "shfl_down");
    }
    template <class T> T shfl_up(T value, unsigned delta) const {
        unsigned own = thread_rank();
        return cudla_sim::shuffled(mask_, value, lane_of(own - delta), delta <= own, "shfl_up");
    }
    template <class T> T shfl_xor(T value, unsigned bits) const {
        unsigned rank = thread_rank() ^ bits;
        return cudla_sim::shuffled(mask_, value, lane_of(rank), rank < size(), "shfl_xor");
    }
    int any(int predicate) const { return __any_sync(mask_, predicate); }
    int all(int predicate) const { return __all_sync(mask_, predicate); }
    unsigned ballot(int predicate) const { return ranks(__ballot_sync(mask_, predicate)); }
    template <class T> unsigned match_any(T value) const {
        return ranks(__match_any_sync(mask_, value));
    }
    unsigned mask() const { return mask_; }

    template <class T, class Two> T reduced(T value, Two two) const {
        return cudla_sim::reduced(mask_, value, "reduce", two);
    }
    template <class T, class Two> T scanned(T value, Two two) const {
        for (unsigned step = 1; step < size(); step *= 2) {
            T before = shfl_up(value, step);
            if (thread_rank() >= step)
                value = two(before, value);
        }
        return value;
    }
    template <class T> T of_before(T value) const { return shfl_up(value, 1); }

  private:
    int lane_of(unsigned rank) const {
        unsigned first, left = mask_;
        if (side_by_side(first))
            return rank < 32 - first && left >> first >> rank & 1u ? static_cast<int>(first + rank) : 0;
        for (; rank && left; rank--)
            left &= left - 1;
        return left ? __builtin_ctz(left) : 0;
    }
    /* Whether its lanes lie side by side, as those of tiles do. */
    bool side_by_side(unsigned &first) const {
        first = mask_ ? static_cast<unsigned>(__builtin_ctz(mask_)) : 0;
        unsigned side = mask_ >> first;
        return (side & (side + 1)) == 0;
    }
    /* Lanes of the warp as ranks of the group. */
    unsigned ranks(unsigned lanes) const {
        unsigned first, found = 0, rank = 0;
        if (side_by_side(first))
            return (lanes & mask_) >> first;
        for (unsigned i = 0; i < 32; i++)
            if (mask_ >> i & 1)
                found |= (lanes >> i & 1) << rank++;
        return found;
    }
};

namespace details {

template <unsigned Size> class lanes_tile : public lanes_group {
  public:
    lanes_tile() : lanes_group(low(Size) << (cudla_sim::lane() & ~(Size - 1))) {}
};

/* A tile of several warps: no shuffles, as on a GPU. */
template <unsigned Size> class wide_tile {
  public:
    static unsigned thread_rank() { return cudla_sim::rank() % Size; }
    static void sync() { cudla_sim::tile_barrier(cudla_sim::tile_of(Size), "sync of a tile"); }
    static bool is_valid() { return true; }
    int any(int predicate) const { return reduced(predicate != 0, or_{}, "any"); }
    int all(int predicate) const { return reduced(predicate != 0, and_{}, "all"); }

    template <class T, class Two> T reduced(T value, Two two, const char *what = "reduce") const {
        return folded(value, two, 0, number(), what);
    }
    template <class T, class Two> T scanned(T value, Two two) const {
        return folded(value, two, 0, thread_rank() + 1, "scan");
    }
    template <class T> T of_before(T value) const {
        unsigned own = thread_rank(), from = own ? own - 1 : 0;
        return folded(value, or_{}, from, from + 1, "scan");
    }

  private:
    struct or_ { template <class T> T operator()(T a, T b) const { return a || b; } };
    struct and_ { template <class T> T operator()(T a, T b) const { return a && b; } };

    /* The last tile of a block may have fewer. */
    static unsigned number() {
        unsigned left = cudla_sim::block->threads - cudla_sim::rank() / Size * Size;
        return left < Size ? left : Size;
    }
    /* Of the threads with ranks from `from` on, in their order. */
    template <class T, class Two>
    static T folded(T value, Two two, unsigned from, unsigned end, const char *what) {
        static_assert(sizeof(T) <= cudla_sim::SLOT_BYTES, "lanes exchange values of up to 32 bytes");
        cudla_sim::Unwatched ours;
        cudla_sim::Tile &tile = cudla_sim::tile_of(Size);
        memcpy(&tile.slots[thread_rank() * cudla_sim::SLOT_BYTES], &value, sizeof value);
        cudla_sim::tile_barrier(tile, what);
        T result, next;
        memcpy(&result, &tile.slots[from * cudla_sim::SLOT_BYTES], sizeof result);
        while (++from < end) {
            memcpy(&next, &tile.slots[from * cudla_sim::SLOT_BYTES], sizeof next);
            result = two(result, next);
        }
        cudla_sim::tile_barrier(tile, what);
        return result;
    }
};

} // namespace details

template <unsigned Size, class Parent = void>
class thread_block_tile
    : public std::conditional_t<(Size <= 32), details::lanes_tile<Size>, details::wide_tile<Size>> {
    static_assert(Size && Size <= 1024 && !(Size & (Size - 1)), "tiles have 1 to 1024 threads");

  public:
    thread_block_tile() = default;
    template <class Other>
    thread_block_tile(const thread_block_tile<Size, Other> &) : thread_block_tile() {}
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    unsigned meta_group_rank() const { return cudla_sim::rank() / Size; }
    unsigned meta_group_size() const { return (cudla_sim::block->threads + Size - 1) / Size; }
};

class coalesced_group : public lanes_group {
  public:
    explicit coalesced_group(unsigned mask) : lanes_group(mask) {}
};

inline coalesced_group coalesced_threads(unsigned place = 0) {
    return coalesced_group(__activemask(place));
}

template <unsigned Size, class Parent>
inline thread_block_tile<Size, Parent> tiled_partition(const Parent &) {
    return thread_block_tile<Size, Parent>();
}

inline thread_group tiled_partition(const thread_group &, unsigned size) {
    return thread_group(details::low(size) << (cudla_sim::lane() & ~(size - 1)));
}

template <class Group> inline coalesced_group binary_partition(const Group &group, bool predicate) {
    unsigned mask = group.mask(), yes = __ballot_sync(mask, predicate);
    return coalesced_group(predicate ? yes : mask & ~yes);
}

template <unsigned Size, class Parent>
inline coalesced_group binary_partition(const thread_block_tile<Size, Parent> &group, bool predicate) {
    return binary_partition<thread_block_tile<Size, Parent>>(group, predicate);
}

template <class Group, class Label>
inline coalesced_group labeled_partition(const Group &group, Label label) {
    return coalesced_group(__match_any_sync(group.mask(), label));
}

template <class Group> inline void sync(const Group &group) { group.sync(); }
template <class Group> inline unsigned thread_rank(const Group &group) { return group.thread_rank(); }
template <class Group> inline unsigned group_size(const Group &group) { return group.size(); }

/* One thread of the group calls it, its first one. */
template <class Group, class Function, class... A>
inline void invoke_one(const Group &group, Function &&function, A &&...given) {
    if (group.thread_rank() == 0)
        std::forward<Function>(function)(std::forward<A>(given)...);
}
/* And all have what it gave. */
template <class Group, class Function, class... A>
inline auto invoke_one_broadcast(const Group &group, Function &&function, A &&...given)
    -> std::decay_t<decltype(function(std::forward<A>(given)...))> {
    std::decay_t<decltype(function(std::forward<A>(given)...))> made{};
    if (group.thread_rank() == 0)
        made = std::forward<Function>(function)(std::forward<A>(given)...);
    return group.shfl(made, 0);
}

/* --- cooperative_groups/reduce.h, scan.h ----------------------------------------------------- */

template <class T> struct plus { T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { T operator()(T a, T b) const { return a ^ b; } };

namespace details {
/* What it had before. */
template <class Atomic, class T, class Two> inline T updated(Atomic &to, T by, Two two) {
    auto old = to.load();
    while (!to.compare_exchange_weak(old, two(old, by))) {
    }
    return static_cast<T>(old);
}
template <class Group, class Atomic, class T, class Two>
inline T updated_once(const Group &group, Atomic &to, T by, Two two) {
    T old{};
    if (group.thread_rank() == 0)
        old = updated(to, by, two);
    return group.shfl(old, 0);
}
} // namespace details

template <class Group, class T, class Two> inline T reduce(const Group &group, T value, Two two) {
    return group.reduced(value, two);
}

/* What all of them give goes to one place by its first thread: an atomic object is updated or written, behind a
 * pointer it is written. */
template <class Group, class Atomic, class T, class Two>
inline void reduce_update_async(const Group &group, Atomic &&to, T value, Two two) {
    const auto given = reduce(group, value, two);
    if (group.thread_rank() == 0)
        details::updated(to, given, two);
}
template <class Group, class Atomic, class T, class Two>
inline void reduce_store_async(const Group &group, Atomic &&to, T value, Two two) {
    const auto given = reduce(group, value, two);
    if (group.thread_rank() != 0)
        return;
    if constexpr (std::is_pointer_v<std::decay_t<Atomic>>)
        *to = given;
    else
        to.store(given);
}

template <class Group, class T, class Two>
inline T inclusive_scan(const Group &group, T value, Two two) {
    return group.scanned(value, two);
}
template <class Group, class T> inline T inclusive_scan(const Group &group, T value) {
    return inclusive_scan(group, value, plus<T>());
}
/* The first one has what the operation leaves as it is: 0 of a sum. */
template <class Group, class T, class Two>
inline T exclusive_scan(const Group &group, T value, Two two) {
    T before = group.of_before(inclusive_scan(group, value, two));
    return group.thread_rank() ? before : T();
}
template <class Group, class T> inline T exclusive_scan(const Group &group, T value) {
    return exclusive_scan(group, value, plus<T>());
}
/* Scans behind what an atomic object had; it gets what all of them give. */
template <class Group, class Atomic, class T, class Two>
inline T inclusive_scan_update(const Group &group, Atomic &&to, T value, Two two) {
    const T own = inclusive_scan(group, value, two), all = group.shfl(own, group.size() - 1);
    return two(details::updated_once(group, to, all, two), own);
}
template <class Group, class Atomic, class T>
inline T inclusive_scan_update(const Group &group, Atomic &&to, T value) {
    return inclusive_scan_update(group, to, value, plus<T>());
}
template <class Group, class Atomic, class T, class Two>
inline T exclusive_scan_update(const Group &group, Atomic &&to, T value, Two two) {
    const T own = inclusive_scan(group, value, two), all = group.shfl(own, group.size() - 1);
    const T before = group.of_before(own), old = details::updated_once(group, to, all, two);
    return group.thread_rank() ? two(old, before) : old;
}
template <class Group, class Atomic, class T>
inline T exclusive_scan_update(const Group &group, Atomic &&to, T value) {
    return exclusive_scan_update(group, to, value, plus<T>());
}

/* --- cooperative_groups/memcpy_async.h ------------------------------------------------------- */

/* The threads of the group copy bytes side by side; they are there behind the next wait. */
template <class Group, class T, class Shape>
inline void memcpy_async(const Group &group, T *to, const T *from, Shape bytes) {
    const size_t all = static_cast<size_t>(bytes), part = (all + group.size() - 1) / group.size();
    const size_t first = group.thread_rank() * part;
    if (first >= all)
        return;
    const size_t own = all - first < part ? all - first : part;
    cudla_sim::check_access(reinterpret_cast<const char *>(from) + first, own, false);
    cudla_sim::check_access(reinterpret_cast<char *>(to) + first, own, true);
    memcpy(reinterpret_cast<char *>(to) + first, reinterpret_cast<const char *>(from) + first, own);
}
/* Sizes in elements: of the room, and of what is there. */
template <class Group, class T, class Room, class Size>
inline void memcpy_async(const Group &group, T *to, Room room, const T *from, Size count) {
    const size_t fits = static_cast<size_t>(room), wanted = static_cast<size_t>(count);
    memcpy_async(group, to, from, (fits < wanted ? fits : wanted) * sizeof(T));
}
template <class Group> inline void wait(const Group &group) { group.sync(); }
template <unsigned Stages, class Group> inline void wait_prior(const Group &group) { group.sync(); }

namespace experimental = cooperative_groups;

} // namespace cooperative_groups

#endif
