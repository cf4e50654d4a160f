// Fetches at given points. argv: array|pitch width height format address filter normalized, then
// points (x y). The texture holds 0, 1, 2, ... row by row.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

template <class T>
__global__ void fetch(cudaTextureObject_t from, const float2 *at, int count, T *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = tex2D<T>(from, at[i].x, at[i].y);
}

static void check(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) {
        printf("%s %s\n", what, cudaGetErrorName(error));
        exit(3);
    }
}
#define CHECK(call) check(call, #call)

template <class T> static int run(char **argv, bool as_float)
{
    bool pitched = !strcmp(argv[1], "pitch");
    size_t width = atoi(argv[2]), height = atoi(argv[3]), row = width * sizeof(T);
    std::vector<T> values(width * height);
    for (size_t i = 0; i < values.size(); i++)
        values[i] = T(i);
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>();
    cudaResourceDesc from = {};
    if (pitched) {
        auto &pitch = from.res.pitch2D;
        from.resType = cudaResourceTypePitch2D;
        pitch.desc = desc;
        pitch.width = width;
        pitch.height = height;
        CHECK(cudaMallocPitch(&pitch.devPtr, &pitch.pitchInBytes, row, height));
        CHECK(cudaMemcpy2D(pitch.devPtr, pitch.pitchInBytes, values.data(), row, row, height,
                           cudaMemcpyHostToDevice));
    } else {
        cudaArray_t array;
        CHECK(cudaMallocArray(&array, &desc, width, height));
        CHECK(cudaMemcpy2DToArray(array, 0, 0, values.data(), row, row, height,
                                  cudaMemcpyHostToDevice));
        from.resType = cudaResourceTypeArray;
        from.res.array.array = array;
    }
    cudaTextureDesc how = {};
    for (int d = 0; d < 2; d++)
        how.addressMode[d] = cudaTextureAddressMode(atoi(argv[5]));
    how.filterMode = cudaTextureFilterMode(atoi(argv[6]));
    how.normalizedCoords = atoi(argv[7]);
    how.readMode = as_float && sizeof(T) < 4 ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &from, &how, nullptr));
    int count = 0;
    float2 *points;
    CHECK(cudaMallocManaged(&points, 4096 * sizeof *points));
    for (char **word = argv + 8; *word; word += 2)
        points[count++] = make_float2(float(atof(word[0])), float(atof(word[1])));
    float *floats;
    T *same;
    CHECK(cudaMallocManaged(&floats, 4096 * sizeof(float)));
    CHECK(cudaMallocManaged(&same, 4096 * sizeof(T)));
    if (as_float)
        fetch<float><<<4, 64>>>(texture, points, count, floats);
    else
        fetch<T><<<4, 64>>>(texture, points, count, same);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < count; i++)
        printf("%.9g\n", as_float ? double(floats[i]) : double(same[i]));
    CHECK(cudaDestroyTextureObject(texture));
    printf("%s\n", cudaGetErrorName(cudaDestroyTextureObject(texture)));
    return 0;
}

int main(int, char **argv)
{
    if (!strcmp(argv[4], "float"))
        return run<float>(argv, true);
    if (!strcmp(argv[4], "int"))
        return run<int>(argv, false);
    if (!strcmp(argv[4], "uchar"))
        return run<unsigned char>(argv, true);
    return run<short>(argv, true);
}
