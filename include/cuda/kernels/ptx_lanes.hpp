/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/ptx_lanes.hpp - instructions of inline PTX in which threads meet (PTX ISA, "shfl.sync", "bar",
 * "elect.sync").
 */
#ifndef CUDLA_SIM_KERNELS_PTX_LANES_H
#define CUDLA_SIM_KERNELS_PTX_LANES_H

#include "builtins.hpp"
#include "containers.hpp"
#include "phases.hpp"

namespace cudla_sim {

struct Shuffled {
    uint32_t value;
    bool inside;
};

/* The lanes that one may take from: by c, whose bits 8 to 12 say which bits of a lane's number stay. */
struct Segment {
    unsigned own, least, most;

    explicit Segment(uint32_t c) : own(lane()) {
        const unsigned kept = c >> 8 & 31;
        least = own & kept;
        most = least | (c & 31 & ~kept);
    }
};

inline Shuffled ptx_shuffled(uint32_t mask, uint32_t value, unsigned source, bool inside, const char *what) {
    const int from = static_cast<int>(inside ? source : lane());
    return {shuffled(mask, value, from, inside, what), inside};
}
inline Shuffled ptx_shfl_up(uint32_t mask, uint32_t value, uint32_t b, uint32_t c) {
    const Segment part(c);
    const unsigned by = b & 31;
    return ptx_shuffled(mask, value, part.own - by, part.own >= part.most + by, "shfl.up");
}
inline Shuffled ptx_shfl_down(uint32_t mask, uint32_t value, uint32_t b, uint32_t c) {
    const Segment part(c);
    const unsigned source = part.own + (b & 31);
    return ptx_shuffled(mask, value, source, source <= part.most, "shfl.down");
}
inline Shuffled ptx_shfl_bfly(uint32_t mask, uint32_t value, uint32_t b, uint32_t c) {
    const Segment part(c);
    const unsigned source = part.own ^ (b & 31);
    return ptx_shuffled(mask, value, source, source <= part.most, "shfl.bfly");
}
inline Shuffled ptx_shfl_idx(uint32_t mask, uint32_t value, uint32_t b, uint32_t c) {
    const Segment part(c);
    const unsigned source = part.least | (b & 31 & ~(c >> 8));
    return ptx_shuffled(mask, value, source, source <= part.most, "shfl.idx");
}

/* The lowest lane that is there. */
inline unsigned ptx_elected(uint32_t mask) {
    return exchange(mask, 0u, "elect.sync", [mask](const Met &lanes) {
        return static_cast<unsigned>(__builtin_ctz(mask & lanes.alive));
    });
}

/* Comes to a barrier; true where it was the last one. */
inline bool ptx_comes(Block &own, uint32_t number, uint32_t count) {
    if (own.numbered.empty())
        own.numbered.resize(NUMBERED);
    count_ended(own);
    Numbered &meeting = own.numbered[number % NUMBERED];
    meeting.expected = count;
    meeting.arrived++;
    if (meeting.arrived < (count ? count : own.alive))
        return false;
    release(own, meeting);
    return true;
}
inline void ptx_barrier(uint32_t number, uint32_t count = 0) {
    Unwatched ours;
    Block &own = *block;
    if (!ptx_comes(own, number, count))
        suspend(own, own.numbered[number % NUMBERED].waiting, "bar.sync");
}
inline void ptx_arrive(uint32_t number, uint32_t count) {
    Unwatched ours;
    ptx_comes(*block, number, count);
}

/* The object of mbarrier at an address; what it counts lies beside it, in the block's system thread. */
struct Mbarrier {
    uintptr_t address = 0;
    Arrivals arrivals;
};
inline Arrivals &ptx_mbarrier(uintptr_t address) {
    Unwatched ours;
    static thread_local Stable<Mbarrier> all;
    for (size_t i = 0; i < all.size(); i++)
        if (all[i].address == address)
            return all[i].arrivals;
    Mbarrier &made = all.add();
    made.address = address;
    return made.arrivals;
}
/* The state of a barrier before an arrival: its phase, and in the upper half the arrivals that it waited for. */
inline uint64_t ptx_mbarrier_arrive(uintptr_t address, uint32_t count, uint32_t gone) {
    Arrivals &at = ptx_mbarrier(address);
    const uint64_t pending = at.expected - at.arrived;
    return pending << 32 | at.arrive(count, gone);
}
inline uint32_t ptx_mbarrier_pending(uint64_t state) { return static_cast<uint32_t>(state >> 32); }
/* Waits until the phase is over, as try_wait may: a thread that asked in a loop would keep the others from coming. */
inline bool ptx_mbarrier_wait(uintptr_t address, uint64_t phase) {
    ptx_mbarrier(address).wait(static_cast<unsigned>(phase), "mbarrier.test_wait");
    return true;
}
inline bool ptx_mbarrier_parity(uintptr_t address, uint32_t parity) {
    Arrivals &at = ptx_mbarrier(address);
    if ((at.phase & 1) == (parity & 1))
        at.wait(at.phase, "mbarrier.test_wait");
    return true;
}

} // namespace cudla_sim

#endif
