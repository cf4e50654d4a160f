// How hybrid programs call cuDLA: CUDA memory, one stream, tensors by reference.
#include <cudla.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

__global__ void never_launched(int *) {}

int main() {
    cudaError_t result = cudaFree(0);
    if (result != cudaSuccess) {
        std::printf("%s: %s\n", cudaGetErrorName(result), cudaGetErrorString(result));
    }
    result = cudaSetDevice(0);
    cudlaDevHandle device = NULL;
    cudlaModule module = NULL;
    cudlaStatus status = cudlaCreateDevice(0, &device, CUDLA_CUDA_DLA);
    std::vector<unsigned char> loadable(16);
    status = cudlaModuleLoadFromMemory(device, loadable.data(), loadable.size(), &module, 0);

    cudaStream_t stream = NULL;
    result = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);

    cudlaModuleAttribute attribute;
    status = cudlaModuleGetAttributes(module, CUDLA_NUM_INPUT_TENSORS, &attribute);
    std::vector<cudlaModuleTensorDescriptor> inputs(attribute.numInputTensors);
    attribute.inputTensorDesc = inputs.data();
    status = cudlaModuleGetAttributes(module, CUDLA_INPUT_TENSOR_DESCRIPTORS, &attribute);

    void *raw = NULL;
    float *typed = NULL;
    result = cudaMalloc(&raw, inputs[0].size);
    result = cudaMalloc(&typed, inputs[0].size);
    uint64_t *in_reg = NULL, *out_reg = NULL;
    status = cudlaMemRegister(device, (uint64_t *)raw, inputs[0].size, &in_reg, 0);
    status = cudlaMemRegister(device, (const uint64_t *)typed, inputs[0].size, &out_reg,
                              CUDLA_TASK_STATISTICS);

    result = cudaMemcpyAsync(raw, loadable.data(), 16, cudaMemcpyHostToDevice, stream);
    result = cudaMemsetAsync(typed, 0, 16, stream);
    cudlaTask task;
    task.moduleHandle = module;
    task.outputTensor = &out_reg;
    task.numOutputTensors = 1;
    task.numInputTensors = 1;
    task.inputTensor = &in_reg;
    task.waitEvents = NULL;
    task.signalEvents = NULL;
    status = cudlaSubmitTask(device, &task, 1, stream, 0);
    result = cudaStreamSynchronize(stream);
    if (result == cudaErrorExternalDevice) {
        status = cudlaGetLastError(device);
    }
    status = cudlaMemUnregister(device, in_reg);
    result = cudaStreamDestroy(stream);
    status = cudlaModuleUnload(module, 0);
    return status == cudlaDestroyDevice(device);
}
