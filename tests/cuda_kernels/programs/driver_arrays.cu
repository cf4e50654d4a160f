// Memory, arrays, textures and surfaces by the driver's names; the kernels are launched by the runtime.
#include <cuda.h>
#include <cstdio>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                   \
    do {                                                                              \
        int status = (int)(call);                                                     \
        if (status)                                                                   \
            return printf("line %d: %d\n", __LINE__, status), 1;                      \
    } while (0)

__global__ void sample(CUtexObject texture, float *out, int width, int height)
{
    int x = threadIdx.x, y = threadIdx.y;
    out[y * width + x] = tex2D<float>(texture, (x + 0.75f) / width, (y + 0.5f) / height);
}
__global__ void promote(CUtexObject texture, float *out) { out[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x); }
__global__ void lift(CUsurfObject surface)
{
    int value = surf3Dread<int>(surface, threadIdx.x * 4, threadIdx.y, threadIdx.z);
    surf3Dwrite(value + 1000, surface, threadIdx.x * 4, threadIdx.y, threadIdx.z);
}

static int arrays()
{
    const int width = 6, height = 3, depth = 2;
    CUarray plane, box;
    CUDA_ARRAY_DESCRIPTOR flat = {width, height, CU_AD_FORMAT_FLOAT, 1}, told;
    CHECK(cuArrayCreate(&plane, &flat));
    CHECK(cuArrayGetDescriptor(&told, plane));
    printf("flat %zu %zu %d %u\n", told.Width, told.Height, told.Format, told.NumChannels);
    std::vector<float> image(width * height), back(image.size());
    for (size_t i = 0; i < image.size(); i++)
        image[i] = (float)(i * i);
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = image.data();
    copy.srcPitch = width * sizeof(float);
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = plane;
    copy.WidthInBytes = width * sizeof(float);
    copy.Height = height;
    CHECK(cuMemcpy2D(&copy));
    CHECK(cuMemcpyAtoH(back.data(), plane, 0, image.size() * sizeof(float)));
    printf("back %d\n", memcmp(back.data(), image.data(), image.size() * sizeof(float)));

    CUDA_RESOURCE_DESC resource = {}, same;
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = plane;
    CUDA_TEXTURE_DESC how = {}, said;
    how.addressMode[0] = how.addressMode[1] = CU_TR_ADDRESS_MODE_WRAP;
    how.filterMode = CU_TR_FILTER_MODE_LINEAR;
    how.flags = CU_TRSF_NORMALIZED_COORDINATES;
    CUtexObject texture;
    CHECK(cuTexObjectCreate(&texture, &resource, &how, NULL));
    CHECK(cuTexObjectGetResourceDesc(&same, texture));
    CHECK(cuTexObjectGetTextureDesc(&said, texture));
    printf("texture %d %d %u\n", same.res.array.hArray == plane, said.filterMode, said.flags & CU_TRSF_NORMALIZED_COORDINATES);
    CUdeviceptr out;
    CHECK(cuMemAllocManaged(&out, image.size() * sizeof(float), CU_MEM_ATTACH_GLOBAL));
    sample<<<1, dim3(width, height)>>>(texture, (float *)out, width, height);
    CHECK(cuCtxSynchronize());
    printf("sampled");
    for (size_t i = 0; i < image.size(); i++)
        printf(" %g", ((float *)out)[i]);
    printf("\n");
    CHECK(cuTexObjectDestroy(texture));
    printf("gone %d\n", cuTexObjectDestroy(texture));

    CUDA_ARRAY3D_DESCRIPTOR solid = {4, 3, depth, CU_AD_FORMAT_SIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST}, whole;
    CHECK(cuArray3DCreate(&box, &solid));
    CHECK(cuArray3DGetDescriptor(&whole, box));
    printf("solid %zu %zu %zu %d %u %u\n", whole.Width, whole.Height, whole.Depth, whole.Format, whole.NumChannels, whole.Flags);
    int cube[depth][3][4], raised[depth][3][4];
    for (int i = 0; i < 24; i++)
        (&cube[0][0][0])[i] = i;
    CUDA_MEMCPY3D in = {};
    in.srcMemoryType = CU_MEMORYTYPE_HOST;
    in.srcHost = cube;
    in.srcPitch = 16;
    in.srcHeight = 3;
    in.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    in.dstArray = box;
    in.WidthInBytes = 16;
    in.Height = 3;
    in.Depth = depth;
    CHECK(cuMemcpy3D(&in));
    CUsurfObject surface;
    resource.res.array.hArray = box;
    CHECK(cuSurfObjectCreate(&surface, &resource));
    lift<<<1, dim3(4, 3, depth)>>>(surface);
    CUDA_MEMCPY3D part = {};
    part.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    part.srcArray = box;
    part.srcXInBytes = 4, part.srcY = 1;
    part.dstMemoryType = CU_MEMORYTYPE_HOST;
    part.dstHost = raised;
    part.WidthInBytes = 8, part.Height = 2, part.Depth = depth;
    CHECK(cuMemcpy3D(&part));
    printf("raised");
    for (int i = 0; i < 8; i++)
        printf(" %d", (&raised[0][0][0])[i]);
    printf("\n");
    CHECK(cuSurfObjectDestroy(surface));
    CHECK(cuArrayDestroy(box));
    CHECK(cuArrayDestroy(plane));
    printf("gone %d\n", cuArrayDestroy(plane));
    return 0;
}

static int linear()
{
    CUdeviceptr bytes, pitched, out;
    size_t pitch, size;
    CHECK(cuMemAlloc(&bytes, 16));
    CHECK(cuMemsetD8(bytes, 255, 16));
    CHECK(cuMemsetD16(bytes, 0x3300, 4));
    CUDA_RESOURCE_DESC resource = {};
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = bytes;
    resource.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT8;
    resource.res.linear.numChannels = 1;
    resource.res.linear.sizeInBytes = 16;
    CUDA_TEXTURE_DESC how = {};
    CUtexObject texture;
    CHECK(cuTexObjectCreate(&texture, &resource, &how, NULL));
    CHECK(cuMemAllocManaged(&out, 64, CU_MEM_ATTACH_GLOBAL));
    promote<<<1, 16>>>(texture, (float *)out);
    CHECK(cuCtxSynchronize());
    printf("promoted");
    for (int i = 0; i < 16; i++)
        printf(" %g", ((float *)out)[i]);
    printf("\n");
    CHECK(cuMemAllocPitch(&pitched, &pitch, 12, 3, 4));
    CHECK(cuMemsetD2D32(pitched, pitch, 7, 3, 3));
    int rows[3][3] = {};
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = pitched;
    copy.srcPitch = pitch;
    copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.dstDevice = (CUdeviceptr)rows;
    copy.WidthInBytes = 12;
    copy.Height = 3;
    CHECK(cuMemcpy2D(&copy));
    CUdeviceptr base;
    CHECK(cuMemGetAddressRange(&base, &size, pitched + 5));
    printf("pitched %d %d %d\n", rows[0][0] + rows[2][2], base == pitched, size >= 3 * pitch);
    int *host;
    CUdeviceptr seen;
    unsigned flags;
    CHECK(cuMemHostAlloc((void **)&host, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    CHECK(cuMemHostGetDevicePointer(&seen, host, 0));
    CHECK(cuMemHostGetFlags(&flags, host));
    CUstream stream;
    CHECK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0));
    CHECK(cuMemsetD32Async(seen, 41, 16, stream));
    CHECK(cuMemcpyAsync(out, seen, 64, stream));
    CHECK(cuStreamSynchronize(stream));
    printf("host %d %u\n", ((int *)out)[15], flags);
    CHECK(cuMemFreeHost(host));
    CUdeviceptr later;
    CHECK(cuMemAllocAsync(&later, 64, stream));
    CHECK(cuMemcpyDtoDAsync(later, out, 64, stream));
    CHECK(cuMemcpy(out, later, 64));
    CHECK(cuMemFreeAsync(later, stream));
    CUipcMemHandle handle;
    CHECK(cuIpcGetMemHandle(&handle, bytes));
    copy.dstMemoryType = (CUmemorytype)9;
    printf("wrong %d", cuMemcpy2D(&copy));
    copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED, copy.srcPitch = 8;
    printf(" %d", cuMemcpy2D(&copy));
    resource.res.linear.format = (CUarray_format)5;
    printf(" %d", cuTexObjectCreate(&texture, &resource, &how, NULL));
    printf(" %d", cuMemsetD32(bytes + 2, 1, 1));
    printf(" %d\n", cuMemGetAddressRange(&base, &size, 4096));
    return 0;
}

int main()
{
    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate(&context, 0, device));
    return arrays() || linear();
}
