// Virtual memory: mapped in pieces, shared by descriptor with another process, and what is refused.
#include <cuda.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call)                                                                    \
    do {                                                                            \
        CUresult result = call;                                                     \
        if (result != CUDA_SUCCESS) {                                               \
            printf("%s:%d: %s: %d\n", __FILE__, __LINE__, #call, (int)result);      \
            return 1;                                                               \
        }                                                                           \
    } while (0)

__global__ void sum(const float *a, const float *b, float *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = a[i] + b[i];
}

__global__ void twice(float *a)
{
    a[threadIdx.x] *= 2;
}

static void say(const char *what, CUresult result)
{
    const char *name = "";
    cuGetErrorName(result, &name);
    printf("%s %s\n", what, name);
}

static CUmemAllocationProp properties()
{
    CUmemAllocationProp prop = {};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return prop;
}

static int begin()
{
    CUdevice device;
    CUcontext context;
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuCtxCreate(&context, 0, device));
    return 0;
}

// In another process: twice what is behind the descriptor.
static int child(int descriptor, size_t size)
{
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at;
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (begin())
        return 1;
    OK(cuMemImportFromShareableHandle(
        &handle, (void *)(uintptr_t)descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    OK(cuMemAddressReserve(&at, size, 0, 0, 0));
    OK(cuMemMap(at, size, 0, handle, 0));
    OK(cuMemSetAccess(at, size, &access, 1));
    twice<<<1, 64>>>((float *)at);
    OK(cuCtxSynchronize());
    return 0;
}

int main(int argc, char **argv)
{
    int status = 0;
    pid_t other;
    if (argc == 3)
        return child(atoi(argv[1]), (size_t)atol(argv[2]));
    CUmemAllocationProp prop = properties();
    if (begin())
        return 1;
    size_t step, free_before, free_now, total;
    OK(cuMemGetAllocationGranularity(&step, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    OK(cuMemGetInfo(&free_before, &total));
    const size_t size = 4 * step;
    const int n = (int)(size / sizeof(float));
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle first = 0;
    CUdeviceptr at[3];
    for (int k = 0; k < 3; k++) {
        OK(cuMemAddressReserve(&at[k], size, 0, 0, 0));
        for (int half = 0; half < 2; half++) {
            CUmemGenericAllocationHandle handle;
            OK(cuMemCreate(&handle, size / 2, &prop, 0));
            OK(cuMemMap(at[k] + half * size / 2, size / 2, 0, handle, 0));
            if (k || half)
                OK(cuMemRelease(handle)); // mapped, it stays
            else
                first = handle;
        }
        OK(cuMemSetAccess(at[k], size, &access, 1));
    }
    OK(cuMemGetInfo(&free_now, &total));
    printf("used %zu\n", (free_before - free_now) / size);

    std::vector<float> a(n), b(n), c(n);
    for (int i = 0; i < n; i++) {
        a[i] = (float)i;
        b[i] = (float)(3 * i);
    }
    OK(cuMemcpyHtoD(at[0], a.data(), size)); // over both pieces
    OK(cuMemcpyHtoD(at[1], b.data(), size));
    sum<<<(n + 255) / 256, 256>>>((float *)at[0], (float *)at[1], (float *)at[2], n);
    OK(cuMemcpyDtoH(c.data(), at[2], size));
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += c[i] != a[i] + b[i];
    printf("wrong %d\n", wrong);

    int descriptor;
    OK(cuMemExportToShareableHandle(
        &descriptor, first, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    if ((other = fork()) < 0)
        return 1;
    if (other == 0) {
        char path[32], number[32];
        fcntl(descriptor, F_SETFD, 0);
        snprintf(path, sizeof path, "%d", descriptor);
        snprintf(number, sizeof number, "%zu", size / 2);
        execl("/proc/self/exe", "virtual", path, number, (char *)NULL);
        _exit(127);
    }
    waitpid(other, &status, 0);
    OK(cuMemcpyDtoH(c.data(), at[0], 64 * sizeof(float)));
    wrong = 0;
    for (int i = 0; i < 64; i++)
        wrong += c[i] != 2 * a[i];
    printf("shared %d %d\n", status, wrong);

    unsigned long long flags = 0;
    CUmemGenericAllocationHandle same;
    CUmemAllocationProp known;
    OK(cuMemGetAccess(&flags, &access.location, at[0] + 5));
    OK(cuMemRetainAllocationHandle(&same, (void *)(at[0] + 5)));
    OK(cuMemGetAllocationPropertiesFromHandle(&known, same));
    printf("access %llu same %d pinned %d\n", flags, same == first, known.type == prop.type);
    OK(cuMemRelease(same));

    say("odd", cuMemCreate(&same, step + 1, &prop, 0));
    say("free", cuMemFree(at[0]));
    say("busy", cuMemAddressFree(at[0], size));
    say("part", cuMemUnmap(at[0], step));
    say("again", cuMemMap(at[0], size / 2, 0, first, 0));
    say("nowhere", cuMemMap(at[2] + size, size / 2, 0, first, 0));
    say("offset", cuMemMap(at[0], step, step, first, 0));
    say("handle", cuMemRelease(12345));
    prop.location.id = 7;
    say("device", cuMemCreate(&same, step, &prop, 0));
    prop = properties();
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
    say("fabric", cuMemCreate(&same, step, &prop, 0));

    for (int k = 0; k < 3; k++) {
        OK(cuMemUnmap(at[k], size));
        OK(cuMemAddressFree(at[k], size));
    }
    OK(cuMemRelease(first));
    OK(cuMemGetInfo(&free_now, &total));
    printf("left %zu\n", free_before - free_now);

    OK(cuMemAddressReserve(&at[0], size, 0, 0, 0));
    twice<<<1, 1>>>((float *)at[0]); // addresses without memory
    say("reserved", cuCtxSynchronize());
    return 0;
}
