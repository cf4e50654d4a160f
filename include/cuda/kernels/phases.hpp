/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/phases.hpp - arrivals that are counted, phase by phase: what cuda::barrier and PTX's mbarrier are.
 */
#ifndef CUDLA_SIM_KERNELS_PHASES_H
#define CUDLA_SIM_KERNELS_PHASES_H

#include "builtins.hpp"

namespace cudla_sim {

/* Arrivals are counted; each time that all have come a phase ends. Constant before `start`: shared memory is
 * not constructed. */
struct Arrivals {
    unsigned expected = 0, arrived = 0, phase = 0;
    Meeting meeting;

    void start(unsigned count) {
        Unwatched ours;
        expected = count;
        arrived = phase = 0;
        meeting = Meeting();
    }
    unsigned arrive(unsigned count, unsigned gone = 0) {
        check_order(this);
        Unwatched ours;
        unsigned now = phase;
        arrived += count;
        expected -= gone;
        if (arrived == expected + gone) {
            arrived = 0;
            phase++;
            block->ready.add_all(meeting.waiting);
        }
        return now;
    }
    /* Until a phase is over. */
    void wait(unsigned of, const char *what) {
        {
            Unwatched ours;
            count_ended(*block);
            while (static_cast<int>(phase - of) <= 0)
                suspend(*block, meeting.waiting, what);
        }
        check_order(this);
    }
    bool over(unsigned of) {
        bool done = static_cast<int>(phase - of) > 0;
        if (done)
            check_order(this);
        return done;
    }
};

} // namespace cudla_sim

#endif
