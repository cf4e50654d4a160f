/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/cores.hpp - the blocks of a launch, over the cores.
 */
#ifndef CUDLA_SIM_KERNELS_CORES_H
#define CUDLA_SIM_KERNELS_CORES_H

#include <atomic>

#include "blocks.hpp"
#include "containers.hpp"
#include "faults.hpp"
#include "grid.hpp"
#include "threads.hpp"

namespace cudla_sim {

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

    Block *take() {
        Held held(lock_);
        if (idle_.empty())
            return new Block;
        Block *taken = idle_.back();
        idle_.drop_last();
        return taken;
    }

    void give(Block *block) {
        Held held(lock_);
        idle_.add(block);
    }

  private:
    Mutex lock_;
    Vector<Block *> idle_;
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
            Held held(lock_);
            announced_++;
        }
        begin_.wake_all();
    }

    /* Runs `work` in this thread, and in helpers that come in time; false if they help somebody else. */
    template <class Work> bool run(Work &work) {
        if (helpers_ == 0 || !busy_.try_lock())
            return false;
        unsigned asleep;
        {
            Held held(lock_);
            work_ = [](void *of) { (*static_cast<Work *>(of))(); };
            of_ = &work;
            open_ = true;
            round_++;
            asleep = asleep_;
        }
        if (asleep)
            begin_.wake_all();
        work();
        pause_until([&] { return active_ == 0; });
        Held held(lock_);
        open_ = false; /* who has not begun is not waited for */
        end_.wait(lock_, [&] { return active_ == 0; });
        busy_.unlock();
        return true;
    }

  private:
    Pool() {
        unsigned cores = processors();
        pthread_t thread;
        while (helpers_ + 1 < cores && start_thread(thread, [this] { help(); })) {
            pthread_detach(thread);
            helpers_++;
        }
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
            Held held(lock_);
            asleep_++;
            begin_.wait(lock_, [&] { return round_ != seen || announced_ != heard; });
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
            lock_.unlock();
            work(of);
            lock_.lock();
            if (--active_ == 0)
                end_.wake_one();
        }
    }

    static constexpr int PAUSES = 2000;
    Mutex busy_, lock_;
    Condition begin_, end_;
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

/* As long as this system thread runs blocks. */
struct InKernel {
    InKernel() { __cudlaSimInKernel(1); }
    ~InKernel() { __cudlaSimInKernel(0); }
};

/* Blocks that wait for each other need all of them. */
inline void no_thread(Failure &failure, const uint3 &block) {
    if (!failure.claim())
        return;
    failure.error = cudaErrorLaunchOutOfResources;
    failure.block = block;
    snprintf(failure.what, sizeof failure.what, "no system thread is left for it (pthread_create); see ulimit -u");
}

/* All blocks, over the cores; returns when the last one ended. */
inline void run_blocks(const Shape &shape, RunThreads run, void *call, Failure &failure) {
    uint64_t blocks = blocks_of(shape);
    if (shape.cooperative) {
        Vector<pthread_t> all;
        for (uint64_t i = 0; i < blocks; i++) {
            pthread_t thread;
            bool started = start_thread(thread, [&shape, &failure, run, call, i] {
                ready_for_faults();
                InKernel now;
                Block *used = Blocks::get().take();
                used->execute(shape, place(shape.grid, i), 1, run, call, failure);
                Blocks::get().give(used);
                if (failure)
                    shape.cooperative->give_up();
            });
            if (!started) {
                no_thread(failure, place(shape.grid, i));
                shape.cooperative->give_up();
                break;
            }
            all.add(thread);
        }
        for (pthread_t thread : all)
            pthread_join(thread, nullptr);
        return;
    }
    uint64_t together = blocks / (Pool::get().workers() * SHARES);
    together += together == 0;
    std::atomic<uint64_t> next{0};
    auto work = [&] {
        ready_for_faults();
        InKernel now;
        Block *used = Blocks::get().take();
        for (uint64_t i; !failure && (i = next.fetch_add(together)) < blocks;) {
            uint64_t left = blocks - i;
            used->execute(shape, place(shape.grid, i), left < together ? left : together, run, call, failure);
        }
        Blocks::get().give(used);
    };
    if (block || !worth_help(shape) || !Pool::get().run(work))
        work();
}

CUDLA_SIM_ONCE void run_grid(const Shape &shape, RunThreads run, void *call) {
    check_launch();
    Failure failure;
    run_blocks(shape, run, call, failure);
    if (failure.division.happened.load(std::memory_order_relaxed))
        tell(failure.division, shape.kernel);
    if (!failure)
        return;
    tell(failure, shape.kernel);
    if (block)
        fail_launch(failure.error, "a kernel that it launched failed");
}

} // namespace cudla_sim

#endif
