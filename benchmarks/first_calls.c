/* Makes one call and prints the CPU time of the whole process; benchmarks/cudla_calls.py runs it. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "cuda_runtime_api.h"
#include "cudla.h"
#include "cupva_host.h"
#include "cupva_host_nonsafety.h"
#include "dpu.h"
#include "nvdla_inf.h"
#include "nvdla_interface.h"
#include "nvscibuf.h"

/* nvdla::createRuntime(), by the name that C++ gives it. */
void *create_runtime(void) __asm__("_ZN5nvdla13createRuntimeEv");

static int call(const char *name)
{
    static struct dpu_set_t set;
    static cudlaDevHandle device;
    static NvSciBufModule module;
    static uint64_t number;
    static void *pointer;
    if (strcmp(name, "cudlaGetVersion") == 0) {
        return (int)cudlaGetVersion(&number);
    }
    if (strcmp(name, "cudlaDeviceGetCount") == 0) {
        return (int)cudlaDeviceGetCount(&number);
    }
    if (strcmp(name, "cudlaCreateDevice") == 0) {
        return (int)cudlaCreateDevice(0, &device, CUDLA_CUDA_DLA);
    }
    if (strcmp(name, "cudaMalloc") == 0) {
        return (int)cudaMalloc(&pointer, 4096);
    }
    if (strcmp(name, "dpu_alloc") == 0) {
        return (int)dpu_alloc(1, NULL, &set);
    }
    if (strcmp(name, "CupvaMemAlloc") == 0) {
        return (int)CupvaMemAlloc(&pointer, 4096, CUPVA_READ_WRITE, CUPVA_ALLOC_DRAM);
    }
    if (strcmp(name, "NvSciBufModuleOpen") == 0) {
        return (int)NvSciBufModuleOpen(&module);
    }
    if (strcmp(name, "nvdla::createRuntime") == 0) {
        return create_runtime() == NULL;
    }
    if (strcmp(name, "NvDlaInitialize") == 0) {
        return (int)NvDlaInitialize(&pointer);
    }
    if (strcmp(name, "dla_register_driver") == 0) {
        return dla_register_driver(&pointer, NULL);
    }
    return 1;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

int main(int argc, char **argv)
{
    struct rusage used;
    if (argc != 2 || call(argv[1]) != 0) {
        fprintf(stderr, "%s failed\n", argc == 2 ? argv[1] : "no call named:");
        return 1;
    }
    getrusage(RUSAGE_SELF, &used);
    printf("cpu_s %f\n", seconds(used.ru_utime) + seconds(used.ru_stime));
    return 0;
}
