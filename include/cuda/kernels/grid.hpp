/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/grid.hpp - the blocks of a launch: how they run, and where those of a cooperative one meet.
 */
#ifndef CUDLA_SIM_KERNELS_GRID_H
#define CUDLA_SIM_KERNELS_GRID_H

#include "engine.hpp"
#include "threads.hpp"

namespace cudla_sim {

/* Blocks that wait for each other: each has a system thread. */
struct Grid {
    Mutex lock;
    Condition all_here;
    unsigned blocks = 0, arrived = 0, round = 0;
    bool broken = false; /* a block failed and never comes */
    alignas(16) uint32_t workspace[4] = {sizeof workspace, 0, 0, 0}; /* what code of NVIDIA's compiler meets at */

    void wait() {
        Held held(lock);
        if (broken)
            return;
        unsigned mine = round;
        if (++arrived == blocks) {
            arrived = 0;
            round++;
            all_here.wake_all();
        } else {
            all_here.wait(lock, [&] { return round != mine || broken; });
        }
    }

    void give_up() {
        Held held(lock);
        broken = true;
        all_here.wake_all();
    }
};

/* Where the blocks of a cooperative launch meet in PTX, 0 of another launch. */
inline uint64_t grid_workspace() {
    Grid *grid = block->shape->cooperative;
    return grid ? reinterpret_cast<uintptr_t>(grid->workspace) : 0;
}

/* Called by all threads of the block; the last one to arrive waits for the other blocks. */
inline void grid_barrier() {
    Unwatched ours;
    Block &own = *block;
    count_ended(own);
    own.everybody.arrived++;
    if (own.everybody.arrived == own.alive) {
        if (own.shape->cooperative)
            own.shape->cooperative->wait();
        if (*own.failure) /* another block has failed */
            abandon();
        close_block_barrier(own);
    } else {
        suspend(own, own.everybody.waiting, "grid sync");
    }
}

/* All blocks, over the cores; what became of it is told to the runtime. A failed child fails its parent (cores.hpp). */
CUDLA_SIM_ONCE void run_grid(const Shape &shape, RunThreads run, void *call);

} // namespace cudla_sim

#endif
