/* Textures and surfaces that are variables of a module, as CUDA before 12.0 has them. */
#include <cuda.h>
#include <nvrtc.h>

#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == CUDA_SUCCESS)
#define NVRTC(call) CHECK((call) == NVRTC_SUCCESS)

enum { COUNT = 4 };

static const char source[] =
    "texture<float, 1> line;\n"
    "texture<float, 2> plane;\n"
    "surface<void, 2> target;\n"
    "extern \"C\" __global__ void read_both(float *out)\n"
    "{\n"
    "    out[threadIdx.x] = tex1Dfetch(line, threadIdx.x);\n"
    "    float value = tex2D(plane, threadIdx.x + 1.0f, 0.5f);\n"
    "    surf2Dwrite(value, target, threadIdx.x * sizeof(float), 0);\n"
    "}\n";

static CUmodule compiled(void)
{
    nvrtcProgram program;
    CUmodule module;
    size_t size;
    char *image;
    NVRTC(nvrtcCreateProgram(&program, source, NULL, 0, NULL, NULL));
    NVRTC(nvrtcCompileProgram(program, 0, NULL));
    NVRTC(nvrtcGetCUBINSize(program, &size));
    image = malloc(size);
    NVRTC(nvrtcGetCUBIN(program, image));
    NVRTC(nvrtcDestroyProgram(&program));
    CALL(cuModuleLoadData(&module, image));
    free(image);
    return module;
}

static void line(CUtexref texture, CUdeviceptr memory)
{
    CUarray_format format;
    CUdeviceptr bound;
    size_t before = 9;
    int channels;
    CALL(cuTexRefSetFormat(texture, CU_AD_FORMAT_FLOAT, 1));
    CALL(cuTexRefGetFormat(&format, &channels, texture));
    CHECK(format == CU_AD_FORMAT_FLOAT && channels == 1);
    CALL(cuTexRefSetAddress(&before, texture, memory, COUNT * sizeof(float)));
    CHECK(before == 0);
    CALL(cuTexRefGetAddress(&bound, texture));
    CHECK(bound == memory);
}

/* Halfway between two texels, the average of both. */
static void plane(CUtexref texture, CUarray array)
{
    CUaddress_mode mode;
    CUfilter_mode filter;
    CUarray bound;
    unsigned int flags;
    CALL(cuTexRefSetAddressMode(texture, 0, CU_TR_ADDRESS_MODE_CLAMP));
    CALL(cuTexRefGetAddressMode(&mode, texture, 0));
    CHECK(mode == CU_TR_ADDRESS_MODE_CLAMP);
    CALL(cuTexRefSetFilterMode(texture, CU_TR_FILTER_MODE_LINEAR));
    CALL(cuTexRefGetFilterMode(&filter, texture));
    CHECK(filter == CU_TR_FILTER_MODE_LINEAR);
    CALL(cuTexRefSetFlags(texture, 0));
    CALL(cuTexRefGetFlags(&flags, texture));
    CHECK(flags == 0);
    CALL(cuTexRefSetArray(texture, array, CU_TRSA_OVERRIDE_FORMAT));
    CALL(cuTexRefGetArray(&bound, texture));
    CHECK(bound == array);
}

static CUarray rows(const float *values)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = {COUNT, 1, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST};
    CUDA_MEMCPY2D copy;
    CUarray array;
    CALL(cuArray3DCreate(&array, &shape));
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = values;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = COUNT * sizeof(float);
    copy.Height = 1;
    CALL(cuMemcpy2D(&copy));
    return array;
}

int main(void)
{
    const float values[COUNT] = {1, 3, 7, 13}, none[COUNT] = {0};
    float read[COUNT], written[COUNT];
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUtexref of_line, of_plane, own;
    CUsurfref surface;
    CUdeviceptr memory, out;
    CUarray from, to, bound;

    CALL(cuInit(0));
    CALL(cuDevicePrimaryCtxRetain(&context, 0));
    CALL(cuCtxSetCurrent(context));
    module = compiled();
    CALL(cuModuleGetFunction(&kernel, module, "read_both"));
    CALL(cuModuleGetTexRef(&of_line, module, "line"));
    CALL(cuModuleGetTexRef(&of_plane, module, "plane"));
    CALL(cuModuleGetSurfRef(&surface, module, "target"));
    CHECK(cuModuleGetTexRef(&own, module, "nothing") == CUDA_ERROR_NOT_FOUND);
    CALL(cuMemAlloc(&memory, sizeof values));
    CALL(cuMemcpyHtoD(memory, values, sizeof values));
    CALL(cuMemAlloc(&out, sizeof read));
    from = rows(values);
    to = rows(none);
    line(of_line, memory);
    plane(of_plane, from);
    CALL(cuSurfRefSetArray(surface, to, 0));
    CALL(cuSurfRefGetArray(&bound, surface));
    CHECK(bound == to);
    CALL(cuParamSetTexRef(kernel, CU_PARAM_TR_DEFAULT, of_line));
    void *arguments[] = {&out};
    CALL(cuLaunchKernel(kernel, 1, 1, 1, COUNT, 1, 1, 0, NULL, arguments, NULL));
    CALL(cuMemcpyDtoH(read, out, sizeof read));
    CHECK(memcmp(read, values, sizeof read) == 0);
    CUDA_MEMCPY2D back = {.srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = to,
                          .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = written,
                          .WidthInBytes = sizeof written, .Height = 1};
    CALL(cuMemcpy2D(&back));
    CHECK(written[0] == 2 && written[1] == 5 && written[2] == 10 && written[3] == 13);

    /* A reference of one's own, for code that hands them around. */
    CUDA_ARRAY_DESCRIPTOR shape = {COUNT, 1, CU_AD_FORMAT_FLOAT, 1};
    CALL(cuTexRefCreate(&own));
    CALL(cuTexRefSetAddress2D(own, &shape, memory, 512));
    CALL(cuTexRefDestroy(own));
    CALL(cuModuleUnload(module));
    CHECK(cuTexRefSetFlags(of_line, 0) == CUDA_ERROR_INVALID_VALUE);
    printf("ok\n");
    return 0;
}
