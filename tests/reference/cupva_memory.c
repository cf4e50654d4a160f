/* Memory that the PVA did not allocate: the program's own, and CUDA's. */
#include <cuda_runtime.h>
#include <cupva_host.h>
#include <cupva_host_nonsafety.h>

#include <string.h>

#include "check.h"

enum { SIZE = 10000 };

/* Copies on the PVA, and waits for it. */
static void copy(void *to, void const *from)
{
    cupvaCmdMemcpyBufferParams_t params = {.ptrSrc = from, .ptrDst = to};
    cupvaCmd_t command;
    cupvaStream_t stream;
    cupvaCmdStatus_t status;
    cupvaError_t code;
    cupvaCmd_t const *commands[] = {&command};
    CHECK(CupvaCmdMemcpyCreate(&command, &params, SIZE) == CUPVA_ERROR_NONE);
    CHECK(CupvaStreamCreate(&stream, CUPVA_PVA0, CUPVA_VPU_ANY) == CUPVA_ERROR_NONE);
    CHECK(CupvaStreamSubmit(stream, commands, &status, 1, CUPVA_IN_ORDER, -1, -1) ==
          CUPVA_ERROR_NONE);
    CHECK(CupvaStreamSynchronize(stream) == CUPVA_ERROR_NONE);
    CHECK(CupvaCheckCommandStatus(status, &code) == CUPVA_ERROR_NONE && code == CUPVA_ERROR_NONE);
    CHECK(CupvaStreamDestroy(stream) == CUPVA_ERROR_NONE);
    CHECK(CupvaCmdDestroy(&command) == CUPVA_ERROR_NONE);
}

static uint8_t own[SIZE], found[SIZE];

int main(void)
{
    cupvaError_t error;
    void *from, *to, *cuda, *host, *device;
    for (int i = 0; i < SIZE; i++) {
        own[i] = (uint8_t)(i * 31 + i / 256);
    }

    /* An array of the program is read where it lies, and another one written. */
    error = CupvaMemImportFromHostPtr(&from, own, SIZE, CUPVA_READ);
    CHECK(error == CUPVA_ERROR_NONE && from != own);
    CHECK(CupvaMemImportFromHostPtr(&to, found, SIZE, CUPVA_READ_WRITE) == CUPVA_ERROR_NONE);
    CHECK(CupvaMemGetHostPointer(&host, to) == CUPVA_ERROR_NONE && host == found);
    copy(to, from);
    CHECK(memcmp(found, own, SIZE) == 0);
    CHECK(CupvaMemFree(from) == CUPVA_ERROR_NONE);
    CHECK(CupvaMemFree(to) == CUPVA_ERROR_NONE);
    CHECK(memcmp(found, own, SIZE) == 0);

    /* CUDA memory is registered at its first use; doing it before takes the time out of that. */
    CHECK(cudaMalloc(&cuda, SIZE) == cudaSuccess);
    CHECK(cudaMemset(cuda, 77, SIZE) == cudaSuccess);
    error = CupvaMemRegister(cuda, SIZE, CUPVA_EXTERNAL_ALLOC_TYPE_CUDA);
    CHECK(error == CUPVA_ERROR_NONE);
    CHECK(CupvaMemAlloc(&device, SIZE, CUPVA_READ_WRITE, CUPVA_ALLOC_DRAM) == CUPVA_ERROR_NONE);
    copy(device, cuda);
    CHECK(CupvaMemGetHostPointer(&host, device) == CUPVA_ERROR_NONE);
    for (int i = 0; i < SIZE; i++) {
        CHECK(((uint8_t const *)host)[i] == 77);
    }
    error = CupvaMemUnregister(cuda);
    CHECK(error == CUPVA_ERROR_NONE);

    /* It comes and goes by itself, so asking for that again, or never having done so, is no error;
       anything else is none of CUDA's. */
    CHECK(CupvaMemUnregister(cuda) == CUPVA_ERROR_NONE);
    CHECK(CupvaMemUnregister((uint8_t *)cuda + 1) == CUPVA_ERROR_NONE);
    CHECK(CupvaMemUnregister(own) == CUPVA_INVALID_ARGUMENT);
    CHECK(CupvaMemUnregister(device) == CUPVA_INVALID_ARGUMENT);
    CHECK(CupvaMemUnregister(NULL) == CUPVA_INVALID_ARGUMENT);
    CHECK(cudaMemset(cuda, 78, SIZE) == cudaSuccess);
    copy(device, cuda);
    CHECK(((uint8_t const *)host)[SIZE - 1] == 78);
    CHECK(CupvaMemRegister(own, SIZE, CUPVA_EXTERNAL_ALLOC_TYPE_HOST) == CUPVA_UNSUPPORTED_FEATURE);

    CHECK(CupvaMemFree(device) == CUPVA_ERROR_NONE);
    CHECK(cudaFree(cuda) == cudaSuccess);
    puts("ok");
    return 0;
}
