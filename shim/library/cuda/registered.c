/* What was registered by programs of NVIDIA's nvcc, asked for by Python, and by them. */
#include <stdint.h>

#include "boot.h"
#include "internal.h"
#include "library/cuda/registration.h"

/* Before the program reads a managed variable: its pointer is set when the module is loaded. */
SIM_EXPORT char sim____cudaInitModule(void **handle)
{
    size_t number = 0;
    void *none, *wrapper = sim_cuda_binary(handle, &number);
    if (wrapper != NULL && !sim_cuda_is_ours(wrapper)) { sim__cuda_image(wrapper, number, NULL, &none); }
    return wrapper != NULL;
}

int sim_cuda_registered(size_t number, size_t index, void **host, const char **name, int *managed)
{
    struct sim_cuda_variable found;
    if (!sim_cuda_variable_at(number, index, &found)) { return 0; }
    *host = found.host;
    *name = found.name;
    *managed = found.managed;
    return 1;
}

int sim_cuda_symbol(void *host, void **wrapper, size_t *number, const char **name, size_t *size)
{
    struct sim_cuda_variable found;
    if (!sim_cuda_variable_of(host, &found) || sim_cuda_is_ours(found.wrapper)) { return 0; }
    *wrapper = found.wrapper;
    *number = found.number;
    *name = found.name;
    *size = found.size;
    return 1;
}

int sim_cuda_foreign(void *host, void **wrapper, size_t *number, const char **name, void **real)
{
    struct sim_cuda_function found;
    if (!sim_cuda_function_of(host, &found) || sim_cuda_is_ours(found.wrapper)) { return 0; }
    *wrapper = found.wrapper;
    *number = found.number;
    *name = found.name;
    *real = (void *)(uintptr_t)found.real;
    return 1;
}
