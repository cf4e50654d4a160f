/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/submit.hpp - launches on their way to a stream, and kernels that are launched by their addresses.
 */
#ifndef CUDLA_SIM_KERNELS_SUBMIT_H
#define CUDLA_SIM_KERNELS_SUBMIT_H

#include "../crt/host_runtime.h"
#include "../crt/launches.h"
#include "containers.hpp"
#include "builtins.hpp"
#include "cores.hpp"
#include "launch.hpp"

namespace cudla_sim {

constexpr size_t USUAL_SHARED = 48 << 10; /* any device has as much */

/* Bytes of shared memory of a block, as the device says. */
inline size_t most_shared() {
    static const size_t most = [] {
        int value = 0;
        bool known = cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0) == cudaSuccess;
        return known ? static_cast<size_t>(value) : USUAL_SHARED;
    }();
    return most;
}

/* Bytes that a launch may ask for; a kernel whose address is not known may have what any was given. */
inline size_t allowed_shared(const void *function) {
    int allowed = __cudlaSimShared(function, -1);
    return allowed < 0 ? USUAL_SHARED : static_cast<size_t>(allowed);
}

inline unsigned attribute_of_device(cudaDeviceAttr which) {
    int value = 0;
    return cudaDeviceGetAttribute(&value, which, 0) == cudaSuccess ? static_cast<unsigned>(value) : 0;
}

/* Blocks of so many threads that a GPU holds at once. */
inline unsigned most_together(unsigned threads) {
    static const unsigned processors = attribute_of_device(cudaDevAttrMultiProcessorCount),
                          most_blocks = attribute_of_device(cudaDevAttrMaxBlocksPerMultiprocessor),
                          most_threads = attribute_of_device(cudaDevAttrMaxThreadsPerMultiProcessor);
    unsigned by_threads = most_threads / ((threads + WARP - 1) / WARP * WARP);
    return processors * (by_threads < most_blocks ? by_threads : most_blocks);
}

/* The error of a launch that no GPU of this kind takes, and why. */
inline cudaError_t refused(const Shape &shape) {
    const dim3 &grid = shape.grid, &size = shape.block;
    uint64_t threads = static_cast<uint64_t>(size.x) * size.y * size.z;
    char text[256];
    if (!threads || threads > static_cast<uint64_t>(MOST_THREADS) || size.z > 64 || !grid.x || !grid.y || !grid.z ||
        grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535) {
        snprintf(text, sizeof text,
                 "%.80s<<<(%u, %u, %u), (%u, %u, %u)>>>: a block has 1 to %d threads, at most 64 in z; a "
                 "grid 1 to 2147483647 x 65535 x 65535 blocks",
                 shape.kernel, grid.x, grid.y, grid.z, size.x, size.y, size.z, MOST_THREADS);
        return __cudlaSimRefuse(cudaErrorInvalidConfiguration, text);
    }
    if (shape.shared_bytes > USUAL_SHARED && shape.shared_bytes > allowed_shared(shape.function)) {
        snprintf(text, sizeof text,
                 "%.80s: %zu bytes of dynamic shared memory; %zu are allowed, up to %zu after "
                 "cudaFuncSetAttribute(..., cudaFuncAttributeMaxDynamicSharedMemorySize, ...)",
                 shape.kernel, shape.shared_bytes, allowed_shared(shape.function), most_shared());
        return __cudlaSimRefuse(cudaErrorInvalidValue, text);
    }
    if (shape.cooperative && shape.cooperative->blocks > most_together(static_cast<unsigned>(threads))) {
        snprintf(text, sizeof text, "%.80s: %u blocks of %u threads that wait for each other; %u fit at once",
                 shape.kernel, shape.cooperative->blocks, static_cast<unsigned>(threads),
                 most_together(static_cast<unsigned>(threads)));
        return __cudlaSimRefuse(cudaErrorCooperativeLaunchTooLarge, text);
    }
    return cudaSuccess;
}

CUDLA_SIM_ONCE cudaError_t submit(Launched *launch, cudaStream_t stream) {
    static const unsigned khz = static_cast<unsigned>(attribute_of_device(cudaDevAttrClockRate));
    Unwatched ours;
    cudaError_t error = refused(launch->shape);
    if (clock_khz != khz)
        clock_khz = khz;
    if (block && error == cudaSuccess) { /* from a kernel: at once, as its parent cannot wait */
        launch->run();
        delete launch;
        return cudaSuccess;
    }
    if (error == cudaSuccess && worth_help(launch->shape))
        Pool::get().announce();
    if (error == cudaSuccess)
        error = __cudlaSimLaunchOf(stream, launch->shape.kernel, &Launched::start, &Launched::drop, &Launched::tell,
                                   launch);
    if (error != cudaSuccess)
        delete launch;
    return error;
}

/* --- kernels by their addresses: cudaLaunchKernel and its like ------------------------------- */

/* All of a program or library, by their addresses. */
class Makers {
  public:
    static Makers &get() {
        static Makers all;
        return all;
    }

    /* nullptr where there is none. */
    const Maker *find(const void *kernel) const {
        size_t at = place_of(kernel);
        return at < all_.size() && all_[at].kernel == kernel ? &all_[at].maker : nullptr;
    }

    /* Whether it is new. */
    bool add(const void *kernel, const Maker &maker) {
        if (find(kernel))
            return false;
        all_.insert(place_of(kernel), {kernel, maker});
        return true;
    }

  private:
    struct Entry {
        const void *kernel = nullptr;
        Maker maker = {nullptr, nullptr, nullptr};
    };

    size_t place_of(const void *kernel) const {
        size_t low = 0, high = all_.size();
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (reinterpret_cast<uintptr_t>(all_[middle].kernel) < reinterpret_cast<uintptr_t>(kernel))
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    Vector<Entry> all_;
};

/* Of the C++ library (its <cxxabi.h> brings other names along). */
extern "C" char *demangled(const char *, char *, size_t *, int *) __asm__("__cxa_demangle");

inline size_t places_of(const void *kernel, size_t *offsets, size_t room) {
    return Makers::get().find(kernel)->places(offsets, room);
}

inline cudaError_t launch_by_address(const void *kernel, dim3 grid, dim3 size, void **arguments,
                                     size_t shared, cudaStream_t stream, int cooperative) {
    const Maker *maker = Makers::get().find(kernel);
    Launched *launch = maker->make(arguments);
    launch->shape.kernel = maker->name();
    launch->shape.grid = grid;
    launch->shape.block = size;
    launch->shape.shared_bytes = shared;
    launch->shape.function = kernel;
    if (cooperative) {
        launch->grid.blocks = grid.x * grid.y * grid.z;
        launch->shape.cooperative = &launch->grid;
    }
    return submit(launch, stream);
}

/* What the runtime gets instead of a fat binary, once a program or library. */
struct Binary {
    unsigned magic = 0x62CD5A51u;
    unsigned version = 1;
    cudaError_t (*launch)(const void *, dim3, dim3, void **, size_t, cudaStream_t,
                          int) = &launch_by_address;
    size_t (*places)(const void *, size_t *, size_t) = &places_of;
    void **handle;

    Binary() : handle(__cudaRegisterFatBinary(this)) { __cudaRegisterFatBinaryEnd(handle); }
    ~Binary() { __cudaUnregisterFatBinary(handle); }

    static Binary &get() {
        static Binary own;
        return own;
    }
};

CUDLA_SIM_ONCE void note_kernel(const void *kernel, const Maker &maker) {
    if (Makers::get().add(kernel, maker))
        __cudaRegisterFunction(Binary::get().handle, static_cast<const char *>(kernel), nullptr, maker.name(), -1,
                               nullptr, nullptr, nullptr, nullptr, nullptr);
}

/* The name of a kernel as the compiler spells it: "... kernel = scale<4>; P = ...", "... (* kernel)(P ...) = add].
 * In a module made of PTX it is the name there, behind "cudla_sim_u0_". */
CUDLA_SIM_ONCE Vector<char> spelled(const char *text) {
    const char *named = strstr(text, "kernel)(");
    const char *value = named ? strstr(named, ") = ") : strstr(text, "kernel = ");
    text = value ? strstr(value, " = ") + 3 : text;
    if (strncmp(text, "cudla_sim_u", 11) == 0) {
        const char *behind = strchr(text + 11, '_');
        text = behind ? behind + 1 : text;
    }
    char name[1024]; /* a longer one is cut */
    size_t size = strcspn(text, ";]");
    size = size < sizeof name ? size : sizeof name - 1;
    memcpy(name, text, size);
    name[size] = '\0';
    int status = -1;
    char *plain = strncmp(name, "_Z", 2) == 0 ? demangled(name, nullptr, nullptr, &status) : nullptr;
    const char *shown = name;
    if (status == 0 && plain) {
        plain[strcspn(plain, "(")] = '\0';
        shown = strncmp(plain, "void ", 5) == 0 ? plain + 5 : plain; /* of a template */
    }
    Vector<char> made(strlen(shown) + 1);
    memcpy(made.data(), shown, made.size());
    free(plain);
    return made;
}

CUDLA_SIM_ONCE void *packed(size_t size) {
    void *room = nullptr;
    if (posix_memalign(&room, alignof(Packed), sizeof(Packed) + size) != 0)
        return nullptr;
    return (new (room) Packed)->bytes();
}

CUDLA_SIM_ONCE cudaError_t launch_packed(void *bytes, cudaStream_t stream) {
    if (!bytes)
        return cudaErrorInvalidValue;
    Packed *call = Packed::of(bytes);
    cudaError_t error = cudaErrorInvalidDeviceFunction;
    if (Makers::get().find(call->kernel)) {
        Vector<size_t> places(places_of(call->kernel, nullptr, 0));
        places_of(call->kernel, places.data(), places.size());
        Vector<void *> arguments;
        for (size_t place : places)
            arguments.add(static_cast<char *>(bytes) + place);
        error = ::cudaLaunchKernel(call->kernel, call->grid, call->block, arguments.data(), call->shared, stream);
    }
    ::free(call);
    return error;
}

} // namespace cudla_sim

#endif
