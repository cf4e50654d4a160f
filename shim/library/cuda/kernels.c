/* Kernels by their addresses: registered before main, launched by cudaLaunchKernel. No Python:
 * static initialisers run before it is there. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "boot.h"
#include "internal.h"
#include "library/cuda/launches.h"

struct kernel {
    const void *function;
    cudlaSimLauncher launch; /* NULL: NVIDIA's nvcc compiled it */
    int shared; /* dynamic shared memory that the program asked for; -1: the usual limit */
    struct kernel *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kernel *kernels; /* never removed: a library's kernels stay registered */

/* With the lock taken. */
static struct kernel *find(const void *function)
{
    struct kernel *each = kernels;
    while (each != NULL && each->function != function) {
        each = each->next;
    }
    return each;
}

static void add(const void *function, cudlaSimLauncher launch)
{
    pthread_mutex_lock(&lock);
    struct kernel *found = find(function);
    if (found == NULL && (found = malloc(sizeof *found)) != NULL) {
        *found = (struct kernel){.function = function, .shared = -1, .next = kernels};
        kernels = found;
    }
    if (found != NULL) {
        found->launch = launch;
    } /* a library may be loaded where another one was */
    pthread_mutex_unlock(&lock);
}

SIM_EXPORT void sim____cudlaSimKernel(const void *function, cudlaSimLauncher launch)
{
    add(function, launch);
}

int sim_cuda_kernel_known(void *function)
{
    pthread_mutex_lock(&lock);
    struct kernel *found = find(function);
    int known = found != NULL && found->launch != NULL;
    pthread_mutex_unlock(&lock);
    return known;
}

int sim_cuda_shared(void *function, int allow)
{
    pthread_mutex_lock(&lock);
    struct kernel *found = find(function);
    if (found != NULL && allow >= 0) { found->shared = allow; }
    int bytes = found != NULL ? found->shared : -1;
    pthread_mutex_unlock(&lock);
    return bytes;
}

SIM_EXPORT int sim____cudlaSimShared(const void *function)
{
    return sim_cuda_shared((void *)(uintptr_t)function, -1);
}

SIM_EXPORT cudaError_t sim__cudaLaunchKernel(const void *func, struct dim3 gridDim,
                                             struct dim3 blockDim, void **args, size_t sharedMem,
                                             cudaStream_t stream)
{
    pthread_mutex_lock(&lock);
    struct kernel *found = find(func);
    cudlaSimLauncher launch = found != NULL ? found->launch : NULL;
    pthread_mutex_unlock(&lock);
    if (launch != NULL) { return launch(gridDim, blockDim, args, sharedMem, stream); }
    if (found != NULL) {
        return sim____cudlaSimRefuse(
            cudaErrorNoKernelImageForDevice,
            "func was compiled by NVIDIA's nvcc for a GPU; compile the program "
            "with `cudla-sim nvcc`, which compiles for this processor");
    }
    char text[160];
    snprintf(text, sizeof text,
             "func (%p) is not a registered kernel; pass the name of a __global__ function", func);
    return sim____cudlaSimRefuse(cudaErrorInvalidDeviceFunction, text);
}

/* --- what code of NVIDIA's nvcc calls before main --------------------------------------------- */

SIM_EXPORT void **sim____cudaRegisterFatBinary(void *wrapper)
{
    void **handle = malloc(sizeof *handle);
    if (handle != NULL) { *handle = wrapper; }
    return handle;
}

SIM_EXPORT void sim____cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

SIM_EXPORT void sim____cudaUnregisterFatBinary(void **handle)
{
    free(handle);
}

SIM_EXPORT void sim____cudaRegisterFunction(void **handle, const char *host, char *device,
                                            const char *name, int thread_limit, void *tid,
                                            void *bid, void *block, void *grid, int *warp)
{
    (void)handle, (void)device, (void)name, (void)thread_limit, (void)tid, (void)bid, (void)block,
        (void)grid, (void)warp;
    add(host, NULL);
}

SIM_EXPORT void sim____cudaRegisterVar(void **handle, char *host, char *device, const char *name,
                                       int ext, size_t size, int constant, int global)
{
    (void)handle, (void)host, (void)device, (void)name, (void)ext, (void)size, (void)constant,
        (void)global;
}

SIM_EXPORT void sim____cudaRegisterManagedVar(void **handle, void **pointer, char *device,
                                              const char *name, int ext, size_t size, int constant,
                                              int global)
{
    (void)handle, (void)pointer, (void)device, (void)name, (void)ext, (void)size, (void)constant,
        (void)global;
}

SIM_EXPORT char sim____cudaInitModule(void **handle)
{
    return handle != NULL;
}

/* --- the halves of nvcc's launches ------------------------------------------------------------ */

enum { MOST_PUSHED = 16 }; /* an argument of a launch may launch something itself */

static __thread struct {
    struct dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
} pushed[MOST_PUSHED];
static __thread unsigned depth;

SIM_EXPORT unsigned int sim____cudaPushCallConfiguration(struct dim3 gridDim, struct dim3 blockDim,
                                                         size_t sharedMem,
                                                         struct CUstream_st *stream)
{
    if (depth == MOST_PUSHED) { return 1; }
    pushed[depth].grid = gridDim;
    pushed[depth].block = blockDim;
    pushed[depth].shared = sharedMem;
    pushed[depth].stream = stream;
    depth++;
    return 0;
}

SIM_EXPORT cudaError_t sim____cudaPopCallConfiguration(struct dim3 *gridDim, struct dim3 *blockDim,
                                                       size_t *sharedMem, void *stream)
{
    if (gridDim == NULL || blockDim == NULL || sharedMem == NULL || stream == NULL) {
        return sim____cudlaSimRefuse(
            cudaErrorInvalidValue,
            "an argument is NULL; all four must point to memory for the result");
    }
    if (depth == 0) {
        return sim____cudlaSimRefuse(cudaErrorMissingConfiguration,
                                     "a kernel's stub was called without <<<...>>>");
    }
    depth--;
    *gridDim = pushed[depth].grid;
    *blockDim = pushed[depth].block;
    *sharedMem = pushed[depth].shared;
    *(cudaStream_t *)stream = pushed[depth].stream;
    return cudaSuccess;
}

/* A kernel is its own handle. */
SIM_EXPORT cudaError_t sim____cudaGetKernel(void **kernel, const void *func)
{
    if (kernel == NULL || func == NULL) {
        return sim____cudlaSimRefuse(cudaErrorInvalidValue, "kernel or func is NULL");
    }
    *kernel = (void *)(uintptr_t)func;
    return cudaSuccess;
}

SIM_EXPORT cudaError_t sim____cudaLaunchKernel(void *kernel, struct dim3 gridDim,
                                               struct dim3 blockDim, void **args, size_t sharedMem,
                                               cudaStream_t stream)
{
    return sim__cudaLaunchKernel(kernel, gridDim, blockDim, args, sharedMem, stream);
}
