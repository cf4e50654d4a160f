/* Launches in pieces, as CUDA 3 and before have them: what a kernel was set to is kept by its address. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "cuda/cuda.h"
#include "generated/hand_written.h"
#include "internal.h"
#include "library/cuda/launches.h"

enum { MOST_BYTES = 4096 };

struct pieces {
    struct pieces *next;
    CUfunction function;
    unsigned int block[3], shared;
    size_t size;
    char bytes[MOST_BYTES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pieces *all; /* code stays where it is for as long as the process, and so do these */

static CUresult refuse(cudaError_t error, const char *why)
{
    return (CUresult)sim____cudlaSimRefuse(error, why);
}

/* Those of a kernel, with the lock taken; NULL, without it, and the error when there are none. */
static struct pieces *take(CUfunction function, CUresult *error)
{
    *error = CUDA_SUCCESS;
    if (!sim_cuda_kernel_known(function)) {
        *error = refuse(cudaErrorInvalidResourceHandle, "hfunc is no kernel of a module (cuModuleGetFunction)");
        return NULL;
    }
    pthread_mutex_lock(&lock);
    for (struct pieces *each = all; each != NULL; each = each->next) {
        if (each->function == function) { return each; }
    }
    struct pieces *made = malloc(sizeof *made);
    if (made == NULL) {
        pthread_mutex_unlock(&lock);
        *error = refuse(cudaErrorMemoryAllocation, "there is no memory for the arguments of a kernel");
        return NULL;
    }
    *made = (struct pieces){.next = all, .function = function, .block = {1, 1, 1}};
    return all = made;
}

static CUresult put(CUfunction function, int offset, const void *from, size_t size)
{
    CUresult error;
    if (from == NULL || offset < 0 || size > MOST_BYTES || (size_t)offset > MOST_BYTES - size) {
        return refuse(cudaErrorInvalidValue, "offset, ptr or numbytes: the arguments of a kernel are at most "
                                             "4096 bytes");
    }
    struct pieces *found = take(function, &error);
    if (found == NULL) { return error; }
    memcpy(found->bytes + offset, from, size);
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

SIM_EXPORT CUresult sim__cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z)
{
    const int block[3] = {x, y, z};
    CUresult error;
    if (x < 1 || y < 1 || z < 1) {
        return refuse(cudaErrorInvalidValue, "x, y or z is less than 1; a block has threads");
    }
    struct pieces *found = take(hfunc, &error);
    if (found == NULL) { return error; }
    memcpy(found->block, block, sizeof block);
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

SIM_EXPORT CUresult sim__cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes)
{
    CUresult error;
    struct pieces *found = take(hfunc, &error);
    if (found == NULL) { return error; }
    found->shared = bytes;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

SIM_EXPORT CUresult sim__cuParamSetSize(CUfunction hfunc, unsigned int numbytes)
{
    CUresult error;
    if (numbytes > MOST_BYTES) {
        return refuse(cudaErrorInvalidValue, "numbytes: the arguments of a kernel are at most 4096 bytes");
    }
    struct pieces *found = take(hfunc, &error);
    if (found == NULL) { return error; }
    found->size = numbytes;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
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
    CUresult error;
    if (grid_width < 1 || grid_height < 1) {
        return refuse(cudaErrorInvalidValue, "grid_width or grid_height is less than 1; a grid has blocks");
    }
    struct pieces *found = take(f, &error);
    if (found == NULL) { return error; }
    struct pieces copy = *found;
    pthread_mutex_unlock(&lock);
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
