/* A launch: the functions that run and drop it, and how it failed. The stream that holds it is
 * Python's. */
#include "library/cuda/launches.h"

#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "internal.h"

struct sim_launch {
    void (*run)(void *);
    void (*drop)(void *);
    void *data;
    int status;
    char text[512];
};

static __thread struct sim_launch *running;

SIM_EXPORT cudaError_t sim____cudlaSimLaunch(cudaStream_t stream, const char *kernel,
                                             void (*run)(void *), void (*drop)(void *), void *data)
{
    if (run == NULL || drop == NULL) {
        return sim____cudlaSimRefuse(cudaErrorInvalidValue,
                                     "run or drop is NULL; both must be functions");
    }
    struct sim_launch *made = calloc(1, sizeof *made);
    if (made == NULL) { return cudaErrorMemoryAllocation; }
    *made = (struct sim_launch){.run = run, .drop = drop, .data = data};
    cudaError_t error = sim__cuda_launch(stream, made, kernel);
    if (error != cudaSuccess) { free(made); } /* the caller still owns its data */
    return error;
}

SIM_EXPORT void sim____cudlaSimFault(cudaError_t error, const char *explanation)
{
    if (running == NULL || running->status != 0) { return; }
    running->status = (int)error;
    if (explanation != NULL) { strncpy(running->text, explanation, sizeof running->text - 1); }
}

SIM_EXPORT cudaError_t sim____cudlaSimRefuse(cudaError_t error, const char *explanation)
{
    if (error == cudaSuccess) { error = cudaErrorInvalidValue; }
    sim__cuda_refuse((int)error, explanation != NULL ? explanation : "");
    return error;
}

SIM_EXPORT cudaError_t sim____cudlaSimVariable(void *address, size_t size)
{
    return sim__cuda_variable(address, size);
}

/* --- called by Python ---------------------------------------------------------------------------
 */

void sim_cuda_run(void *launch)
{
    struct sim_launch *of = launch;
    of->status = 0;
    running = of;
    of->run(of->data);
    running = NULL;
}

int sim_cuda_failed(void *launch, char *text, size_t size)
{
    struct sim_launch *of = launch;
    if (of->status != 0 && size > 0) {
        strncpy(text, of->text, size - 1);
        text[size - 1] = 0;
    }
    return of->status;
}

void sim_cuda_free(void *launch)
{
    struct sim_launch *of = launch;
    of->drop(of->data);
    free(of);
}
