/* What nvcc makes of a file with a kernel and variables: registration before main, as by its output. */
#include <stdio.h>

#include "cuda_runtime_api.h"
#include "crt/host_runtime.h"

static const unsigned long long image[2] = {0x00100001BA55ED50ull, 0};
static const struct {
    int magic, version;
    const unsigned long long *data;
    void *file;
} wrapper = {0x466243B1, 1, image, NULL};

static void **handle;
static void *managed;
static int table[16];

static void kernel_stub(void) {}

__attribute__((constructor)) static void before_main(void)
{
    handle = __cudaRegisterFatBinary((void *)&wrapper);
    __cudaRegisterFunction(handle, (const char *)kernel_stub, (char *)"_Z6kernelv", "_Z6kernelv", -1,
                           NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(handle, (char *)table, (char *)"table", "table", 0, sizeof table, 1, 0);
    __cudaRegisterManagedVar(handle, &managed, (char *)"shared", "shared", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
}

int main(void)
{
    int count = -1, known = __cudaInitModule(handle);
    int is_wrapper = *handle == (const void *)&wrapper;
    int status = cudaGetDeviceCount(&count);
    printf("status %d devices %d known %d wrapper %d\n", status, count, known, is_wrapper);
    __cudaUnregisterFatBinary(handle);
    return 0;
}
