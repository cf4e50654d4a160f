/* Libraries of kernels by the runtime's functions, and functions of the driver by their names. */
#include <cuda.h>
#include <cuda_runtime.h>
#include <nvrtc.h>

#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == cudaSuccess)
#define NVRTC(call) CHECK((call) == NVRTC_SUCCESS)

enum { THREADS = 8 };

static const char source[] =
    "__device__ int base = 100;\n"
    "extern \"C\" __global__ void add(int *out, int by) { out[threadIdx.x] = base + by + threadIdx.x; }\n";

static char *compiled(size_t *size)
{
    nvrtcProgram program;
    char *image;
    NVRTC(nvrtcCreateProgram(&program, source, NULL, 0, NULL, NULL));
    NVRTC(nvrtcCompileProgram(program, 0, NULL));
    NVRTC(nvrtcGetCUBINSize(program, size));
    image = malloc(*size);
    NVRTC(nvrtcGetCUBIN(program, image));
    NVRTC(nvrtcDestroyProgram(&program));
    return image;
}

static void libraries(void)
{
    cudaLibrary_t library, again;
    cudaKernel_t kernel, kernels[1];
    size_t size, bytes = 0;
    char *image = compiled(&size);
    const char file_name[] = "driver_runtime_libraries.cubin";
    FILE *file = fopen(file_name, "wb");
    unsigned int count = 0;
    int *out, *base, by = 5, back[THREADS], hundred = 200;
    void *arguments[] = {&out, &by}, *function;
    struct dim3 grid = {1, 1, 1}, block = {THREADS, 1, 1};

    CALL(cudaLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
    CALL(cudaLibraryGetKernelCount(&count, library));
    CHECK(count == 1);
    CALL(cudaLibraryGetKernel(&kernel, library, "add"));
    CALL(cudaLibraryEnumerateKernels(kernels, 1, library));
    CHECK(kernels[0] == kernel);
    CHECK(cudaLibraryGetKernel(&kernel, library, "none") == cudaErrorSymbolNotFound);
    CALL(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024, 0));
    CALL(cudaLibraryGetGlobal((void **)&base, &bytes, library, "base"));
    CHECK(bytes == sizeof(int));
    CALL(cudaLibraryGetManaged((void **)&base, &bytes, library, "base"));
    CHECK(cudaLibraryGetUnifiedFunction(&function, library, "base") == cudaErrorNotSupported);
    CALL(cudaMemcpy(base, &hundred, sizeof hundred, cudaMemcpyHostToDevice));
    CALL(cudaMalloc((void **)&out, sizeof back));
    CALL(cudaLaunchKernel((const void *)kernel, grid, block, arguments, 0, NULL));
    CALL(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    CHECK(back[0] == 205 && back[THREADS - 1] == 205 + THREADS - 1);
    CALL(cudaFree(out));
    CALL(cudaLibraryUnload(library));

    CHECK(file != NULL && fwrite(image, 1, size, file) == size && fclose(file) == 0);
    CALL(cudaLibraryLoadFromFile(&again, file_name, NULL, NULL, 0, NULL, NULL, 0));
    CALL(cudaLibraryUnload(again));
    remove(file_name);
    CHECK(cudaLibraryLoadFromFile(&again, file_name, NULL, NULL, 0, NULL, NULL, 0) == cudaErrorFileNotFound);
    free(image);
}

static void by_driver(void)
{
    CUlibrary library;
    CUdeviceptr base;
    size_t size;
    void *function;
    char *image = compiled(&size);
    CHECK(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0) == CUDA_SUCCESS);
    CHECK(cuLibraryGetManaged(&base, &size, library, "base") == CUDA_SUCCESS && size == sizeof(int));
    CHECK(cuLibraryGetUnifiedFunction(&function, library, "base") == CUDA_ERROR_NOT_SUPPORTED);
    CHECK(cuLibraryUnload(library) == CUDA_SUCCESS);
    free(image);
}

static void entry_points(void)
{
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    CUresult (*version_of)(int *) = NULL;
    CUresult (*edges)(CUgraph, CUgraphNode *, CUgraphNode *, CUgraphEdgeData *, size_t *) = NULL;
    void *none = &found;
    const void *table = &found;
    cudaUUID_t identity;
    cudaGraph_t graph;
    size_t known = 1;
    int version = 0;
    CALL(cudaGetDriverEntryPoint("cuDriverGetVersion", (void **)&version_of, cudaEnableDefault, &found));
    CHECK(found == cudaDriverEntryPointSuccess && version_of(&version) == CUDA_SUCCESS && version >= 12000);
    /* The generation that a version has. */
    CALL(cudaGetDriverEntryPointByVersion("cuGraphGetEdges", (void **)&edges, 12030, cudaEnableDefault, &found));
    CALL(cudaGraphCreate(&graph, 0));
    CHECK(edges(graph, NULL, NULL, NULL, &known) == CUDA_SUCCESS && known == 0);
    CALL(cudaGraphDestroy(graph));
    CALL(cudaGetDriverEntryPoint("cuNone", &none, cudaEnableDefault, &found));
    CHECK(none == NULL && found == cudaDriverEntryPointSymbolNotFound);
    memset(&identity, 0, sizeof identity);
    CHECK(cudaGetExportTable(&table, &identity) == cudaErrorSymbolNotFound && table == NULL);
}

int main(void)
{
    libraries();
    by_driver();
    entry_points();
    printf("ok\n");
    return 0;
}
