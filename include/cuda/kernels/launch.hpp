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

/* In a block. */
constexpr int MOST_THREADS = 1024;

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

/* Whether a copy is made of a variable only: P(P &). */
template <class P>
inline constexpr bool of_variable = !std::is_copy_constructible_v<P> && std::is_constructible_v<P, P &>;

/* As what a thread's kernel gets it: what cannot be moved is copied. */
template <class P>
using Passed =
    std::conditional_t<std::is_reference_v<P> || (std::is_move_constructible_v<P> && !by_address<P>), P,
                       std::conditional_t<of_variable<P>, P &, const P &>>;
template <class P> inline Passed<P> passed(const P &kept) {
    return static_cast<Passed<P>>(const_cast<std::conditional_t<of_variable<P>, P, const P> &>(kept));
}

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
            of.arguments.pass_to([&](const P &...copied) { watched(of.body, passed<P>(copied)...); });
        });
#else
        const auto &body = in_block(of.body, 0);
        of.arguments.pass_to([&](Kept<P>... kept) { each_thread(own, [&] { body(passed<P>(kept)...); }); });
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

/* To its stream, or at once in a kernel; it is deleted in the end (submit.hpp). */
CUDLA_SIM_ONCE cudaError_t submit(Launched *launch, cudaStream_t stream);

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

/* The type of a kernel's parameter, for an argument that is only braces. */
template <size_t I, class... P> struct ParameterAt;
template <class First, class... Rest> struct ParameterAt<0, First, Rest...> {
    using type = std::decay_t<First>;
};
template <size_t I, class First, class... Rest> struct ParameterAt<I, First, Rest...> : ParameterAt<I - 1, Rest...> {};
template <size_t I, class Kernel> struct ParameterOf;
template <size_t I, class... P> struct ParameterOf<I, void(P...)> : ParameterAt<I, P...> {};
template <size_t I, class Kernel>
using Parameter = typename ParameterOf<I, std::remove_pointer_t<std::decay_t<Kernel>>>::type;

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

/* The name of a kernel, as the compiler spells the function that has it for a template's argument. */
CUDLA_SIM_ONCE Vector<char> spelled(const char *text);
/* From now on it can be launched by its address. */
CUDLA_SIM_ONCE void note_kernel(const void *kernel, const Maker &maker);

/* Hidden: a module's own, although another one may have a kernel of that name. */
template <auto kernel> struct __attribute__((visibility("hidden"))) Registered;
template <class... P, void (*kernel)(P...)> struct __attribute__((visibility("hidden"))) Registered<kernel> {
    static Launched *make(void **arguments) {
        return made_of<kernel>(kernel, arguments, std::index_sequence_for<P...>());
    }
    /* Each at its natural alignment, as CUDA lays out a buffer of arguments. Behind the offsets the sizes, if there is
     * room for both. */
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
        if (room / 2 >= count) {
            size_t at = count;
            ((offsets[at++] = sizeof(std::decay_t<P>)), ...);
            (void)at;
        }
        return count;
    }
    static bool note() {
        note_kernel(reinterpret_cast<void *>(kernel), Maker{&make, &places, &name});
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
CUDLA_SIM_ONCE void *packed(size_t size);
CUDLA_SIM_ONCE cudaError_t launch_packed(void *bytes, cudaStream_t stream);
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
extern "C" inline void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value) {
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
