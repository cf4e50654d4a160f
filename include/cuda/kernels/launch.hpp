/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/launch.hpp - what `kernel<<<grid, block, shared, stream>>>(arguments)` becomes: the
 * arguments are copied, the kernel runs in the order of its stream.
 */
#ifndef CUDLA_SIM_KERNELS_LAUNCH_H
#define CUDLA_SIM_KERNELS_LAUNCH_H

#include <type_traits>
#include <utility>

#include "grid.hpp"

namespace cudla_sim {

constexpr size_t USUAL_SHARED = 48 << 10; /* bytes of shared memory that any kernel may have */

/* --- copies of a launch's arguments --------------------------------------------------------------
 */

template <size_t I, class T> struct Argument {
    T value;
    template <class A> explicit Argument(A &&given) : value(std::forward<A>(given)) {}
};
template <class Indices, class... P> struct ArgumentsOf;
template <size_t... I, class... P> struct ArgumentsOf<std::index_sequence<I...>, P...>
    : Argument<I, P>... {
    template <class... A> explicit ArgumentsOf(A &&...given)
        : Argument<I, P>(std::forward<A>(given))... {}
    template <class F> void pass_to(F &&function) const {
        function(static_cast<const Argument<I, P> &>(*this).value...);
    }
};
template <class... P> using Arguments = ArgumentsOf<std::index_sequence_for<P...>, P...>;

/* A launch whose arguments were copied. */
struct Launched {
    Shape shape;

    virtual ~Launched() = default;
    virtual void run() = 0;

    static void start(void *self) { static_cast<Launched *>(self)->run(); }
    static void drop(void *self) { delete static_cast<Launched *>(self); }
};

template <class Body, class... P> struct Call final : Launched {
    Body body;
    Arguments<P...> arguments;

    template <class... A> explicit Call(Body of, A &&...given)
        : body(of), arguments(std::forward<A>(given)...) {}

    static void thread(void *call) {
        const Call &of = *static_cast<const Call *>(call);
        of.arguments.pass_to([&](const P &...copied) { of.body(copied...); });
    }
    void run() override { run_grid(shape, &thread, this); }
};

/* The error of a launch that no GPU of this kind takes, with the reason. */
inline cudaError_t refused(const Shape &shape) {
    const dim3 &grid = shape.grid, &size = shape.block;
    uint64_t threads = static_cast<uint64_t>(size.x) * size.y * size.z;
    char text[256];
    if (!threads || threads > MOST_THREADS || size.z > 64 || !grid.x || !grid.y || !grid.z ||
        grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535) {
        snprintf(text, sizeof text,
                 "%.80s<<<(%u, %u, %u), (%u, %u, %u)>>>: a block must have 1..%u threads and at "
                 "most 64 in z; a "
                 "grid must be within 2147483647 x 65535 x 65535 blocks",
                 shape.kernel, grid.x, grid.y, grid.z, size.x, size.y, size.z, MOST_THREADS);
        return __cudlaSimRefuse(cudaErrorInvalidConfiguration, text);
    }
    if (shape.shared_bytes > USUAL_SHARED) {
        int allowed = shape.function ? __cudlaSimShared(shape.function) : -1;
        size_t most = allowed < 0 ? USUAL_SHARED : static_cast<size_t>(allowed);
        if (shape.shared_bytes > most) {
            snprintf(
                text, sizeof text,
                "%.80s: %zu bytes of dynamic shared memory, %zu are allowed; raise the limit with "
                "cudaFuncSetAttribute(..., cudaFuncAttributeMaxDynamicSharedMemorySize, ...)",
                shape.kernel, shape.shared_bytes, most);
            return __cudlaSimRefuse(cudaErrorInvalidValue, text);
        }
    }
    return cudaSuccess;
}

inline cudaError_t submit(Launched *launch, cudaStream_t stream) {
    if (block) {
        delete launch;
        fail_launch(cudaErrorNotSupported, "a kernel launched a kernel, which is not supported");
    }
    cudaError_t error = refused(launch->shape);
    if (error == cudaSuccess)
        error = __cudlaSimLaunch(stream, launch->shape.kernel, &Launched::start, &Launched::drop,
                                 launch);
    if (error != cudaSuccess)
        delete launch;
    return error;
}

/* Which instance of a template a call means: in place of what it does, its body tells its address.
 */
inline thread_local bool asking = false;
inline thread_local const void *instance = nullptr;
template <class Body> const void *instance_of(Body body) {
    instance = nullptr;
    asking = true;
    body();
    asking = false;
    return instance;
}

/* --- launches by name
 * ------------------------------------------------------------------------------ */

/* A literal 0 or NULL among the arguments of a launch: as in a call, a number, or a null pointer.
 */
struct Zero {
    template <class T> constexpr operator T *() const { return nullptr; }
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    constexpr operator T() const {
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
template <size_t I, class First, class... Rest> struct ParameterAt<I, First, Rest...>
    : ParameterAt<I - 1, Rest...> {};
template <size_t I, class Kernel> struct ParameterOf;
template <size_t I, class... P> struct ParameterOf<I, void(P...)> : ParameterAt<I, P...> {};
template <size_t I, class Kernel> using Parameter =
    typename ParameterOf<I, std::remove_pointer_t<std::decay_t<Kernel>>>::type;

struct Launch {
    Shape shape;
    cudaStream_t stream;

    explicit Launch(dim3 grid, dim3 size, size_t shared = 0, cudaStream_t of = nullptr)
        : stream(of) {
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
        auto *made = new Call<Body, std::decay_t<P>...>(body, std::forward<A>(given)...);
        made->shape = shape;
        made->shape.function = reinterpret_cast<const void *>(kernel);
        return submit(made, stream);
    }
    /* A template, or one with defaults: the arguments keep their own types. */
    template <class Body, class... A> cudaError_t call_any(Body body, A &&...given) {
        if constexpr (std::is_invocable_v<Body, LiteralOf<A>...>)
            return call_as<LiteralOf<A>...>(body, std::forward<A>(given)...);
        else /* a 0 is a pointer here; or it is an error, which the compiler reports now */
            return call_as<std::decay_t<A>...>(body, std::forward<A>(given)...);
    }
    template <class... P, class Body, class... A> cudaError_t call_as(Body body, A &&...given) {
        auto *made = new Call<Body, P...>(body, std::forward<A>(given)...);
        made->shape = shape;
        if (shape.shared_bytes > USUAL_SHARED)
            made->shape.function = instance_of([made] { Call<Body, P...>::thread(made); });
        return submit(made, stream);
    }
    /* Through a pointer. */
    template <class... P, class... A> cudaError_t call_pointer(void (*kernel)(P...), A &&...given) {
        return call(
            kernel, [kernel](const std::decay_t<P> &...copied) { kernel(copied...); },
            std::forward<A>(given)...);
    }
};

/* --- launches by address: cudaLaunchKernel
 * -------------------------------------------------------- */

template <auto kernel> struct Registered;
template <class... P, void (*kernel)(P...)> struct Registered<kernel> {
    template <size_t... I>
    static Launched *make([[maybe_unused]] void **arguments, std::index_sequence<I...>) {
        auto body = [](const std::decay_t<P> &...copied) { kernel(copied...); };
        return new Call<decltype(body), std::decay_t<P>...>(
            body, *static_cast<std::decay_t<P> *>(arguments[I])...);
    }
    static cudaError_t launch(dim3 grid, dim3 size, void **arguments, size_t shared,
                              cudaStream_t stream) {
        if (sizeof...(P) > 0 && !arguments)
            return __cudlaSimRefuse(cudaErrorInvalidValue,
                                    "args is NULL; the kernel has parameters");
        Launched *made = make(arguments, std::index_sequence_for<P...>());
        made->shape.grid = grid;
        made->shape.block = size;
        made->shape.shared_bytes = shared;
        made->shape.function = reinterpret_cast<const void *>(kernel);
        return submit(made, stream);
    }
    static bool note() {
        __cudlaSimKernel(reinterpret_cast<const void *>(kernel), &launch);
        return true;
    }
    static inline const bool noted = note();

    /* Called by each instance of a template before anything else. */
    static bool asked() {
        (void)noted;
        if (__builtin_expect(asking, false))
            instance = reinterpret_cast<const void *>(kernel);
        return asking;
    }
};

/* `extern __shared__ T name[]` in a function is a pointer to it; outside of one it is this. */
template <class T> struct Dynamic {
    static T *start() { return reinterpret_cast<T *>(block->dynamic); }
    operator T *() const { return start(); }
    T &operator[](size_t index) const { return start()[index]; }
};

/* Makes a variable of device code known to the runtime. */
template <class T> inline const void *known_variable(const T &symbol) {
    const void *at = static_cast<const void *>(const_cast<const std::remove_cv_t<T> *>(&symbol));
    __cudlaSimVariable(const_cast<void *>(at), sizeof(T));
    return at;
}

} // namespace cudla_sim

template <class T> inline cudaError_t cudaLaunchKernel(T *func, dim3 gridDim, dim3 blockDim,
                                                       void **args, size_t sharedMem = 0,
                                                       cudaStream_t stream = nullptr) {
    return ::cudaLaunchKernel(reinterpret_cast<const void *>(func), gridDim, blockDim, args,
                              sharedMem, stream);
}
template <class T> inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attr, T *func) {
    return ::cudaFuncGetAttributes(attr, reinterpret_cast<const void *>(func));
}
template <class T>
inline cudaError_t cudaFuncSetAttribute(T *func, cudaFuncAttribute attr, int value) {
    return ::cudaFuncSetAttribute(reinterpret_cast<const void *>(func), attr, value);
}
template <class T> inline cudaError_t cudaFuncSetCacheConfig(T *func, cudaFuncCache config) {
    return ::cudaFuncSetCacheConfig(reinterpret_cast<const void *>(func), config);
}

/* --- variables of device code by themselves
 * --------------------------------------------------------- */

template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *source, size_t count,
                                      size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return ::cudaMemcpyToSymbol(cudla_sim::known_variable(symbol), source, count, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void *target, const T &symbol, size_t count,
                                        size_t offset = 0,
                                        cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return ::cudaMemcpyFromSymbol(target, cudla_sim::known_variable(symbol), count, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *source, size_t count,
                                           size_t offset = 0,
                                           cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                           cudaStream_t stream = nullptr) {
    return ::cudaMemcpyToSymbolAsync(cudla_sim::known_variable(symbol), source, count, offset, kind,
                                     stream);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void *target, const T &symbol, size_t count,
                                             size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                             cudaStream_t stream = nullptr) {
    return ::cudaMemcpyFromSymbolAsync(target, cudla_sim::known_variable(symbol), count, offset,
                                       kind, stream);
}
template <class T> inline cudaError_t cudaGetSymbolAddress(void **address, const T &symbol) {
    return ::cudaGetSymbolAddress(address, cudla_sim::known_variable(symbol));
}
template <class T> inline cudaError_t cudaGetSymbolSize(size_t *size, const T &symbol) {
    return ::cudaGetSymbolSize(size, cudla_sim::known_variable(symbol));
}

#endif
