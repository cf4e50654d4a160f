/* Launches in pieces, as CUDA 3 and before have them: what a kernel was set to is kept by its address. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "cuda/cuda.h"
#include "generated/hand_written.h"
#include "internal.h"
#include "library/cuda/launches.h"

enum { MOST_BYTES = 4096, MOST_KERNELS = 256 };

struct pieces {
    CUfunction function;
    unsigned int block[3], shared;
    size_t size;
    char bytes[MOST_BYTES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pieces *kept[MOST_KERNELS];

static CUresult refuse(cudaError_t error, const char *why)
{
    return (CUresult)sim____cudlaSimRefuse(error, why);
}

/* Those of a kernel, with the lock taken; NULL when there are too many kernels. */
static struct pieces *find(CUfunction function)
{
    for (size_t i = 0; i < MOST_KERNELS; i++) {
        if (kept[i] == NULL) {
            kept[i] = calloc(1, sizeof *kept[i]);
            if (kept[i] == NULL) { return NULL; }
            *kept[i] = (struct pieces){.function = function, .block = {1, 1, 1}};
        }
        if (kept[i]->function == function) { return kept[i]; }
    }
    return NULL;
}

static CUresult change(CUfunction function, void (*change_it)(struct pieces *, const void *), const void *how)
{
    if (!sim_cuda_kernel_known(function)) {
        return refuse(cudaErrorInvalidResourceHandle, "hfunc is no kernel of a module (cuModuleGetFunction)");
    }
    pthread_mutex_lock(&lock);
    struct pieces *found = find(function);
    if (found != NULL) { change_it(found, how); }
    pthread_mutex_unlock(&lock);
    return found != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static void set_block(struct pieces *pieces, const void *block)
{
    memcpy(pieces->block, block, sizeof pieces->block);
}

static void set_shared(struct pieces *pieces, const void *shared)
{
    pieces->shared = *(const unsigned int *)shared;
}

static void set_size(struct pieces *pieces, const void *size)
{
    pieces->size = *(const unsigned int *)size;
}

struct piece {
    int offset;
    const void *from;
    size_t size;
};

static void set_bytes(struct pieces *pieces, const void *how)
{
    const struct piece *piece = how;
    memcpy(pieces->bytes + piece->offset, piece->from, piece->size);
}

static CUresult put(CUfunction function, int offset, const void *from, size_t size)
{
    const struct piece piece = {offset, from, size};
    if (from == NULL || offset < 0 || size > MOST_BYTES || (size_t)offset > MOST_BYTES - size) {
        return refuse(cudaErrorInvalidValue, "offset, ptr or numbytes: the arguments of a kernel are at most "
                                             "4096 bytes");
    }
    return change(function, set_bytes, &piece);
}

SIM_EXPORT CUresult sim__cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z)
{
    const unsigned int block[3] = {(unsigned int)x, (unsigned int)y, (unsigned int)z};
    if (x < 1 || y < 1 || z < 1) {
        return refuse(cudaErrorInvalidValue, "x, y or z is less than 1; a block has threads");
    }
    return change(hfunc, set_block, block);
}

SIM_EXPORT CUresult sim__cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes)
{
    return change(hfunc, set_shared, &bytes);
}

SIM_EXPORT CUresult sim__cuParamSetSize(CUfunction hfunc, unsigned int numbytes)
{
    if (numbytes > MOST_BYTES) {
        return refuse(cudaErrorInvalidValue, "numbytes: the arguments of a kernel are at most 4096 bytes");
    }
    return change(hfunc, set_size, &numbytes);
}

SIM_EXPORT CUresult sim__cuParamSeti(CUfunction hfunc, int offset, unsigned int value)
{
    return put(hfunc, offset, &value, sizeof value);
}

SIM_EXPORT CUresult sim__cuParamSetf(CUfunction hfunc, int offset, float value)
{
    return put(hfunc, offset, &value, sizeof value);
}

SIM_EXPORT CUresult sim__cuParamSetv(CUfunction hfunc, int offset, void *ptr, unsigned int numbytes)
{
    return put(hfunc, offset, ptr, numbytes);
}

SIM_EXPORT CUresult sim__cuLaunchGridAsync(CUfunction f, int grid_width, int grid_height, CUstream hStream)
{
    struct pieces copy;
    if (!sim_cuda_kernel_known(f)) {
        return refuse(cudaErrorInvalidResourceHandle, "f is no kernel of a module (cuModuleGetFunction)");
    }
    if (grid_width < 1 || grid_height < 1) {
        return refuse(cudaErrorInvalidValue, "grid_width or grid_height is less than 1; a grid has blocks");
    }
    pthread_mutex_lock(&lock);
    struct pieces *found = find(f);
    if (found != NULL) { copy = *found; }
    pthread_mutex_unlock(&lock);
    if (found == NULL) { return CUDA_ERROR_OUT_OF_MEMORY; }
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, copy.bytes, CU_LAUNCH_PARAM_BUFFER_SIZE, &copy.size,
                     CU_LAUNCH_PARAM_END};
    return sim__cuLaunchKernel(f, (unsigned int)grid_width, (unsigned int)grid_height, 1, copy.block[0],
                               copy.block[1], copy.block[2], copy.shared, hStream, NULL, extra);
}

SIM_EXPORT CUresult sim__cuLaunchGrid(CUfunction f, int grid_width, int grid_height)
{
    return sim__cuLaunchGridAsync(f, grid_width, grid_height, NULL);
}

SIM_EXPORT CUresult sim__cuLaunch(CUfunction f)
{
    return sim__cuLaunchGridAsync(f, 1, 1, NULL);
}
