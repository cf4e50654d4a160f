/* Kernels launched by their addresses: those of our own compiler run, others are told why not. */
#define _GNU_SOURCE /* dladdr1 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>

#include "boot.h"
#include "cuda/cuda.h"
#include "internal.h"
#include "library/cuda/launches.h"
#include "library/cuda/registration.h"

static cudaError_t no_kernel(const void *func)
{
    char text[160];
    snprintf(text, sizeof text, "no kernel is registered under %p; func is the name of a __global__ function",
             func);
    return sim____cudlaSimRefuse(cudaErrorInvalidDeviceFunction, text);
}

/* The kernel that is executed: of NVIDIA's compiler there is PTX, which is compiled when it is asked for. */
static cudaError_t executable(const void *func, struct sim_cuda_function *found)
{
    if (!sim_cuda_function_of(func, found)) { return no_kernel(func); }
    if (sim_cuda_is_ours(found->wrapper)) { return cudaSuccess; }
    if (found->real == NULL) {
        void *made = NULL;
        cudaError_t error = sim__cuda_image(found->wrapper, found->number, found->name, &made);
        if (error != cudaSuccess) { return error; }
        sim_cuda_stands_for(func, made);
        found->real = made;
    }
    return sim_cuda_function_of(found->real, found) ? cudaSuccess : no_kernel(func);
}

static cudaError_t launch(const void *func, struct dim3 grid, struct dim3 block, void **args,
                          size_t shared, cudaStream_t stream, int cooperative)
{
    struct sim_cuda_function found;
    cudaError_t error = executable(func, &found);
    if (error != cudaSuccess) { return error; }
    const struct sim_cuda_wrapper *wrapper = found.wrapper;
    if (args == NULL && wrapper->places(found.host, NULL, 0) > 0) {
        return sim____cudlaSimRefuse(cudaErrorInvalidValue, "args is NULL, and the kernel has parameters");
    }
    return wrapper->launch(found.host, grid, block, args, shared, stream, cooperative);
}

SIM_EXPORT cudaError_t sim__cudaLaunchKernel(const void *func, struct dim3 gridDim,
                                             struct dim3 blockDim, void **args, size_t sharedMem,
                                             cudaStream_t stream)
{
    return launch(func, gridDim, blockDim, args, sharedMem, stream, 0);
}

SIM_EXPORT cudaError_t sim__cudaLaunchCooperativeKernel(const void *func, struct dim3 gridDim,
                                                        struct dim3 blockDim, void **args,
                                                        size_t sharedMem, cudaStream_t stream)
{
    return launch(func, gridDim, blockDim, args, sharedMem, stream, 1);
}

static cudaError_t no_list(void)
{
    return sim____cudlaSimRefuse(cudaErrorInvalidValue,
                                 "config or config->attrs is NULL; it points to what the launch is like");
}

/* Attributes are hints but for these. The driver's are laid out as the runtime's. */
static cudaError_t look_at(const cudaLaunchAttribute *attributes, unsigned int count, int *cooperative)
{
    for (unsigned int i = 0; i < count; i++) {
        const cudaLaunchAttribute *each = &attributes[i];
        if (each->id == cudaLaunchAttributeCooperative) { *cooperative = each->val.cooperative != 0; }
        if (each->id == cudaLaunchAttributeClusterDimension
            && each->val.clusterDim.x * each->val.clusterDim.y * each->val.clusterDim.z > 1) {
            return sim____cudlaSimRefuse(cudaErrorNotSupported,
                                         "config->attrs asks for a cluster of more than one block, which "
                                         "a GPU of compute capability 8.7 does not have");
        }
    }
    return cudaSuccess;
}

SIM_EXPORT cudaError_t sim__cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func,
                                                void **args)
{
    if (config == NULL || (config->attrs == NULL && config->numAttrs > 0)) { return no_list(); }
    int cooperative = 0;
    cudaError_t error = look_at(config->attrs, config->numAttrs, &cooperative);
    if (error != cudaSuccess) { return error; }
    return launch(func, config->gridDim, config->blockDim, args, config->dynamicSmemBytes, config->stream,
                  cooperative);
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
        return sim____cudlaSimRefuse(cudaErrorInvalidValue, "NULL; the four point to memory for the result");
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
    return launch(kernel, gridDim, blockDim, args, sharedMem, stream, 0);
}

/* --- the driver's launches -------------------------------------------------------------------- */

enum { MOST_ARGUMENTS = 1024 };

int sim_cuda_kernel_known(void *function)
{
    struct sim_cuda_function found;
    return sim_cuda_function_of(function, &found) &&
           (sim_cuda_is_ours(found.wrapper) || sim_cuda_is_promised(found.wrapper));
}

int sim_cuda_ptx_version(void *kernel)
{
    Dl_info found;
    struct link_map *map = NULL;
    if (!dladdr1(kernel, &found, (void **)&map, RTLD_DL_LINKMAP) || map->l_name[0] == '\0') { return 0; }
    void *library = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL) { return 0; }
    const int *version = dlsym(library, "cudla_sim_ptx_version");
    int answer = version != NULL ? *version : 0;
    dlclose(library);
    return answer;
}

size_t sim_cuda_symbol_size(void *address)
{
    Dl_info module;
    const ElfW(Sym) *symbol = NULL;
    if (!dladdr1(address, &module, (void **)&symbol, RTLD_DL_SYMENT) || symbol == NULL) { return 0; }
    return symbol->st_size;
}

static CUresult of_runtime(cudaError_t error)
{
    switch (error) {
    case cudaErrorInvalidConfiguration: return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidDeviceFunction: return CUDA_ERROR_INVALID_HANDLE;
    default: return (CUresult)error; /* the others have one number in both */
    }
}

static CUresult refuse(cudaError_t error, const char *why)
{
    return of_runtime(sim____cudlaSimRefuse(error, why));
}

/* Pointers to the arguments in the one buffer that `extra` names. */
static CUresult unpack(const struct sim_cuda_wrapper *wrapper, CUfunction f, void **extra, void **args)
{
    char *buffer = NULL;
    size_t size = 0, offsets[MOST_ARGUMENTS];
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
            buffer = extra[1];
        } else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) {
            size = *(size_t *)extra[1];
        } else {
            return refuse(cudaErrorInvalidValue, "extra has a word that is no CU_LAUNCH_PARAM_...");
        }
    }
    size_t count = wrapper->places(f, offsets, MOST_ARGUMENTS);
    if (count > 0 && (buffer == NULL || size <= offsets[count - 1])) {
        return refuse(cudaErrorInvalidValue, "the buffer that extra names does not hold all arguments");
    }
    for (size_t i = 0; i < count; i++) { args[i] = buffer + offsets[i]; }
    return CUDA_SUCCESS;
}

extern CUresult sim__cuCtxGetDevice(CUdevice *device);

/* The runtime's calls make the primary one current where there is none. */
static CUresult current_context(void)
{
    CUdevice device;
    return sim_cuda_has_current() ? CUDA_SUCCESS : sim__cuCtxGetDevice(&device);
}

/* Of a kernel of any kind; one that is not compiled yet is compiled now. */
static cudaError_t parameters(const void *func, size_t *count, size_t *places)
{
    struct sim_cuda_function found;
    cudaError_t error = executable(func, &found);
    if (error != cudaSuccess) { return error; }
    const struct sim_cuda_wrapper *wrapper = found.wrapper;
    *count = wrapper->places(found.host, places, 2 * MOST_ARGUMENTS);
    return cudaSuccess;
}

static cudaError_t parameter(const void *func, size_t index, size_t *offset, size_t *size)
{
    size_t count, places[2 * MOST_ARGUMENTS] = {0};
    if (offset == NULL) { return sim____cudlaSimRefuse(cudaErrorInvalidValue, "paramOffset is NULL"); }
    cudaError_t error = parameters(func, &count, places);
    if (error != cudaSuccess) { return error; }
    if (index >= count) {
        char text[96];
        snprintf(text, sizeof text, "paramIndex is %zu; the kernel has %zu parameters", index, count);
        return sim____cudlaSimRefuse(cudaErrorInvalidValue, text);
    }
    *offset = places[index];
    if (size != NULL) { *size = places[count + index]; }
    return cudaSuccess;
}

static cudaError_t parameter_count(const void *func, size_t *count)
{
    size_t places[2 * MOST_ARGUMENTS];
    if (count == NULL) { return sim____cudlaSimRefuse(cudaErrorInvalidValue, "paramCount is NULL"); }
    return parameters(func, count, places);
}

SIM_EXPORT cudaError_t sim__cudaFuncGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset,
                                                 size_t *paramSize)
{
    return parameter(func, paramIndex, paramOffset, paramSize);
}

SIM_EXPORT cudaError_t sim__cudaFuncGetParamCount(const void *func, size_t *paramCount)
{
    return parameter_count(func, paramCount);
}

SIM_EXPORT CUresult sim__cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset,
                                            size_t *paramSize)
{
    CUresult lacking = current_context();
    return lacking != CUDA_SUCCESS ? lacking : of_runtime(parameter(func, paramIndex, paramOffset, paramSize));
}

SIM_EXPORT CUresult sim__cuFuncGetParamCount(CUfunction func, size_t *paramCount)
{
    CUresult lacking = current_context();
    return lacking != CUDA_SUCCESS ? lacking : of_runtime(parameter_count(func, paramCount));
}

SIM_EXPORT CUresult sim__cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset,
                                              size_t *paramSize)
{
    CUresult lacking = current_context();
    return lacking != CUDA_SUCCESS ? lacking : of_runtime(parameter(kernel, paramIndex, paramOffset, paramSize));
}

SIM_EXPORT CUresult sim__cuKernelGetParamCount(CUkernel kernel, size_t *paramCount)
{
    CUresult lacking = current_context();
    return lacking != CUDA_SUCCESS ? lacking : of_runtime(parameter_count(kernel, paramCount));
}

static CUresult launch_function(CUfunction f, struct dim3 grid, struct dim3 block, size_t shared,
                                CUstream stream, void **params, void **extra, int cooperative)
{
    struct sim_cuda_function found;
    void *args[MOST_ARGUMENTS];
    CUresult lacking = current_context();
    if (lacking != CUDA_SUCCESS) { return lacking; }
    int known = sim_cuda_function_of(f, &found);
    if (!known || (!sim_cuda_is_ours(found.wrapper) && !sim_cuda_is_promised(found.wrapper))) {
        return refuse(cudaErrorInvalidResourceHandle, "f is no kernel of a module (cuModuleGetFunction)");
    }
    if (!sim_cuda_is_ours(found.wrapper)) {
        cudaError_t error = executable(f, &found);
        if (error != cudaSuccess) { return of_runtime(error); }
        f = (CUfunction)(uintptr_t)found.host;
    }
    const struct sim_cuda_wrapper *wrapper = found.wrapper;
    if (params == NULL && extra != NULL) {
        CUresult error = unpack(wrapper, f, extra, args);
        if (error != CUDA_SUCCESS) { return error; }
        params = args;
    }
    if (params == NULL && wrapper->places(f, NULL, 0) > 0) {
        return refuse(cudaErrorInvalidValue, "kernelParams and extra are NULL, and the kernel has parameters");
    }
    return of_runtime(
        wrapper->launch(f, grid, block, params, shared, (cudaStream_t)stream, cooperative));
}

SIM_EXPORT CUresult sim__cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                        unsigned int gridDimZ, unsigned int blockDimX,
                                        unsigned int blockDimY, unsigned int blockDimZ,
                                        unsigned int sharedMemBytes, CUstream hStream,
                                        void **kernelParams, void **extra)
{
    struct dim3 grid = {gridDimX, gridDimY, gridDimZ}, block = {blockDimX, blockDimY, blockDimZ};
    return launch_function(f, grid, block, sharedMemBytes, hStream, kernelParams, extra, 0);
}

SIM_EXPORT CUresult sim__cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX,
                                                   unsigned int gridDimY, unsigned int gridDimZ,
                                                   unsigned int blockDimX, unsigned int blockDimY,
                                                   unsigned int blockDimZ,
                                                   unsigned int sharedMemBytes, CUstream hStream,
                                                   void **kernelParams)
{
    struct dim3 grid = {gridDimX, gridDimY, gridDimZ}, block = {blockDimX, blockDimY, blockDimZ};
    return launch_function(f, grid, block, sharedMemBytes, hStream, kernelParams, NULL, 1);
}

_Static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute), "one list for both");

SIM_EXPORT CUresult sim__cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams,
                                          void **extra)
{
    if (config == NULL || (config->attrs == NULL && config->numAttrs > 0)) { return of_runtime(no_list()); }
    int cooperative = 0;
    cudaError_t error = look_at((const cudaLaunchAttribute *)config->attrs, config->numAttrs, &cooperative);
    if (error != cudaSuccess) { return of_runtime(error); }
    struct dim3 grid = {config->gridDimX, config->gridDimY, config->gridDimZ};
    struct dim3 block = {config->blockDimX, config->blockDimY, config->blockDimZ};
    return launch_function(f, grid, block, config->sharedMemBytes, config->hStream, kernelParams, extra,
                           cooperative);
}
