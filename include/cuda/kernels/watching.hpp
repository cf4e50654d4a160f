/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/watching.hpp - when accesses to memory are looked at: in kernels that were compiled for checks
 * (CUDLA_SIM_CHECKS), and there in the code of the program, not in that of these headers.
 */
#ifndef CUDLA_SIM_KERNELS_WATCHING_H
#define CUDLA_SIM_KERNELS_WATCHING_H

#include <cstddef>

namespace cudla_sim {

struct Block;
struct Fiber;
struct Line;

/* Before the blocks of a launch. */
inline void check_launch();

#if defined(CUDLA_SIM_CHECKS)
#define CUDLA_SIM_NOT_SEEN __attribute__((no_sanitize_thread))

/* volatile: the calls that read it come in behind what optimizes the rest */
inline thread_local volatile bool watching = false;

/* Not inlined, so that these stores are not seen. */
CUDLA_SIM_NOT_SEEN __attribute__((noinline)) inline void watch(bool on) { watching = on; }
inline void stop_watching() { watch(false); } /* a thread that failed was left in the middle */

/* These headers at work: what they touch is theirs. */
class Unwatched {
  public:
    CUDLA_SIM_NOT_SEEN __attribute__((noinline)) Unwatched() : before_(watching) { watching = false; }
    CUDLA_SIM_NOT_SEEN __attribute__((noinline)) ~Unwatched() { watching = before_; }
    Unwatched(const Unwatched &) = delete;
    Unwatched &operator=(const Unwatched &) = delete;

  private:
    bool before_;
};

/* What orders threads (check_race.hpp): a block begins or meets, some of its threads meet. */
inline void check_begins(Block &own);
inline void check_ends(Block &own);
inline void check_all_met(Block &own);
inline void check_met(Block &own, const Line &waiting);
/* Bytes that are copied without the compiler's knowledge. */
inline void check_access(const void *at, size_t size, bool write);
/* Who was at a place before is ordered before who comes later. */
inline void check_order(const void *place);
#else
#define CUDLA_SIM_NOT_SEEN

struct Unwatched {
    Unwatched() {}
};
inline void check_begins(Block &) {}
inline void check_ends(Block &) {}
inline void stop_watching() {}
inline void check_all_met(Block &) {}
inline void check_met(Block &, const Line &) {}
inline void check_access(const void *, size_t, bool) {}
inline void check_order(const void *) {}
#endif

} // namespace cudla_sim

#endif
