/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/check_memory.hpp - whether a thread of a kernel may touch an address: its own stack, shared memory,
 * variables, what CUDA allocated or was told of, what kernels allocated.
 */
#ifndef CUDLA_SIM_KERNELS_CHECK_MEMORY_H
#define CUDLA_SIM_KERNELS_CHECK_MEMORY_H

#include <algorithm>
#include <map>
#include <mutex>

#include <link.h>

#include "faults.hpp"

extern "C" void *__libc_malloc(size_t);
extern "C" void __libc_free(void *);

namespace cudla_sim {

struct Range {
    uintptr_t begin, end;
    bool device; /* else the program's own variables */

    bool holds(uintptr_t at, size_t size) const { return at >= begin && at < end && size <= end - at; }
};

/* Memory that kernels allocated: it lasts beyond them. */
class DeviceHeap {
  public:
    static DeviceHeap &get() {
        static DeviceHeap *own = new DeviceHeap;
        return *own;
    }
    void add(void *at, size_t size) {
        std::lock_guard<std::mutex> held(lock_);
        sizes_[reinterpret_cast<uintptr_t>(at)] = size;
    }
    void remove(void *at) {
        std::lock_guard<std::mutex> held(lock_);
        sizes_.erase(reinterpret_cast<uintptr_t>(at));
    }
    bool holds(uintptr_t at, size_t size) {
        std::lock_guard<std::mutex> held(lock_);
        auto behind = sizes_.upper_bound(at);
        if (behind == sizes_.begin())
            return false;
        --behind;
        return at - behind->first < behind->second && size <= behind->second - (at - behind->first);
    }

  private:
    std::mutex lock_;
    std::map<uintptr_t, size_t> sizes_;
};

/* What a system thread knows of the memory of the launch that it works for. */
struct Known {
    unsigned launch = 0;
    std::vector<Range> ranges; /* by address */
    Range own{0, 0, false};    /* thread-local: shared memory is there */
    Range last{0, 0, false};

    static Known &get() {
        thread_local Known own;
        return own;
    }

    /* Called on the stack of a system thread: Python answers. */
    void look(unsigned of) {
        launch = of;
        ranges.clear();
        last = Range{0, 0, false};
        dl_iterate_phdr(&Known::module, this);
        std::vector<void *> bounds(64);
        for (size_t count; (count = __cudlaSimRanges(bounds.data(), bounds.size())) > bounds.size();)
            bounds.resize(count + 64);
        size_t count = __cudlaSimRanges(bounds.data(), bounds.size());
        for (size_t i = 0; i + 1 < std::min(count, bounds.size()); i += 2)
            ranges.push_back(Range{reinterpret_cast<uintptr_t>(bounds[i]),
                                   reinterpret_cast<uintptr_t>(bounds[i + 1]), true});
        std::sort(ranges.begin(), ranges.end(),
                  [](const Range &a, const Range &b) { return a.begin < b.begin; });
    }

    static int module(dl_phdr_info *info, size_t, void *known) {
        Known &own = *static_cast<Known *>(known);
        for (int i = 0; i < info->dlpi_phnum; i++) {
            const ElfW(Phdr) &part = info->dlpi_phdr[i];
            uintptr_t begin = info->dlpi_addr + part.p_vaddr;
            if (part.p_type == PT_LOAD)
                own.ranges.push_back(Range{begin, begin + part.p_memsz, false});
            if (part.p_type == PT_TLS && info->dlpi_tls_data) {
                uintptr_t at = reinterpret_cast<uintptr_t>(info->dlpi_tls_data);
                uintptr_t here = reinterpret_cast<uintptr_t>(&watching);
                if (here >= at && here < at + part.p_memsz)
                    own.own = Range{at, at + part.p_memsz, false};
                else
                    own.ranges.push_back(Range{at, at + part.p_memsz, false});
            }
        }
        return 0;
    }

    /* The range that begins last before an address. */
    const Range *before(uintptr_t at) const {
        auto behind = std::upper_bound(ranges.begin(), ranges.end(), at,
                                       [](uintptr_t value, const Range &range) { return value < range.begin; });
        return behind == ranges.begin() ? nullptr : &behind[-1];
    }
};

template <class T> inline bool inside(const T *object, uintptr_t at) {
    uintptr_t begin = reinterpret_cast<uintptr_t>(object);
    return object && at >= begin && at < begin + sizeof(T);
}

inline bool may_touch(Known &known, uintptr_t at, size_t size) {
    if (known.own.holds(at, size) || known.last.holds(at, size))
        return true;
    const Block &own = *block;
    uintptr_t stack = reinterpret_cast<uintptr_t>(own.current->stack);
    if (at >= stack && at < stack + STACK_ROOM)
        return true;
    uintptr_t shared = own.dynamic_start();
    if (at >= shared && at - shared + size <= own.shape->shared_bytes)
        return true;
    const Range *range = known.before(at);
    if (range && range->holds(at, size)) {
        known.last = *range;
        return true;
    }
    if (DeviceHeap::get().holds(at, size))
        return true;
    /* what inline functions of these headers read of the running block */
    uintptr_t warps = reinterpret_cast<uintptr_t>(own.warps.data());
    return inside(&own, at) || inside(own.current, at) || inside(own.shape, at) ||
           (at >= warps && at < warps + own.warps.size() * sizeof(Warp));
}

/* What is known of an address that is not the device's. */
inline void where(const Known &known, uintptr_t at, char *text, size_t room) {
    const Range *range = known.before(at);
    uintptr_t shared = block->dynamic_start();
    size_t bytes = block->shape->shared_bytes;
    for (const Fiber *fiber : block->all) {
        uintptr_t stack = reinterpret_cast<uintptr_t>(fiber->stack);
        if (at >= stack && at < stack + STACK_ROOM) {
            snprintf(text, room, "local memory of another thread");
            return;
        }
    }
    if (bytes && at >= shared && at - shared < bytes + 4096)
        snprintf(text, room, "%zu bytes behind the %zu bytes of dynamic shared memory",
                 static_cast<size_t>(at - shared) - bytes, bytes);
    else if (range && range->device && at < range->end)
        snprintf(text, room, "the end of the %zu bytes at 0x%zx is inside of it",
                 static_cast<size_t>(range->end - range->begin), static_cast<size_t>(range->begin));
    else if (range && range->device && at - range->end < 64 << 10)
        snprintf(text, room, "%zu bytes behind the %zu bytes at 0x%zx", static_cast<size_t>(at - range->end),
                 static_cast<size_t>(range->end - range->begin), static_cast<size_t>(range->begin));
    else
        snprintf(text, room, "no memory of the device; a pointer of the host?");
}

/* The instruction is one of these headers', which no range tells. */
inline bool engine_at(uintptr_t pc) {
    static std::mutex lock;
    static std::map<uintptr_t, bool> *known = new std::map<uintptr_t, bool>;
    std::lock_guard<std::mutex> held(lock);
    auto found = known->find(pc);
    if (found == known->end())
        found = known->emplace(pc, is_engine(pc)).first;
    return found->second;
}

inline void check_memory(uintptr_t at, size_t size, bool write, bool aligned, uintptr_t pc, bool ends) {
    Known &known = Known::get();
    bool crooked = aligned && at % size != 0;
    if ((!crooked && may_touch(known, at, size)) || engine_at(pc))
        return;
    char near[160] = "", text[320];
    if (!crooked)
        where(known, at, near, sizeof near);
    snprintf(text, sizeof text, "%s of %zu bytes at 0x%zx: %s", write ? "write" : "read", size,
             static_cast<size_t>(at), crooked ? "the address is no multiple of the size" : near);
    if (ends)
        fail_launch(crooked ? cudaErrorMisalignedAddress : cudaErrorIllegalAddress, text, pc);
    Failure told;
    told.block = block->index;
    told.thread = threadIdx;
    told.at = pc;
    snprintf(told.what, sizeof told.what, "%s", text);
    say(told, block->shape->kernel);
}

} // namespace cudla_sim

#endif
