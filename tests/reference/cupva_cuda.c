/* PVA commands between those of CUDA, in the same stream and on the same memory. */
#include <cupva_host.h>
#include <cupva_host_cuda.h>
#include <cupva_platform.h>

#include <string.h>

#include "check.h"

PVA_DECLARE_EXECUTABLE(reference)

enum { SIZE = 256 };

/* A StaticDataFlow that moves SIZE bytes when the kernel triggers `handler`. */
static void attach(cupvaCmd_t *program, char const *handler, void const *from, void *to)
{
    cupvaDataFlow_t flow;
    cupvaParameter_t known;
    CHECK(CupvaCmdProgramGetParameter(program, &known, handler) == CUPVA_ERROR_NONE);
    cupvaStaticDataFlowParams_t params = {.handler = &known, .GranularityType = CUPVA_ALL,
                                          .tileWidth = SIZE, .tileHeight = 1, .bpp = 1,
                                          .ptrSrc = from, .ptrDst = to};
    CHECK(CupvaCmdProgramAddDataFlowHead(program, &flow, CUPVA_STATIC_DATAFLOW, 0, 1) ==
          CUPVA_ERROR_NONE);
    CHECK(CupvaStaticDataFlowSetParams(flow, &params) == CUPVA_ERROR_NONE);
}

static void *in_vmem(cupvaCmd_t *program, char const *name)
{
    cupvaParameter_t known;
    void *pointer;
    CHECK(CupvaCmdProgramGetParameter(program, &known, name) == CUPVA_ERROR_NONE);
    CHECK(CupvaParameterGetDevicePointer(&known, &pointer) == CUPVA_ERROR_NONE);
    return pointer;
}

/* Adds 5 to each byte of `memory`. */
static cupvaCmd_t create(cupvaExecutable_t executable, void *memory)
{
    cupvaCmd_t program;
    cupvaParameter_t summand;
    int32_t five = 5;
    CHECK(CupvaCmdProgramCreate(&program, executable) == CUPVA_ERROR_NONE);
    CHECK(CupvaCmdProgramGetParameter(&program, &summand, "summand") == CUPVA_ERROR_NONE);
    CHECK(CupvaParameterSetValueArray(&summand, &five, sizeof five) == CUPVA_ERROR_NONE);
    attach(&program, "input_handler", memory, in_vmem(&program, "input"));
    attach(&program, "output_handler", in_vmem(&program, "output"), memory);
    CHECK(CupvaCmdProgramCompileDataFlows(&program) == CUPVA_ERROR_NONE);
    return program;
}

static void expect(cudaStream_t stream, void const *memory, uint8_t value)
{
    static uint8_t seen[SIZE];
    enum cudaMemcpyKind back = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpyAsync(seen, memory, SIZE, back, stream) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    for (int i = 0; i < SIZE; i++) {
        CHECK(seen[i] == value);
    }
}

int main(void)
{
    cupvaError_t error, code;
    cupvaExecutable_t executable;
    cupvaContext_t context;
    cudaStream_t cuda_stream;
    void *memory, *device;
    bool supported = false;
    CHECK(CupvaExecutableCreate(&executable, PVA_EXECUTABLE_DATA(reference),
                                PVA_EXECUTABLE_SIZE(reference)) == CUPVA_ERROR_NONE);
    CHECK(cudaStreamCreateWithFlags(&cuda_stream, cudaStreamNonBlocking) == cudaSuccess);
    CHECK(cudaMalloc(&memory, SIZE) == cudaSuccess);
    CHECK(CupvaContextGetCurrent(&context) == CUPVA_ERROR_NONE);
    error = CupvaCudaContextSupportsCuda(context, &supported);
    CHECK(error == CUPVA_ERROR_NONE && supported);
    error = CupvaCudaMemImport(&device, memory, SIZE, CUPVA_READ_WRITE);
    CHECK(error == CUPVA_ERROR_NONE);

    /* It has no more bytes than CUDA gave, and is CUDA's. */
    static uint8_t own[SIZE];
    char const *message;
    void *nothing = NULL;
    error = CupvaCudaMemImport(&nothing, memory, SIZE + 1, CUPVA_READ_WRITE);
    CHECK(error == CUPVA_INVALID_ARGUMENT && nothing == NULL);
    CHECK(CupvaGetLastError(&message) == error && strstr(message, "bytes from cudaDevPtr on"));
    error = CupvaCudaMemImport(&nothing, own, SIZE, CUPVA_READ_WRITE);
    CHECK(error == CUPVA_INVALID_ARGUMENT && nothing == NULL);
    CHECK(CupvaGetLastError(&message) == error && strstr(message, "no memory of CUDA"));
    error = CupvaCudaMemImport(&nothing, memory, 0, CUPVA_READ_WRITE);
    CHECK(error == CUPVA_INVALID_ARGUMENT && nothing == NULL);

    /* The PVA reads what CUDA wrote before, and CUDA reads what the PVA wrote. */
    cupvaCmd_t program = create(executable, device);
    cupvaCmd_t const *commands[] = {&program};
    cupvaCmdStatus_t status[1];
    error = CupvaCudaStreamSetName(cuda_stream, "frames");
    CHECK(error == CUPVA_ERROR_NONE);
    error = CupvaCudaStreamSetAffinity(cuda_stream, CUPVA_VPU1);
    CHECK(error == CUPVA_ERROR_NONE);
    CHECK(cudaMemsetAsync(memory, 10, SIZE, cuda_stream) == cudaSuccess);
    error = CupvaCudaStreamSubmit(cuda_stream, commands, status, 1, CUPVA_IN_ORDER, -1, -1);
    CHECK(error == CUPVA_ERROR_NONE);
    expect(cuda_stream, memory, 15);
    CHECK(CupvaCheckCommandStatus(status[0], &code) == CUPVA_ERROR_NONE);
    CHECK(code == CUPVA_ERROR_NONE);

    /* What is submitted for each frame again is put together once. */
    cupvaCmdBuffer_t buffer;
    CHECK(CupvaCmdBufferCreate(&buffer, commands, 1, NULL, CUPVA_IN_ORDER) == CUPVA_ERROR_NONE);
    for (int frame = 0; frame < 3; frame++) {
        error = CupvaCudaStreamSubmitCmdBuffer(cuda_stream, buffer, -1, -1);
        CHECK(error == CUPVA_ERROR_NONE);
    }
    expect(cuda_stream, memory, 30);

    /* The older way: a PVA stream that lies in the one of CUDA. */
    cupvaStream_t stream;
    error = CupvaCudaCreateStream(&stream, cuda_stream, CUPVA_PVA0, CUPVA_VPU_ANY);
    CHECK(error == CUPVA_ERROR_NONE);
    CHECK(cudaMemsetAsync(memory, 100, SIZE, cuda_stream) == cudaSuccess);
    CHECK(CupvaStreamSubmit(stream, commands, NULL, 1, CUPVA_IN_ORDER, -1, -1) == CUPVA_ERROR_NONE);
    expect(cuda_stream, memory, 105);
    CHECK(CupvaStreamDestroy(stream) == CUPVA_ERROR_NONE);
    CHECK(CupvaCmdBufferDestroy(buffer) == CUPVA_ERROR_NONE);
    CHECK(CupvaMemFree(device) == CUPVA_ERROR_NONE);

    /* For good: nothing takes it back. */
    error = CupvaCudaForceDisableSupport();
    CHECK(error == CUPVA_ERROR_NONE);
    CHECK(CupvaCudaContextSupportsCuda(context, &supported) == CUPVA_ERROR_NONE && !supported);
    CHECK(CupvaCudaStreamSetAffinity(cuda_stream, CUPVA_VPU_ANY) == CUPVA_CUDA_DISABLED);

    CHECK(CupvaCmdDestroy(&program) == CUPVA_ERROR_NONE);
    CHECK(CupvaExecutableDestroy(executable) == CUPVA_ERROR_NONE);
    CHECK(cudaFree(memory) == cudaSuccess);
    CHECK(cudaStreamDestroy(cuda_stream) == cudaSuccess);
    puts("ok");
    return 0;
}
