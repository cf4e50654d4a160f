/*
 * Makes the mistakes that programs make most, and prints what the simulator has to say about each:
 * the status that real cuDLA would answer, and the explanation that it would not.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda_runtime_api.h"
#include "cudla.h"
#include "cudla_sim.h"

static int unexpected;

static void show(const char *mistake, int status, int expected)
{
    char why[512];
    simExplain(why, sizeof why);
    printf("%s\n  status %d%s\n  %s\n", mistake, status, status == expected ? "" : " (unexpected)",
           why);
    unexpected += status != expected;
}

int main(void)
{
    cudlaDevHandle device = NULL;
    cudlaModule module = NULL;
    uint64_t *registered = NULL;
    void *memory = NULL;
    static const uint8_t plan[64] = {'f', 't', 'r', 't'};

    show("a core that is not there", cudlaCreateDevice(7, &device, CUDLA_STANDALONE),
         cudlaErrorInvalidParam);
    if (cudlaCreateDevice(0, &device, CUDLA_CUDA_DLA) != cudlaSuccess ||
        cudaMalloc(&memory, 4096) != cudaSuccess) {
        return 1;
    }
    show("a TensorRT plan instead of a loadable",
         cudlaModuleLoadFromMemory(device, plan, sizeof plan, &module, 0), cudlaErrorUmd);
    show("memory that CUDA did not allocate",
         cudlaMemRegister(device, (uint64_t *)plan, sizeof plan, &registered, 0),
         cudlaErrorInvalidAddress);
    show("more than was allocated",
         cudlaMemRegister(device, (uint64_t *)memory, 8192, &registered, 0),
         cudlaErrorInvalidAddress);
    if (cudlaMemRegister(device, (uint64_t *)memory, 4096, &registered, 0) != cudlaSuccess) {
        return 1;
    }
    show("the same memory again", cudlaMemRegister(device, (uint64_t *)memory, 4096, &registered, 0),
         cudlaErrorMemoryRegistered);
    show("unregistering the CUDA pointer instead of the registered one",
         cudlaMemUnregister(device, (uint64_t *)memory), cudlaErrorInvalidAddress);
    if (cudlaDestroyDevice(device) != cudlaSuccess) {
        return 1;
    }
    show("a handle that was destroyed", cudlaGetLastError(device), cudlaErrorInvalidDevice);
    return unexpected != 0;
}
