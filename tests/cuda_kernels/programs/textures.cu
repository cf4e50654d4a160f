// Fetches at given points. argv: what width height depth layers format address filter normalized, then points
// (x y z layer). The array holds 0, 1, 2, ... in C order.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

struct Point {
    float x, y, z;
    int layer;
};

template <class T>
__global__ void fetch(cudaTextureObject_t from, int dimensions, bool layered, bool linear, const Point *at,
                      int count, T *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    Point p = at[i];
    if (linear)
        out[i] = tex1Dfetch<T>(from, int(p.x));
    else if (layered && dimensions == 1)
        out[i] = tex1DLayered<T>(from, p.x, p.layer);
    else if (layered)
        out[i] = tex2DLayered<T>(from, p.x, p.y, p.layer);
    else if (dimensions == 1)
        out[i] = tex1D<T>(from, p.x);
    else if (dimensions == 2)
        out[i] = tex2D<T>(from, p.x, p.y);
    else
        out[i] = tex3D<T>(from, p.x, p.y, p.z);
}

__global__ void twice(cudaSurfaceObject_t object, int width, int height)
{
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            uchar1 v = surf2Dread<uchar1>(object, x, y);
            v.x *= 2;
            surf2Dwrite(v, object, x, y);
        }
    surf2Dwrite(uchar1{99}, object, width, 0, cudaBoundaryModeZero);
    surf2Dwrite(uchar1{77}, object, width + 5, height + 5, cudaBoundaryModeClamp);
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
    const char *what = argv[1];
    size_t width = atoi(argv[2]), height = atoi(argv[3]), depth = atoi(argv[4]), layers = atoi(argv[5]);
    bool linear = !strcmp(what, "linear"), pitched = !strcmp(what, "pitch");
    size_t rows = height ? height : 1, planes = layers ? layers : depth ? depth : 1;
    std::vector<T> values(width * rows * planes);
    for (size_t i = 0; i < values.size(); i++)
        values[i] = T(i);
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>();
    cudaResourceDesc from = {};
    if (linear) {
        from.resType = cudaResourceTypeLinear;
        from.res.linear.desc = desc;
        from.res.linear.sizeInBytes = values.size() * sizeof(T);
        CHECK(cudaMalloc(&from.res.linear.devPtr, values.size() * sizeof(T)));
        CHECK(cudaMemcpy(from.res.linear.devPtr, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    } else if (pitched) {
        from.resType = cudaResourceTypePitch2D;
        from.res.pitch2D.desc = desc;
        from.res.pitch2D.width = width;
        from.res.pitch2D.height = height;
        CHECK(cudaMallocPitch(&from.res.pitch2D.devPtr, &from.res.pitch2D.pitchInBytes, width * sizeof(T), height));
        CHECK(cudaMemcpy2D(from.res.pitch2D.devPtr, from.res.pitch2D.pitchInBytes, values.data(),
                           width * sizeof(T), width * sizeof(T), height, cudaMemcpyHostToDevice));
    } else {
        cudaArray_t array;
        CHECK(cudaMalloc3DArray(&array, &desc, make_cudaExtent(width, height, layers ? layers : depth),
                                layers ? cudaArrayLayered : 0));
        cudaMemcpy3DParms copy = {};
        copy.srcPtr = make_cudaPitchedPtr(values.data(), width * sizeof(T), width, rows);
        copy.dstArray = array;
        copy.extent = make_cudaExtent(width, rows, planes);
        copy.kind = cudaMemcpyHostToDevice;
        CHECK(cudaMemcpy3D(&copy));
        from.resType = cudaResourceTypeArray;
        from.res.array.array = array;
    }
    cudaTextureDesc how = {};
    for (int d = 0; d < 3; d++)
        how.addressMode[d] = cudaTextureAddressMode(atoi(argv[7]));
    how.filterMode = cudaTextureFilterMode(atoi(argv[8]));
    how.normalizedCoords = atoi(argv[9]);
    how.readMode = as_float && sizeof(T) < 4 ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &from, &how, nullptr));
    int count = 0;
    Point *points;
    CHECK(cudaMallocManaged(&points, 4096 * sizeof(Point)));
    for (char **word = argv + 10; *word; word += 4)
        points[count++] = {float(atof(word[0])), float(atof(word[1])), float(atof(word[2])), atoi(word[3])};
    int dimensions = depth ? 3 : height ? 2 : 1;
    float *floats;
    T *same;
    CHECK(cudaMallocManaged(&floats, 4096 * sizeof(float)));
    CHECK(cudaMallocManaged(&same, 4096 * sizeof(T)));
    if (as_float)
        fetch<float><<<4, 64>>>(texture, dimensions, layers > 0, linear, points, count, floats);
    else
        fetch<T><<<4, 64>>>(texture, dimensions, layers > 0, linear, points, count, same);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < count; i++)
        printf("%.9g\n", as_float ? double(floats[i]) : double(same[i]));
    CHECK(cudaDestroyTextureObject(texture));
    printf("%s\n", cudaGetErrorName(cudaDestroyTextureObject(texture)));
    return 0;
}

static int surfaces()
{
    const int width = 7, height = 5;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<uchar1>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &desc, width, height, cudaArraySurfaceLoadStore));
    unsigned char values[height * width];
    for (int i = 0; i < width * height; i++)
        values[i] = i;
    CHECK(cudaMemcpyToArray(array, 0, 0, values, sizeof values, cudaMemcpyHostToDevice));
    cudaResourceDesc of = {};
    of.resType = cudaResourceTypeArray;
    of.res.array.array = array;
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &of));
    twice<<<1, 1>>>(surface, width, height);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy2DFromArray(values, width, array, 0, 0, width, height, cudaMemcpyDeviceToHost));
    for (int i = 0; i < width * height; i++)
        printf("%d\n", values[i]);
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
    printf("%s\n", cudaGetErrorName(cudaFreeArray(array)));
    return 0;
}

int main(int, char **argv)
{
    if (!strcmp(argv[1], "surface"))
        return surfaces();
    if (!strcmp(argv[6], "float"))
        return run<float>(argv, true);
    if (!strcmp(argv[6], "int"))
        return run<int>(argv, false);
    if (!strcmp(argv[6], "uchar"))
        return run<unsigned char>(argv, true);
    return run<short>(argv, true);
}
