/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/arrivals.hpp - cuda::barrier and cuda::pipeline of the threads of a block, and copies that they wait
 * for (libcu++, "cuda::barrier", "cuda::pipeline", "cuda::memcpy_async"). A copy is made where it is asked for.
 */
#ifndef CUDLA_SIM_KERNELS_ARRIVALS_H
#define CUDLA_SIM_KERNELS_ARRIVALS_H

#include <cstddef>
#include <utility>

#include "atomics.hpp"
#include "builtins.hpp"
#include "phases.hpp"

namespace cudla_sim {

inline void copy_seen(void *to, const void *from, size_t bytes) {
    check_access(from, bytes, false);
    check_access(to, bytes, true);
    memcpy(to, from, bytes);
}

} // namespace cudla_sim

namespace cuda {

/* Sizes that say how things are aligned. */
template <::std::size_t Alignment> struct aligned_size_t {
    static constexpr ::std::size_t align = Alignment;
    ::std::size_t value;
    explicit constexpr aligned_size_t(::std::size_t size) : value(size) {}
    constexpr operator ::std::size_t() const { return value; }
};

template <thread_scope Scope, class Completion = void> class barrier {
    static_assert(Scope == thread_scope_block || Scope == thread_scope_thread,
                  "barriers of several blocks are none here: blocks do not all run at once");

  public:
    using arrival_token = unsigned;

    constexpr barrier() = default;
    explicit barrier(::std::ptrdiff_t expected) { arrivals_.start(static_cast<unsigned>(expected)); }
    barrier(const barrier &) = delete;
    barrier &operator=(const barrier &) = delete;

    static constexpr ::std::ptrdiff_t max() { return (1 << 20) - 1; }
    [[nodiscard]] arrival_token arrive(::std::ptrdiff_t count = 1) {
        return arrivals_.arrive(static_cast<unsigned>(count));
    }
    void wait(arrival_token &&token) const { arrivals_.wait(token, "wait of a barrier"); }
    void wait_parity(bool parity) const {
        if (static_cast<bool>(arrivals_.phase & 1) == parity)
            arrivals_.wait(arrivals_.phase, "wait of a barrier");
    }
    bool try_wait(arrival_token &&token) const {
        wait(::std::move(token));
        return true;
    }
    void arrive_and_wait() { wait(arrive()); }
    void arrive_and_drop() { arrivals_.arrive(1, 1); }

    friend void init(barrier *at, ::std::ptrdiff_t expected) {
        at->arrivals_.start(static_cast<unsigned>(expected));
    }

  private:
    mutable cudla_sim::Arrivals arrivals_;
};

/* --- pipelines: stages that producers fill and consumers empty -------------------------------- */

enum class pipeline_role { producer, consumer };

template <thread_scope Scope, unsigned Stages> struct pipeline_shared_state {
    static constexpr unsigned count = Stages;
    cudla_sim::Arrivals full[Stages], empty[Stages];
};

template <thread_scope Scope> class pipeline {
  public:
    pipeline() = default;
    pipeline(cudla_sim::Arrivals *full, cudla_sim::Arrivals *empty, unsigned stages)
        : full_(full), empty_(empty), stages_(stages) {}

    void producer_acquire() {
        if (stages_ && head_ >= stages_)
            empty_[head_ % stages_].wait(head_ / stages_ - 1, "producer_acquire");
    }
    void producer_commit() {
        if (stages_)
            full_[head_ % stages_].arrive(1);
        head_++;
    }
    void consumer_wait() {
        if (stages_)
            full_[tail_ % stages_].wait(tail_ / stages_, "consumer_wait");
    }
    void consumer_release() {
        if (stages_)
            empty_[tail_ % stages_].arrive(1);
        tail_++;
    }
    template <class Rep> bool consumer_wait_for(const Rep &) {
        consumer_wait();
        return true;
    }
    void quit() {}
    /* The last stages but `Prior`. */
    template <unsigned Prior> void wait_prior() {
        if (stages_ && head_ > Prior)
            full_[(head_ - Prior - 1) % stages_].wait((head_ - Prior - 1) / stages_, "consumer_wait");
    }

  private:
    cudla_sim::Arrivals *full_ = nullptr, *empty_ = nullptr;
    unsigned stages_ = 0, head_ = 0, tail_ = 0;
};

/* Of one thread: its copies have been made. */
inline pipeline<thread_scope_thread> make_pipeline() { return {}; }

namespace cudla_sim_details {
template <class Group, thread_scope Scope, unsigned Stages>
pipeline<Scope> made(const Group &group, pipeline_shared_state<Scope, Stages> *state, unsigned producers,
                     unsigned consumers) {
    if (group.thread_rank() == 0)
        for (unsigned i = 0; i < Stages; i++) {
            state->full[i].start(producers);
            state->empty[i].start(consumers);
        }
    group.sync();
    return pipeline<Scope>(state->full, state->empty, Stages);
}
} // namespace cudla_sim_details

template <class Group, thread_scope Scope, unsigned Stages>
pipeline<Scope> make_pipeline(const Group &group, pipeline_shared_state<Scope, Stages> *state) {
    return cudla_sim_details::made(group, state, group.size(), group.size());
}
/* The first so many threads produce. */
template <class Group, thread_scope Scope, unsigned Stages>
pipeline<Scope> make_pipeline(const Group &group, pipeline_shared_state<Scope, Stages> *state,
                              ::std::size_t producers) {
    unsigned count = static_cast<unsigned>(producers);
    return cudla_sim_details::made(group, state, count, group.size() - count);
}
template <class Group, thread_scope Scope, unsigned Stages>
pipeline<Scope> make_pipeline(const Group &group, pipeline_shared_state<Scope, Stages> *state,
                              pipeline_role role) {
    static thread_local unsigned count; /* of the block: it has one system thread */
    if (group.thread_rank() == 0)
        count = 0;
    group.sync();
    if (role == pipeline_role::producer)
        atomicAdd(&count, 1u);
    group.sync();
    return cudla_sim_details::made(group, state, count, group.size() - count);
}

template <unsigned Prior, thread_scope Scope> void pipeline_consumer_wait_prior(pipeline<Scope> &of) {
    of.template wait_prior<Prior>();
}
template <thread_scope Scope> void pipeline_producer_commit(pipeline<Scope> &of, barrier<Scope> &) {
    of.producer_commit();
}

/* --- copies ------------------------------------------------------------------------------------ */

template <class T, class Size, thread_scope Scope>
void memcpy_async(T *to, const T *from, Size bytes, barrier<Scope> &) {
    cudla_sim::copy_seen(to, from, static_cast<::std::size_t>(bytes));
}
template <class T, class Size, thread_scope Scope>
void memcpy_async(T *to, const T *from, Size bytes, pipeline<Scope> &) {
    cudla_sim::copy_seen(to, from, static_cast<::std::size_t>(bytes));
}
namespace cudla_sim_details {
/* Each thread of a group copies its part. */
template <class Group> void part(const Group &group, void *to, const void *from, ::std::size_t bytes) {
    ::std::size_t each = (bytes + group.size() - 1) / group.size(), first = group.thread_rank() * each;
    if (first < bytes)
        cudla_sim::copy_seen(static_cast<char *>(to) + first, static_cast<const char *>(from) + first,
                             bytes - first < each ? bytes - first : each);
}
} // namespace cudla_sim_details
template <class Group, class T, class Size, thread_scope Scope>
void memcpy_async(const Group &group, T *to, const T *from, Size bytes, barrier<Scope> &) {
    cudla_sim_details::part(group, to, from, static_cast<::std::size_t>(bytes));
}
template <class Group, class T, class Size, thread_scope Scope>
void memcpy_async(const Group &group, T *to, const T *from, Size bytes, pipeline<Scope> &) {
    cudla_sim_details::part(group, to, from, static_cast<::std::size_t>(bytes));
}

} // namespace cuda

#endif
