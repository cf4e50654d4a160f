/* two_stacks LOADABLE: cuDLA and nvdla::IRuntime use core 0 at the same time, 20 runs each. */
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "cuda_runtime_api.h"
#include "cudla.h"
#include "nvdla/IRuntime.h"

enum { RUNS = 20 };

static bool driver_equal, cudla_equal;

static void through_the_runtime(std::vector<char> image)
{
    nvdla::IRuntime *runtime = nvdla::createRuntime();
    nvdla::IRuntime::NvDlaTensor in, out;
    void *handles[2], *data[2];
    if (!runtime->load(reinterpret_cast<NvU8 *>(image.data()), 0) ||
        runtime->getInputTensorDesc(0, &in) || runtime->getOutputTensorDesc(0, &out) ||
        runtime->allocateSystemMemory(&handles[0], in.bufferSize, &data[0]) ||
        runtime->allocateSystemMemory(&handles[1], out.bufferSize, &data[1]) ||
        !runtime->bindInputTensor(0, handles[0]) || !runtime->bindOutputTensor(0, handles[1])) {
        return;
    }
    std::memset(data[0], 9, in.bufferSize);
    std::vector<char> first;
    for (int run = 0; run < RUNS; ++run) {
        if (!runtime->submit()) {
            return;
        }
        std::vector<char> now(static_cast<char *>(data[1]),
                              static_cast<char *>(data[1]) + out.dims.c);
        if (run != 0 && now != first) {
            return;
        }
        first = now;
    }
    driver_equal = true;
}

static void through_cudla(const std::vector<char> &image)
{
    cudlaDevHandle device;
    cudlaModule module;
    cudlaModuleAttribute attribute;
    cudlaModuleTensorDescriptor in, out;
    cudaStream_t stream;
    void *gpu[2];
    uint64_t *registered[2];
    if (cudlaCreateDevice(0, &device, CUDLA_CUDA_DLA) ||
        cudlaModuleLoadFromMemory(device, reinterpret_cast<const uint8_t *>(image.data()),
                                  image.size(), &module, 0)) {
        return;
    }
    attribute.inputTensorDesc = &in;
    cudlaModuleGetAttributes(module, CUDLA_INPUT_TENSOR_DESCRIPTORS, &attribute);
    attribute.outputTensorDesc = &out;
    cudlaModuleGetAttributes(module, CUDLA_OUTPUT_TENSOR_DESCRIPTORS, &attribute);
    if (cudaStreamCreate(&stream) || cudaMalloc(&gpu[0], in.size) || cudaMalloc(&gpu[1], out.size) ||
        cudlaMemRegister(device, static_cast<uint64_t *>(gpu[0]), in.size, &registered[0], 0) ||
        cudlaMemRegister(device, static_cast<uint64_t *>(gpu[1]), out.size, &registered[1], 0)) {
        return;
    }
    cudaMemset(gpu[0], 5, in.size);
    cudlaTask task = {};
    task.moduleHandle = module;
    task.numInputTensors = task.numOutputTensors = 1;
    task.inputTensor = &registered[0];
    task.outputTensor = &registered[1];
    std::vector<char> first, now(out.size);
    for (int run = 0; run < RUNS; ++run) {
        if (cudlaSubmitTask(device, &task, 1, stream, 0) || cudaStreamSynchronize(stream) ||
            cudaMemcpy(now.data(), gpu[1], out.size, cudaMemcpyDeviceToHost)) {
            return;
        }
        if (run != 0 && now != first) {
            return;
        }
        first = now;
    }
    cudla_equal = true;
}

int main(int, char **argv)
{
    std::ifstream file(argv[1], std::ios::binary);
    const std::vector<char> image((std::istreambuf_iterator<char>(file)),
                                  std::istreambuf_iterator<char>());
    std::thread one(through_the_runtime, image), two(through_cudla, image);
    one.join();
    two.join();
    std::puts(driver_equal && cudla_equal ? "equal" : "different");
    return driver_equal && cudla_equal ? 0 : 1;
}
