/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/launch.hpp - what `kernel<<<grid, block, shared, stream>>>(arguments)` becomes: the
 * arguments are copied, the kernel runs in the order of its stream.
 */
#ifndef CUDLA_SIM_KERNELS_LAUNCH_H
#define CUDLA_SIM_KERNELS_LAUNCH_H

#include <type_traits>

#include "../crt/host_runtime.h"
#include "../crt/launches.h"
#include "containers.hpp"
#include "grid.hpp"

namespace cudla_sim {

constexpr int MOST_THREADS = 1024;
constexpr size_t USUAL_SHARED = 48 << 10; /* any device has as much */

/* A launch whose arguments were copied. */
struct Launched {
    Shape shape;
    Grid grid;

    virtual ~Launched() = default;
    virtual void run() = 0;

    /* Addresses of the copies, as many as there is room for; how many there are. */
    virtual size_t copies(void **, size_t) { return 0; }

    static void start(void *self_) { static_cast<Launched *>(self_)->run(); }
    static void drop(void *self_) { delete static_cast<Launched *>(self_); }
    static void tell(void *self_, void *launched) {
        Launched &self = *static_cast<Launched *>(self_);
        auto &to = *static_cast<cudlaSimLaunched *>(launched);
        to.func = self.shape.function;
        to.grid = self.shape.grid;
        to.block = self.shape.block;
        to.shared = self.shape.shared_bytes;
        to.cooperative = self.shape.cooperative != nullptr;
        to.count = self.copies(to.arguments, to.room);
    }
};

/* An argument during a block: a small one is no memory that a kernel's stores could change. */
template <class P>
using Kept = std::conditional_t<std::is_trivially_copyable_v<P> && sizeof(P) <= 64, const P, const P &>;

/* Whether a parameter is passed as the address of an object (the C++ ABI, "Non-Trivial Parameters"). */
template <class P>
inline constexpr bool by_address = (std::is_class_v<P> || std::is_union_v<P>) &&
                                   !(std::is_trivially_destructible_v<P> &&
                                     (!std::is_copy_constructible_v<P> || std::is_trivially_copy_constructible_v<P>) &&
                                     (!std::is_move_constructible_v<P> || std::is_trivially_move_constructible_v<P>));

/* As what a thread's kernel gets it: what cannot be moved is copied. */
template <class P>
using Passed = std::conditional_t<std::is_reference_v<P> || (std::is_move_constructible_v<P> && !by_address<P>), P,
                                  const P &>;

/* A GPU's thread has the bytes of an object; no constructor and no destructor runs there (CUDA C++ Programming
 * Guide, "__global__ Function Argument Processing"). */
template <class P> struct Bytes {
    alignas(P) unsigned char bytes[sizeof(P)];
    explicit Bytes(const P &of) { memcpy(bytes, __builtin_addressof(of), sizeof(P)); }
};
template <class P> P &opened(Bytes<P> &of) { return *reinterpret_cast<P *>(of.bytes); }
template <class S> S &&opened(S &of) { return static_cast<S &&>(of); }

/* A kernel that is called with them; S is what a launch has of the parameters P. */
template <class... S, class... P> auto with_bytes(void (*kernel)(P...)) {
    auto called = reinterpret_cast<void (*)(std::conditional_t<by_address<P>, P &, P>...)>(kernel);
    return [called](S... given) { called(opened(given)...); };
}

template <class...> struct Types {};

/* What a launch has of a parameter. A reference is the address of memory that both sides reach. */
template <class P> using Stored = std::conditional_t<std::is_lvalue_reference_v<P>, P, std::decay_t<P>>;

/* The same where what is given is known: a number in between, which is gone when the launch begins, is copied. */
template <class P, class A>
using StoredFor = std::conditional_t<std::is_lvalue_reference_v<A> &&
                                         std::is_same_v<std::decay_t<P>, std::decay_t<A>>,
                                     Stored<P>, std::decay_t<P>>;

/* What a block calls for each of its threads: what a body has for that, or itself. */
template <class Body> auto in_block(const Body &body, int) -> decltype(body.in_block()) { return body.in_block(); }
template <class Body> const Body &in_block(const Body &body, long) { return body; }

template <class Body, class... P> struct Call final : Launched {
    Body body;
    Arguments<P...> arguments;

    template <class... A>
    explicit Call(Body of, A &&...given) : body(of), arguments(std::forward<A>(given)...) {}

    static void threads(Block &own, void *call) {
        Call &of = *static_cast<Call *>(call);
#if defined(CUDLA_SIM_CHECKS)
        each_thread(own, [&] {
            of.arguments.pass_to([&](const P &...copied) { watched(of.body, static_cast<Passed<P>>(copied)...); });
        });
#else
        const auto &body = in_block(of.body, 0);
        of.arguments.pass_to([&](Kept<P>... kept) { each_thread(own, [&] { body(static_cast<Passed<P>>(kept)...); }); });
#endif
    }

#if defined(CUDLA_SIM_CHECKS)
    /* The copies are on the thread's own stack already. */
    static void watched(Body own, Passed<P>... copied) {
        watch(true);
        own(static_cast<Passed<P> &&>(copied)...);
        watch(false);
    }
#endif

    void run() override { run_grid(shape, &threads, this); }

    size_t copies(void **to, size_t room) override {
        size_t count = 0;
        [[maybe_unused]] auto add = [&](const void *copy) {
            if (count < room)
                to[count] = const_cast<void *>(copy);
            count++;
        };
        arguments.pass_to([&](const P &...copied) { (add(static_cast<const void *>(__builtin_addressof(copied))), ...); });
        return count;
    }
};

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

inline cudaError_t submit(Launched *launch, cudaStream_t stream) {
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

/* A literal 0 or NULL among the arguments of a launch: as in a call, a number, or a pointer to nothing. */
struct Zero {
    template <class T> constexpr operator T *() const { return nullptr; }
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> constexpr operator T() const {
        return T(0);
    }
};

/* What such an argument is to a template that takes its type from it. */
template <class T> struct Literal {
    using type = T;
};
template <> struct Literal<Zero> {
    using type = int;
};
template <class T> using LiteralOf = typename Literal<std::decay_t<T>>::type;

struct Launch {
    Shape shape;
    cudaStream_t stream;

    /* In each file as that one was compiled: which default stream it means is not the program's choice. */
    __attribute__((always_inline)) explicit inline Launch(dim3 grid, dim3 size, size_t shared = 0,
                                                          cudaStream_t of = nullptr)
        : stream(of) {
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
        if (stream == nullptr)
            stream = cudaStreamPerThread;
#endif
        shape.grid = grid;
        shape.block = size;
        shape.shared_bytes = shared;
    }

    Launch &named(const char *kernel) {
        shape.kernel = kernel;
        return *this;
    }

    /* A function whose parameters say what the arguments become. */
    template <class... P, class Body, class... A>
    cudaError_t call(void (*kernel)(P...), Body body, A &&...given) {
        if constexpr ((by_address<P> || ...)) {
            return call_with_bytes(kernel, Types<A...>(), std::forward<A>(given)...);
        } else {
            return submit(made<StoredFor<P, A>...>(kernel, body, std::forward<A>(given)...), stream);
        }
    }
    /* Objects end here, as those of nvcc's own function that launches. */
    template <class... P, class... A>
    cudaError_t call_with_bytes(void (*kernel)(P...), Types<A...>,
                                std::conditional_t<by_address<P>, P, A &&>... given) {
        auto body = with_bytes<std::conditional_t<by_address<P>, Bytes<P>, StoredFor<P, A>>...>(kernel);
        return submit(made<std::conditional_t<by_address<P>, Bytes<P>, StoredFor<P, A>>...>(
                          kernel, body, std::forward<std::conditional_t<by_address<P>, P, A>>(given)...),
                      stream);
    }
    template <class... S, class... P, class Body, class... A>
    Launched *made(void (*kernel)(P...), Body body, A &&...given) {
        auto *call = new Call<Body, S...>(body, std::forward<A>(given)...);
        call->shape = shape;
        call->shape.function = reinterpret_cast<const void *>(kernel);
        return call;
    }

    /* A template, or one with defaults: the arguments keep their own types. */
    template <class Body, class... A> cudaError_t call_any(Body body, A &&...given) {
        if constexpr (std::is_invocable_v<Body, LiteralOf<A>...>)
            return call_as<LiteralOf<A>...>(body, std::forward<A>(given)...);
        else /* a 0 is a pointer here; or it is an error, which is told now */
            return call_as<std::decay_t<A>...>(body, std::forward<A>(given)...);
    }
    template <class... P, class Body, class... A> cudaError_t call_as(Body body, A &&...given) {
        auto *made = new Call<Body, P...>(body, std::forward<A>(given)...);
        made->shape = shape;
        return submit(made, stream);
    }

    /* Through a pointer. */
    template <class... P, class... A>
    cudaError_t call_pointer(void (*kernel)(P...), A &&...given) {
        return call(kernel, [kernel](const P &...copied) { kernel(P(copied)...); },
                    std::forward<A>(given)...);
    }
};

/* --- kernels by their addresses: cudaLaunchKernel and its like ------------------------------- */

/* A kernel by its address: its launch, and where its arguments lie in one buffer. */
struct Maker {
    Launched *(*make)(void **arguments);
    size_t (*places)(size_t *offsets, size_t room);
    const char *(*name)();
};

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

/* In a module, whose kernels are launched by their addresses only, each has a loop over threads of its own, in which
 * it may be inlined. */
template <auto kernel> struct BodyOf {
    template <class... P> void operator()(P &&...copied) const { kernel(std::forward<P>(copied)...); }
};

template <auto kernel, class... P, size_t... I>
Launched *made_of(void (*)(P...), void **arguments, std::index_sequence<I...>) {
    if constexpr ((by_address<P> || ...)) {
        auto body = with_bytes<std::conditional_t<by_address<P>, Bytes<P>, Stored<P>>...>(kernel);
        return new Call<decltype(body), std::conditional_t<by_address<P>, Bytes<P>, Stored<P>>...>(
            body, *static_cast<std::decay_t<P> *>(arguments[I])...);
    } else {
#if defined(CUDLA_SIM_MODULE)
    BodyOf<kernel> body;
#else
    auto body = [called = kernel](const P &...copied) { called(P(copied)...); };
#endif
    return new Call<decltype(body), Stored<P>...>(body, *static_cast<std::decay_t<P> *>(arguments[I])...);
    }
}

/* The name of a kernel as the compiler spells it: "... kernel = scale<4>; P = ...", "... (* kernel)(P ...) = add].
 * In a module made of PTX it is the name there, behind "cudla_sim_u0_". */
__attribute__((noinline)) inline Vector<char> spelled(const char *text) {
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

/* Hidden: a module's own, although another one may have a kernel of that name. */
template <auto kernel> struct __attribute__((visibility("hidden"))) Registered;
template <class... P, void (*kernel)(P...)> struct __attribute__((visibility("hidden"))) Registered<kernel> {
    static Launched *make(void **arguments) {
        return made_of<kernel>(kernel, arguments, std::index_sequence_for<P...>());
    }
    /* Each at its natural alignment, as CUDA lays out a buffer of arguments. */
    static size_t places(size_t *offsets, size_t room) {
        size_t end = 0, count = 0;
        auto add = [&](size_t size, size_t alignment) {
            end = (end + alignment - 1) / alignment * alignment;
            if (count < room)
                offsets[count] = end;
            end += size;
            count++;
        };
        (add(sizeof(std::decay_t<P>), alignof(std::decay_t<P>)), ...);
        (void)add;
        return count;
    }
    static bool note() {
        const void *host = reinterpret_cast<void *>(kernel);
        if (Makers::get().add(host, Maker{&make, &places, &name}))
            __cudaRegisterFunction(Binary::get().handle, static_cast<const char *>(host), nullptr, name(),
                                   -1, nullptr, nullptr, nullptr, nullptr, nullptr);
        return true;
    }
    static const char *name() {
        static const Vector<char> own = spelled(__PRETTY_FUNCTION__);
        return own.data();
    }
    static inline const bool noted = note();
};

} // namespace cudla_sim

template <class T>
inline cudaError_t cudaLaunchKernel(T *func, dim3 gridDim, dim3 blockDim, void **args,
                                    size_t sharedMem = 0, cudaStream_t stream = nullptr) {
    return ::cudaLaunchKernel(reinterpret_cast<const void *>(func), gridDim, blockDim, args,
                              sharedMem, stream);
}

template <class T>
inline cudaError_t cudaLaunchCooperativeKernel(T *func, dim3 gridDim, dim3 blockDim, void **args,
                                               size_t sharedMem = 0,
                                               cudaStream_t stream = nullptr) {
    return ::cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(func), gridDim, blockDim,
                                         args, sharedMem, stream);
}

/* Launches in kernels with the arguments as bytes (CUDA C++ Programming Guide, "CDP1", "Kernel Launch from PTX"): what
 * device code without <<<>>> makes of them. */
namespace cudla_sim {
struct alignas(64) Packed { /* the bytes follow */
    const void *kernel = nullptr;
    dim3 grid, block;
    unsigned shared = 0;

    void *bytes() { return this + 1; }
    static Packed *of(void *bytes) { return static_cast<Packed *>(bytes) - 1; }
};
inline void *packed(size_t size) {
    void *room = nullptr;
    if (posix_memalign(&room, alignof(Packed), sizeof(Packed) + size) != 0)
        return nullptr;
    return (new (room) Packed)->bytes();
}
inline cudaError_t launch_packed(void *bytes, cudaStream_t stream) {
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

inline void *cudaGetParameterBuffer(size_t, size_t size) { return cudla_sim::packed(size); }
inline cudaError_t cudaLaunchDevice(void *func, void *parameterBuffer, dim3 gridDimension, dim3 blockDimension,
                                    unsigned int sharedMemSize, cudaStream_t stream) {
    if (!parameterBuffer)
        parameterBuffer = cudaGetParameterBuffer(64, 0); /* a kernel without parameters */
    if (parameterBuffer) {
        cudla_sim::Packed &call = *cudla_sim::Packed::of(parameterBuffer);
        call.kernel = func;
        call.grid = gridDimension;
        call.block = blockDimension;
        call.shared = sharedMemSize;
    }
    return cudla_sim::launch_packed(parameterBuffer, stream);
}

/* --- what is asked of kernels --------------------------------------------------------------- */

template <class T> inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attr, T *kernel) {
    return cudaFuncGetAttributes(attr, (const void *)kernel);
}
template <class T> inline cudaError_t cudaFuncSetAttribute(T *kernel, cudaFuncAttribute attribute, int value) {
    return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
template <class T> inline cudaError_t cudaFuncSetCacheConfig(T *kernel, cudaFuncCache config) {
    return cudaFuncSetCacheConfig((const void *)kernel, config);
}
template <class T> inline cudaError_t cudaFuncSetSharedMemConfig(T *kernel, cudaSharedMemConfig config) {
    return cudaFuncSetSharedMemConfig((const void *)kernel, config);
}
template <class T> inline cudaError_t cudaFuncGetName(const char **name, T *kernel) {
    return cudaFuncGetName(name, (const void *)kernel);
}

template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T kernel, int size, size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, size, shared);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T kernel, int size,
                                                                          size_t shared, unsigned flags) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void *)kernel, size, shared,
                                                                  flags);
}
template <class T>
inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *size, T *kernel, int blocks, int threads) {
    return cudaOccupancyAvailableDynamicSMemPerBlock(size, (const void *)kernel, blocks, threads);
}

/* The largest block, by warps, whose shared memory fits, and a grid that fills the device. */
template <class Of, class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int *grid, int *size, T kernel,
                                                                           Of shared_of, int limit = 0,
                                                                           unsigned flags = 0) {
    int device = 0, processors = 0, warp = 32, blocks = 0;
    if (!grid || !size)
        return __cudlaSimRefuse(cudaErrorInvalidValue, "minGridSize or blockSize is NULL");
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    int tried = limit > 0 && limit < cudla_sim::MOST_THREADS ? limit : cudla_sim::MOST_THREADS;
    for (;; tried -= warp) {
        cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            &blocks, (const void *)kernel, tried, shared_of(tried), flags);
        if (error != cudaSuccess)
            return error;
        if (blocks > 0 || tried <= warp)
            break;
    }
    *size = tried;
    *grid = processors;
    return cudaSuccess;
}
template <class Of, class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *size, T kernel, Of shared_of,
                                                                  int limit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(grid, size, kernel, shared_of, limit);
}
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *size, T kernel, size_t shared = 0,
                                                               int limit = 0, unsigned flags = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
        grid, size, kernel, [shared](int) { return shared; }, limit, flags);
}
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *size, T kernel, size_t shared = 0,
                                                      int limit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeWithFlags(grid, size, kernel, shared, limit);
}

/* --- graphs ---------------------------------------------------------------------------------- */

/* In a kernel: a handle is the address of what a conditional node reads. */
inline void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value) {
    *reinterpret_cast<volatile unsigned int *>(handle) = value;
}

/* --- symbols --------------------------------------------------------------------------------- */

namespace cudla_sim {

/* The runtime knows a variable of this program once it was told of it. */
template <class T> inline const void *told(const T &symbol) {
    const void *at = static_cast<const void *>(const_cast<const std::remove_cv_t<T> *>(&symbol));
    __cudlaSimVariable(const_cast<void *>(at), sizeof(T));
    return at;
}

} // namespace cudla_sim

template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *source, size_t count, size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return ::cudaMemcpyToSymbol(cudla_sim::told(symbol), source, count, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void *target, const T &symbol, size_t count, size_t offset = 0,
                                        cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return ::cudaMemcpyFromSymbol(target, cudla_sim::told(symbol), count, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *source, size_t count, size_t offset = 0,
                                           cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                           cudaStream_t stream = nullptr) {
    return ::cudaMemcpyToSymbolAsync(cudla_sim::told(symbol), source, count, offset, kind, stream);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void *target, const T &symbol, size_t count, size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                             cudaStream_t stream = nullptr) {
    return ::cudaMemcpyFromSymbolAsync(target, cudla_sim::told(symbol), count, offset, kind, stream);
}
template <class T> inline cudaError_t cudaGetSymbolAddress(void **address, const T &symbol) {
    return ::cudaGetSymbolAddress(address, cudla_sim::told(symbol));
}
template <class T> inline cudaError_t cudaGetSymbolSize(size_t *size, const T &symbol) {
    return ::cudaGetSymbolSize(size, cudla_sim::told(symbol));
}

#endif
