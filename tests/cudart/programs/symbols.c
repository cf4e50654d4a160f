/* Both generations of renamed functions are there for programs that look them up by name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int main(void) {
    static const char *const names[] = {
        "cudaGetDeviceProperties",          "cudaGetDeviceProperties_v2",
        "cudaSignalExternalSemaphoresAsync", "cudaSignalExternalSemaphoresAsync_v2",
        "cudaWaitExternalSemaphoresAsync",  "cudaWaitExternalSemaphoresAsync_v2",
        "cudaEventElapsedTime",             "cudaEventElapsedTime_v2",
        "cuDeviceGetUuid",                  "cuDeviceGetUuid_v2",
        "cuDeviceTotalMem",                 "cuDeviceTotalMem_v2",
        "cudaLaunchHostFunc",
    };
    unsigned i, missing = 0;
    void *library = dlopen("libcudart.so.12", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        puts(dlerror());
        return 1;
    }
    for (i = 0; i < sizeof names / sizeof names[0]; ++i) {
        if (dlsym(library, names[i]) == NULL) {
            printf("missing %s\n", names[i]);
            ++missing;
        }
    }
    int (*get_count)(int *) = (int (*)(int *))dlsym(library, "cudaGetDeviceCount");
    int count = -1;
    printf("%d", get_count(&count));
    printf(" %d missing %u\n", count, missing);
    return 0;
}
