/* Submits a network N times on a CUDA stream, 16 under way, and looks at the result of each round:
 * `cudla LOADABLE N`. All inputs are different; the network is y = max(x, 0), byte by byte. */
#include <string.h>

#include "cuda_runtime_api.h"
#include "cudla.h"

#include "figures.h"

enum { UNDER_WAY = 16, MOST = 4096 };

static uint64_t size_of(cudlaModule module, cudlaModuleAttributeType type)
{
    cudlaModuleTensorDescriptor tensor[1];
    cudlaModuleAttribute attribute;
    memset(tensor, 0, sizeof tensor);
    attribute.inputTensorDesc = tensor;
    CHECK(cudlaModuleGetAttributes(module, type, &attribute));
    return tensor[0].size;
}

int main(int count, char **words)
{
    if (count != 3)
        return 2;
    static unsigned char loadable[1 << 20];
    FILE *file = fopen(words[1], "rb");
    size_t bytes = file ? fread(loadable, 1, sizeof loadable, file) : 0;
    long rounds = atol(words[2]) / UNDER_WAY;
    cudlaDevHandle device;
    cudlaModule module;
    CHECK(cudlaCreateDevice(0, &device, CUDLA_CUDA_DLA));
    CHECK(cudlaModuleLoadFromMemory(device, loadable, bytes, &module, 0));
    uint64_t size = size_of(module, CUDLA_INPUT_TENSOR_DESCRIPTORS);
    if (size > MOST || size != size_of(module, CUDLA_OUTPUT_TENSOR_DESCRIPTORS))
        return 3;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    void *in[UNDER_WAY], *out[UNDER_WAY];
    uint64_t *registered[UNDER_WAY][2];
    cudlaTask tasks[UNDER_WAY];
    memset(tasks, 0, sizeof tasks);
    for (int i = 0; i < UNDER_WAY; i++) {
        CHECK(cudaMalloc(&in[i], size));
        CHECK(cudaMalloc(&out[i], size));
        CHECK(cudlaMemRegister(device, in[i], size, &registered[i][0], 0));
        CHECK(cudlaMemRegister(device, out[i], size, &registered[i][1], 0));
        tasks[i].moduleHandle = module;
        tasks[i].inputTensor = (const uint64_t *const *)&registered[i][0];
        tasks[i].numInputTensors = 1;
        tasks[i].outputTensor = &registered[i][1];
        tasks[i].numOutputTensors = 1;
    }
    static signed char x[MOST], y[MOST];
    double begin = load_now();
    for (long round = 0; round < rounds; round++) {
        int one = (int)(round % UNDER_WAY);
        for (uint64_t k = 0; k < size; k++)
            x[k] = (signed char)(round * 31 + (long)k * 7);
        CHECK(cudaMemcpyAsync(in[one], x, size, cudaMemcpyHostToDevice, stream));
        for (int i = 0; i < UNDER_WAY; i++)
            CHECK(cudlaSubmitTask(device, &tasks[i], 1, stream, 0));
        CHECK(cudaMemcpyAsync(y, out[one], size, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        for (uint64_t k = 0; k < size; k++)
            if (y[k] != (x[k] > 0 ? x[k] : 0)) {
                fprintf(stderr, "round %ld, byte %lu: %d of %d\n", round, (unsigned long)k, y[k], x[k]);
                return 1;
            }
        if (round == rounds / 10)
            load_figures("early", begin);
    }
    load_figures("end", begin);
    return 0;
}
