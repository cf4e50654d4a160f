/* What a hybrid handle registers and submits, and what it refuses. */
#include <cuda_runtime.h>
#include <string.h>

#include "cudla_load.h"

enum { SIZE = 4096, VALUE = 7 };

int main(int argc, char **argv)
{
    cudlaDevHandle device;
    uint64_t *input, *output, *other = NULL;
    void *in, *out;
    (void)argc;
    CHECK(cudlaCreateDevice(0, &device, CUDLA_CUDA_DLA) == cudlaSuccess);
    cudlaModule module = load(device, argv[1]);
    CHECK(cudaMalloc(&in, SIZE) == cudaSuccess && cudaMalloc(&out, SIZE) == cudaSuccess);

    /* An invalid pointer or size. */
    CHECK(cudlaMemRegister(device, NULL, SIZE, &input, 0) == cudlaErrorInvalidAddress);
    CHECK(cudlaMemRegister(device, in, 0, &input, 0) == cudlaErrorInvalidAddress);
    CHECK(cudlaMemRegister(device, in, SIZE + 1, &input, 0) == cudlaErrorInvalidAddress);
    CHECK(cudlaMemRegister(device, in, SIZE, NULL, 0) == cudlaErrorInvalidParam);
    CHECK(cudlaMemRegister(device, in, SIZE, &input, 0) == cudlaSuccess);
    CHECK(cudlaMemRegister(device, in, SIZE, &other, 0) == cudlaErrorMemoryRegistered);
    CHECK(cudlaMemRegister(device, out, SIZE, &output, 0) == cudlaSuccess);
    CHECK(cudlaMemUnregister(device, input + 8) == cudlaErrorInvalidAddress);

    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream) == cudaSuccess);
    CHECK(cudaMemsetAsync(in, VALUE, SIZE, stream) == cudaSuccess);
    const uint64_t *const inputs[] = {input};
    uint64_t *const outputs[] = {output};
    cudlaTask task = {module, outputs, 1, 1, inputs, NULL, NULL};
    CHECK(cudlaSubmitTask(device, &task, 1, stream, 0) == cudlaSuccess);
    char result = 0;
    CHECK(cudaMemcpyAsync(&result, out, 1, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(result == VALUE);

    /* Events are NvSci's, a graph takes no task, and a task needs its tensors. */
    cudlaWaitEvents waits = {NULL, 0};
    task.waitEvents = &waits;
    CHECK(cudlaSubmitTask(device, &task, 1, stream, 0) == cudlaErrorUnsupportedOperation);
    task.waitEvents = NULL;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess);
    CHECK(cudlaSubmitTask(device, &task, 1, stream, 0) == cudlaErrorUnsupportedOperation);
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    task.inputTensor = NULL;
    CHECK(cudlaSubmitTask(device, &task, 1, stream, 0) == cudlaErrorUnsupportedOperation);
    task.inputTensor = inputs;
    CHECK(cudaFree(in) == cudaSuccess);
    CHECK(cudlaSubmitTask(device, &task, 1, stream, 0) == cudlaErrorInvalidAddress);

    CHECK(cudlaDestroyDevice(device) == cudlaSuccess);
    CHECK(cudlaModuleUnload(module, 0) == cudlaErrorInvalidModule);
    puts("ok");
    return 0;
}
