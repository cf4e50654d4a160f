/* Returns from main while a core computes: argv is the loadable, tasks, microseconds to wait. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "cuda_runtime_api.h"
#include "cudla.h"

#define CHECK(call) do { \
    int s_ = (int)(call); \
    if (s_) { printf("%s %d\n", #call, s_); return 1; } \
} while (0)

static unsigned char image[1 << 20];

int main(int argc, char **argv)
{
    FILE *file = fopen(argv[1], "rb");
    size_t size = file ? fread(image, 1, sizeof image, file) : 0;
    cudlaDevHandle device;
    cudlaModule module;
    cudaStream_t stream;
    void *memory;
    uint64_t *registered;
    CHECK(argc != 4);
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudlaCreateDevice(0, &device, CUDLA_CUDA_DLA));
    CHECK(cudlaModuleLoadFromMemory(device, image, size, &module, 0));
    CHECK(cudaMalloc(&memory, 1 << 20));
    CHECK(cudlaMemRegister(device, memory, 1 << 20, &registered, 0));
    const uint64_t *inputs[] = {registered};
    uint64_t *outputs[] = {registered};
    cudlaTask task = {.moduleHandle = module, .inputTensor = inputs, .numInputTensors = 1,
                      .outputTensor = outputs, .numOutputTensors = 1};
    for (int i = 0; i < atoi(argv[2]); i++) CHECK(cudlaSubmitTask(device, &task, 1, stream, 0));
    usleep(atoi(argv[3]));
    puts("leaving");
    return 9;
}
