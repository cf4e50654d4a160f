/* What programs registered before main: fat binaries, their kernels and variables.
 *
 * Lookups copy, so that an answer stays valid while another thread unloads a library; the names point
 * into the program's own data.
 */
#ifndef CUDLA_SIM_CUDA_REGISTRATION_H
#define CUDLA_SIM_CUDA_REGISTRATION_H

#include <stddef.h>

/* First word of a fat binary's wrapper: nvcc's, and the one of our own stand-in. */
#define SIM_CUDA_MAGIC_NVCC 0x466243B1u
#define SIM_CUDA_MAGIC_OURS 0x62CD5A51u
#define SIM_CUDA_MAGIC_PROMISED 0x62CD5A52u

struct sim_cuda_function {
    void **binary; /* the handle under which it was registered */
    void *wrapper; /* what was given to __cudaRegisterFatBinary */
    const void *host;
    const char *name;
    int thread_limit; /* -1: none */
    size_t number;    /* of the binary: no other one had it or will have it */
    const void *real; /* the kernel that was made of its PTX, NULL so far */
};

struct sim_cuda_variable {
    void **binary;
    void *wrapper;
    void *host;
    const char *name;
    size_t size;
    int constant;
    int managed; /* `host` is the pointer's address */
    size_t number;
};

/* What is registered under an address. 1 when found, 0 otherwise. */
int sim_cuda_function_of(const void *host, struct sim_cuda_function *found);
int sim_cuda_variable_of(const void *host, struct sim_cuda_variable *found);

/* Whether a wrapper was made by our own stand-in, whose kernels can be executed. */
int sim_cuda_is_ours(const void *wrapper);

/* Whether it stands for a kernel of a module that is compiled when it is needed. */
int sim_cuda_is_promised(const void *wrapper);

/* From now on `real` is executed where `host` is launched. */
void sim_cuda_stands_for(const void *host, const void *real);

/* The wrapper of a binary and its number, NULL of a handle that is not registered. */
void *sim_cuda_binary(void **handle, size_t *number);

/* The variables of a binary, one after the other: 1 when there is one at `index`, 0 otherwise. */
int sim_cuda_variable_at(size_t number, size_t index, struct sim_cuda_variable *found);

/* How many are registered now. */
size_t sim_cuda_functions(void);
size_t sim_cuda_variables(void);

#endif
