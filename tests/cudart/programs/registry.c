/* Looks into the table of registrations, compiled together with it. */
#include <stdio.h>
#include <string.h>

#include "library/cuda/registration.h"

void **sim____cudaRegisterFatBinary(void *wrapper);
void sim____cudaUnregisterFatBinary(void **handle);
void sim____cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                 int limit, void *a, void *b, void *c, void *d, int *e);
void sim____cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                            size_t size, int constant, int global);
void sim____cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                                   int ext, size_t size, int constant, int global);

int main(void)
{
    static char stubs[300], shadow[48];
    static void *managed;
    unsigned nvcc[6] = {0x466243B1u, 1}, ours[6] = {0x62CD5A51u, 1};
    struct sim_cuda_function kernel;
    struct sim_cuda_variable variable;
    void **first = sim____cudaRegisterFatBinary(nvcc), **second = sim____cudaRegisterFatBinary(ours);
    for (int i = 0; i < 300; i++) {
        sim____cudaRegisterFunction(i % 3 ? first : second, &stubs[i], "d", i == 299 ? "last" : "k", i,
                                    NULL, NULL, NULL, NULL, NULL);
    }
    sim____cudaRegisterVar(first, shadow, "t", "t", 0, sizeof shadow, 1, 0);
    sim____cudaRegisterManagedVar(second, &managed, "m", "m", 0, 4, 0, 0);
    printf("%zu %zu\n", sim_cuda_functions(), sim_cuda_variables());
    int found = sim_cuda_function_of(&stubs[299], &kernel);
    printf("%d %s %d %d\n", found, kernel.name, kernel.thread_limit, kernel.binary == first);
    printf("%d %d\n", sim_cuda_is_ours(kernel.wrapper), sim_cuda_is_ours(ours));
    found = sim_cuda_variable_of(shadow, &variable);
    printf("%d %s %zu %d %d\n", found, variable.name, variable.size, variable.constant,
           variable.managed);
    sim____cudaUnregisterFatBinary(first);
    printf("%zu %zu %d\n", sim_cuda_functions(), sim_cuda_variables(),
           sim_cuda_function_of(&stubs[299], &kernel));
    found = sim_cuda_variable_of(&managed, &variable);
    printf("%d %zu %d %d\n", found, variable.size, variable.constant, variable.managed);
    sim____cudaUnregisterFatBinary(first); /* a second time: nothing */
    return 0;
}
