// Texture and surface references, as CUDA had them before 12.0. Each case prints its fetches.
#include <cstdio>
#include <cstring>

texture<float, 1, cudaReadModeElementType> numbers;
texture<int4> quadruples;
texture<unsigned char, cudaTextureType2D, cudaReadModeNormalizedFloat> bytes;
static texture<float2, 2> pairs;
texture<float, cudaTextureType3D> volume;
texture<short, cudaTextureType1DLayered> layers;
surface<void, cudaSurfaceType2D> plane;

#define CHECK(call)                                                                                \
    if (cudaError_t status = (call))                                                               \
    printf("%s: %s\n", #call, cudaGetErrorName(status))

__global__ void read_numbers(float *to, int first) { to[threadIdx.x] = tex1Dfetch(numbers, first + threadIdx.x); }
__global__ void read_quadruples(int *to)
{
    int4 value = tex1Dfetch(quadruples, threadIdx.x);
    to[threadIdx.x] = value.x + 10 * value.y + 100 * value.z + 1000 * value.w;
}
__global__ void read_bytes(float *to, float step) { to[threadIdx.x] = tex2D(bytes, threadIdx.x * step, 0.5f); }
__global__ void read_pairs(float *to)
{
    float2 value = tex2D(pairs, threadIdx.x % 4 + 0.5f, threadIdx.x / 4 + 0.5f);
    to[threadIdx.x] = value.x - 2 * value.y;
}
__global__ void read_volume(float *to) { to[threadIdx.x] = tex3D(volume, threadIdx.x * 0.25f, 1.0f, 0.5f); }
__global__ void read_layers(float *to) { to[threadIdx.x] = tex1DLayered(layers, threadIdx.x % 4 + 0.5f, threadIdx.x / 4); }
__global__ void add_to_plane()
{
    float value = surf2Dread<float>(plane, threadIdx.x * 4, threadIdx.y), same;
    surf2Dread(&same, plane, threadIdx.x * 4, threadIdx.y);
    surf2Dwrite(value + same + 1, plane, threadIdx.x * 4, threadIdx.y, cudaBoundaryModeTrap);
}

static float *to;
static void show(const char *name, int count)
{
    CHECK(cudaDeviceSynchronize());
    printf("%s", name);
    for (int i = 0; i < count; i++)
        printf(" %.9g", to[i]);
    printf("\n");
}

static cudaArray_t array_of(const void *from, cudaChannelFormatDesc format, size_t element, cudaExtent size,
                            unsigned flags = 0)
{
    cudaArray_t made;
    CHECK(cudaMalloc3DArray(&made, &format, size, flags));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(const_cast<void *>(from), size.width * element, size.width,
                                      size.height ? size.height : 1);
    copy.dstArray = made;
    copy.extent = make_cudaExtent(size.width, size.height ? size.height : 1, size.depth ? size.depth : 1);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    return made;
}

int main(int count, char **)
{
    CHECK(cudaMallocManaged(&to, 64 * sizeof(float)));
    float *from, *other;
    CHECK(cudaMallocManaged(&from, 512 * sizeof(float)));
    CHECK(cudaMallocManaged(&other, 512 * sizeof(float)));
    for (int i = 0; i < 512; i++)
        from[i] = i * 1.5f, other[i] = -i;
    if (count > 1) {
        read_numbers<<<1, 8>>>(to, 0);
        printf("unbound %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
        return 0;
    }

    // bound again while the kernel before may still run
    CHECK(cudaBindTexture(NULL, numbers, from, 128 * sizeof(float)));
    read_numbers<<<1, 8>>>(to, 124);
    CHECK(cudaBindTexture(NULL, &numbers, other, &numbers.channelDesc));
    read_numbers<<<1, 8>>>(to + 8, 300);
    CHECK(cudaUnbindTexture(numbers));
    show("numbers", 16);

    size_t offset = 1;
    CHECK(cudaBindTexture(&offset, numbers, from + 3, cudaCreateChannelDesc<float>(), 64 * sizeof(float)));
    size_t again = 0;
    CHECK(cudaGetTextureAlignmentOffset(&again, numbers));
    printf("offset %zu %zu %s\n", offset, again, cudaGetErrorName(cudaBindTexture(NULL, numbers, from + 3, 256)));
    read_numbers<<<1, 8>>>(to, (int)(offset / sizeof(float)));
    show("behind", 8);

    const textureReference *reference;
    CHECK(cudaGetTextureReference(&reference, &quadruples));
    int *whole = (int *)other;
    for (int i = 0; i < 32; i++)
        whole[i] = i % 7;
    CHECK(cudaBindTexture(NULL, reference, whole, &reference->channelDesc, 32 * sizeof(int)));
    read_quadruples<<<1, 8>>>((int *)to);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 8; i++)
        to[i] = (float)((int *)to)[i];
    show("quadruples", 8);

    unsigned char row[8] = {0, 51, 102, 255, 7, 9, 200, 128};
    cudaArray_t array = array_of(row, cudaCreateChannelDesc<unsigned char>(), 1, make_cudaExtent(8, 1, 0));
    bytes.normalized = true;
    bytes.filterMode = cudaFilterModeLinear;
    bytes.addressMode[0] = cudaAddressModeWrap;
    CHECK(cudaBindTextureToArray(bytes, array));
    read_bytes<<<1, 16>>>(to, 1.0f / 11);
    show("bytes", 16);

    float2 *pitched;
    size_t pitch;
    CHECK(cudaMallocPitch(&pitched, &pitch, 4 * sizeof(float2), 3));
    CHECK(cudaMemcpy2D(pitched, pitch, from, 4 * sizeof(float2), 4 * sizeof(float2), 3, cudaMemcpyHostToDevice));
    CHECK(cudaBindTexture2D(NULL, pairs, pitched, 4, 3, pitch));
    read_pairs<<<1, 12>>>(to);
    show("pairs", 12);

    cudaArray_t cube = array_of(from, cudaCreateChannelDesc<float>(), 4, make_cudaExtent(4, 3, 2));
    volume.filterMode = cudaFilterModeLinear;
    CHECK(cudaBindTextureToArray(volume, cube));
    read_volume<<<1, 16>>>(to);
    show("volume", 16);

    short deep[8] = {5, -6, 7, -8, 100, 200, 300, 400};
    cudaArray_t layered = array_of(deep, cudaCreateChannelDesc<short>(), 2, make_cudaExtent(4, 0, 2), cudaArrayLayered);
    CHECK(cudaBindTextureToArray(layers, layered));
    read_layers<<<1, 8>>>(to);
    show("layers", 8);

    cudaArray_t writable =
        array_of(from, cudaCreateChannelDesc<float>(), 4, make_cudaExtent(4, 4, 0), cudaArraySurfaceLoadStore);
    CHECK(cudaBindSurfaceToArray(plane, writable));
    add_to_plane<<<1, dim3(4, 4)>>>();
    CHECK(cudaMemcpy2DFromArray(to, 16, writable, 0, 0, 16, 4, cudaMemcpyDeviceToHost));
    show("plane", 16);
    printf("%s\n", cudaGetErrorName(cudaBindSurfaceToArray(plane, array)));
    return 0;
}
