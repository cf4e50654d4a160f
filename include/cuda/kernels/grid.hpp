/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/grid.hpp - the blocks of a launch, over the cores.
 */
#ifndef CUDLA_SIM_KERNELS_GRID_H
#define CUDLA_SIM_KERNELS_GRID_H

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "engine.hpp"
#include "faults.hpp"

namespace cudla_sim {

/* Blocks that wait for each other: each has a system thread. */
struct Grid {
    std::mutex lock;
    std::condition_variable all_here;
    unsigned blocks = 0, arrived = 0, round = 0;
    bool broken = false; /* a block failed and never comes */

    void wait() {
        std::unique_lock<std::mutex> held(lock);
        if (broken)
            return;
        unsigned mine = round;
        if (++arrived == blocks) {
            arrived = 0;
            round++;
            all_here.notify_all();
        } else {
            all_here.wait(held, [&] { return round != mine || broken; });
        }
    }

    void give_up() {
        std::lock_guard<std::mutex> held(lock);
        broken = true;
        all_here.notify_all();
    }
};

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

inline uint3 place(const dim3 &grid, uint64_t number) {
    return uint3{static_cast<unsigned>(number % grid.x),
                 static_cast<unsigned>(number / grid.x % grid.y),
                 static_cast<unsigned>(number / (static_cast<uint64_t>(grid.x) * grid.y))};
}

/* Blocks with their stacks: to map those takes longer than most kernels, and system threads come and go. */
class Blocks {
  public:
    static Blocks &get() {
        static Blocks *blocks = new Blocks; /* never destroyed: helpers live as long as the process */
        return *blocks;
    }

    std::unique_ptr<Block> take() {
        std::lock_guard<std::mutex> held(lock_);
        if (idle_.empty())
            return std::make_unique<Block>();
        std::unique_ptr<Block> taken = std::move(idle_.back());
        idle_.pop_back();
        return taken;
    }

    void give(std::unique_ptr<Block> block) {
        std::lock_guard<std::mutex> held(lock_);
        idle_.push_back(std::move(block));
    }

  private:
    std::mutex lock_;
    std::vector<std::unique_ptr<Block>> idle_;
};

/* Threads that help with the blocks of a launch; they live as long as the process. */
class Pool {
  public:
    static Pool &get() {
        static Pool *pool = new Pool; /* never destroyed: its threads wait in it */
        return *pool;
    }

    unsigned workers() const { return helpers_ + 1; }

    /* There will be work at once: who sleeps takes as long to come as a small launch takes. */
    void announce() {
        if (asleep_ == 0)
            return;
        {
            std::lock_guard<std::mutex> held(lock_);
            announced_++;
        }
        begin_.notify_all();
    }

    /* Runs `work` in this thread, and in helpers that come in time; false if they help somebody else. */
    template <class Work> bool run(Work &work) {
        if (helpers_ == 0 || !busy_.try_lock())
            return false;
        unsigned asleep;
        {
            std::lock_guard<std::mutex> held(lock_);
            work_ = [](void *of) { (*static_cast<Work *>(of))(); };
            of_ = &work;
            open_ = true;
            round_++;
            asleep = asleep_;
        }
        if (asleep)
            begin_.notify_all();
        work();
        pause_until([&] { return active_ == 0; });
        std::unique_lock<std::mutex> held(lock_);
        open_ = false; /* who has not begun is not waited for */
        end_.wait(held, [&] { return active_ == 0; });
        busy_.unlock();
        return true;
    }

  private:
    Pool() {
        unsigned cores = std::thread::hardware_concurrency();
        for (unsigned i = 1; i < cores; i++, helpers_++)
            std::thread([this] { help(); }).detach();
    }

    /* A short while: to sleep and to be woken costs as much as a small launch. */
    template <class Done> static void pause_until(Done done) {
        for (int i = 0; i < PAUSES && !done(); i++) {
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
    }

    void help() {
        unsigned seen = 0, heard = 0;
        for (;;) {
            pause_until([&] { return round_ != seen; });
            std::unique_lock<std::mutex> held(lock_);
            asleep_++;
            begin_.wait(held, [&] { return round_ != seen || announced_ != heard; });
            asleep_--;
            heard = announced_;
            if (round_ == seen)
                continue;
            seen = round_;
            if (!open_)
                continue;
            active_++;
            auto work = work_;
            void *of = of_;
            held.unlock();
            work(of);
            held.lock();
            if (--active_ == 0)
                end_.notify_one();
        }
    }

    static constexpr int PAUSES = 2000;
    std::mutex busy_, lock_;
    std::condition_variable begin_, end_;
    void (*work_)(void *) = nullptr;
    void *of_ = nullptr;
    bool open_ = false;
    unsigned helpers_ = 0, announced_ = 0;
    std::atomic<unsigned> active_{0}, round_{0}, asleep_{0};
};

constexpr uint64_t THREADS_WORTH_HELP = 4096;
constexpr uint64_t SHARES = 32; /* of a system thread, so that all end at about the same time */

inline uint64_t blocks_of(const Shape &shape) {
    return static_cast<uint64_t>(shape.grid.x) * shape.grid.y * shape.grid.z;
}

inline bool worth_help(const Shape &shape) {
    uint64_t blocks = blocks_of(shape), threads = blocks * shape.block.x * shape.block.y * shape.block.z;
    return blocks > 1 && threads >= THREADS_WORTH_HELP && !shape.cooperative;
}

/* What a system thread needs before it runs blocks. */
inline void ready_for_faults() {
    catch_signals();
    thread_local SignalStack stack;
    (void)stack;
}

/* All blocks, over the cores; returns when the last one ended. */
inline void run_blocks(const Shape &shape, RunThreads run, void *call, Failure &failure) {
    uint64_t blocks = blocks_of(shape);
    if (shape.cooperative) {
        std::vector<std::thread> all;
        for (uint64_t i = 0; i < blocks; i++)
            all.emplace_back([&, i] {
                ready_for_faults();
                std::unique_ptr<Block> used = Blocks::get().take();
                used->execute(shape, place(shape.grid, i), 1, run, call, failure);
                Blocks::get().give(std::move(used));
                if (failure)
                    shape.cooperative->give_up();
            });
        for (std::thread &thread : all)
            thread.join();
        return;
    }
    uint64_t together = std::max<uint64_t>(1, blocks / (Pool::get().workers() * SHARES));
    std::atomic<uint64_t> next{0};
    auto work = [&] {
        ready_for_faults();
        std::unique_ptr<Block> used = Blocks::get().take();
        for (uint64_t i; !failure && (i = next.fetch_add(together)) < blocks;)
            used->execute(shape, place(shape.grid, i), std::min(together, blocks - i), run, call, failure);
        Blocks::get().give(std::move(used));
    };
    if (block || !worth_help(shape) || !Pool::get().run(work))
        work();
}

/* The same, with what became of it told to the runtime; a failed child fails its parent. */
inline void run_grid(const Shape &shape, RunThreads run, void *call) {
    check_launch();
    Failure failure;
    run_blocks(shape, run, call, failure);
    if (!failure)
        return;
    tell(failure, shape.kernel);
    if (block)
        fail_launch(failure.error, "a kernel that it launched failed");
}

} // namespace cudla_sim

#endif
