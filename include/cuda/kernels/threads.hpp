/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/threads.hpp - system threads, and what they wait for each other with. Of POSIX: see containers.hpp.
 */
#ifndef CUDLA_SIM_KERNELS_THREADS_H
#define CUDLA_SIM_KERNELS_THREADS_H

#include <pthread.h>
#include <sched.h>

namespace cudla_sim {

class Mutex {
  public:
    Mutex() = default;
    Mutex(const Mutex &) = delete;
    Mutex &operator=(const Mutex &) = delete;

    void lock() { pthread_mutex_lock(&own_); }
    bool try_lock() { return pthread_mutex_trylock(&own_) == 0; }
    void unlock() { pthread_mutex_unlock(&own_); }

  private:
    friend class Condition;
    pthread_mutex_t own_ = PTHREAD_MUTEX_INITIALIZER;
};

/* Holds a mutex as long as it lives. */
class Held {
  public:
    explicit Held(Mutex &of) : of_(of) { of_.lock(); }
    Held(const Held &) = delete;
    Held &operator=(const Held &) = delete;
    ~Held() { of_.unlock(); }

  private:
    Mutex &of_;
};

class Condition {
  public:
    Condition() = default;
    Condition(const Condition &) = delete;
    Condition &operator=(const Condition &) = delete;

    template <class Done> void wait(Mutex &held, Done done) {
        while (!done())
            pthread_cond_wait(&own_, &held.own_);
    }
    void wake_one() { pthread_cond_signal(&own_); }
    void wake_all() { pthread_cond_broadcast(&own_); }

  private:
    pthread_cond_t own_ = PTHREAD_COND_INITIALIZER;
};

/* Runs `work()` in a system thread; false where there can be no more of them. */
template <class Work> inline bool start_thread(pthread_t &thread, Work work) {
    Work *kept = new Work(work);
    auto body = [](void *of) -> void * {
        Work *mine = static_cast<Work *>(of);
        (*mine)();
        delete mine;
        return nullptr;
    };
    if (pthread_create(&thread, nullptr, body, kept) == 0)
        return true;
    delete kept;
    return false;
}

/* Those that this process may use. */
inline unsigned processors() {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 1;
}

} // namespace cudla_sim

#endif
