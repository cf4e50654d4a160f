/* Two dataflows share a channel and a buffer; their source and target move between submissions. */
#include <cupva_host.h>
#include <cupva_platform.h>

#include <string.h>

#include "check.h"

PVA_DECLARE_EXECUTABLE(reference)

enum { SIZE = 256 };

static cupvaStream_t stream;
static cupvaCmd_t program;

static cupvaParameter_t parameter(char const *name)
{
    cupvaParameter_t found;
    CHECK(CupvaCmdProgramGetParameter(&program, &found, name) == CUPVA_ERROR_NONE);
    return found;
}

static void *in_vmem(char const *name)
{
    void *pointer;
    cupvaParameter_t known = parameter(name);
    CHECK(CupvaParameterGetDevicePointer(&known, &pointer) == CUPVA_ERROR_NONE);
    return pointer;
}

static uint8_t *allocate(uint8_t **host, int64_t size)
{
    void *device, *seen;
    CHECK(CupvaMemAlloc(&device, size, CUPVA_READ_WRITE, CUPVA_ALLOC_DRAM) == CUPVA_ERROR_NONE);
    CHECK(CupvaMemGetHostPointer(&seen, device) == CUPVA_ERROR_NONE);
    *host = (uint8_t *)seen;
    return (uint8_t *)device;
}

static void describe(cupvaDataFlow_t flow, char const *handler, cupvaStaticDataFlowParams_t params)
{
    cupvaParameter_t known = parameter(handler);
    params.handler = &known;
    params.GranularityType = CUPVA_ALL;
    params.tileWidth = SIZE;
    params.tileHeight = params.bpp = 1;
    CHECK(CupvaStaticDataFlowSetParams(flow, &params) == CUPVA_ERROR_NONE);
}

static void run(void)
{
    cupvaCmd_t const *commands[] = {&program};
    cupvaCmdStatus_t status;
    cupvaError_t code;
    CHECK(CupvaStreamSubmit(stream, commands, &status, 1, CUPVA_IN_ORDER, -1, -1) ==
          CUPVA_ERROR_NONE);
    CHECK(CupvaStreamSynchronize(stream) == CUPVA_ERROR_NONE);
    CHECK(CupvaCheckCommandStatus(status, &code) == CUPVA_ERROR_NONE && code == CUPVA_ERROR_NONE);
}

int main(void)
{
    cupvaExecutable_t executable;
    cupvaDataFlow_t first, second, out;
    cupvaOffsetPointer_t source, target;
    cupvaError_t error;
    uint8_t *pixels, *other_pixels, *found;
    uint8_t *image = allocate(&pixels, 2 * SIZE), *other = allocate(&other_pixels, SIZE);
    uint8_t *result = allocate(&found, 2 * SIZE);
    for (int i = 0; i < SIZE; i++) {
        pixels[i] = (uint8_t)i;
        pixels[SIZE + i] = 50;
        other_pixels[i] = (uint8_t)(i * i);
    }
    CHECK(CupvaExecutableCreate(&executable, PVA_EXECUTABLE_DATA(reference),
                                PVA_EXECUTABLE_SIZE(reference)) == CUPVA_ERROR_NONE);
    CHECK(CupvaCmdProgramCreate(&program, executable) == CUPVA_ERROR_NONE);
    CHECK(CupvaStreamCreate(&stream, CUPVA_PVA0, CUPVA_VPU0) == CUPVA_ERROR_NONE);
    int32_t job = 'm';
    cupvaParameter_t known = parameter("job");
    CHECK(CupvaParameterSetValueArray(&known, &job, sizeof job) == CUPVA_ERROR_NONE);

    /* The kernel never runs both inputs at a time, so they can use the same DMA channel. */
    CHECK(CupvaOffsetPointerInit(&source, image, 0) == CUPVA_ERROR_NONE);
    CHECK(CupvaOffsetPointerInit(&target, result, 0) == CUPVA_ERROR_NONE);
    CHECK(CupvaCmdProgramAddDataFlowHead(&program, &first, CUPVA_STATIC_DATAFLOW, 0, 1) ==
          CUPVA_ERROR_NONE);
    error = CupvaCmdProgramAddDataFlowHeadShared(&program, &second, CUPVA_STATIC_DATAFLOW, first);
    CHECK(error == CUPVA_ERROR_NONE);
    CHECK(CupvaCmdProgramAddDataFlowHead(&program, &out, CUPVA_STATIC_DATAFLOW, 0, 1) ==
          CUPVA_ERROR_NONE);
    void *buffer = in_vmem("input");
    describe(first, "input_handler",
             (cupvaStaticDataFlowParams_t){.opSrc = &source, .ptrDst = buffer});
    describe(second, "second_handler",
             (cupvaStaticDataFlowParams_t){.ptrSrc = image + SIZE, .ptrDst = buffer});
    describe(out, "output_handler",
             (cupvaStaticDataFlowParams_t){.ptrSrc = in_vmem("output"), .opDst = &target});
    CHECK(CupvaCmdProgramCompileDataFlows(&program) == CUPVA_ERROR_NONE);
    run();
    for (int i = 0; i < SIZE; i++) {
        CHECK(found[i] == (uint8_t)(i + 50) && found[SIZE + i] == 0);
    }

    /* Other memory to read, another place to write: nothing is compiled again. */
    error = CupvaOffsetPointerSetBase(&source, other);
    CHECK(error == CUPVA_ERROR_NONE);
    error = CupvaOffsetPointerSetOffset(&target, SIZE);
    CHECK(error == CUPVA_ERROR_NONE);
    error = CupvaCmdProgramUpdateDataFlows(&program);
    CHECK(error == CUPVA_ERROR_NONE);
    memset(found, 0, SIZE);
    run();
    for (int i = 0; i < SIZE; i++) {
        CHECK(found[i] == 0 && found[SIZE + i] == (uint8_t)(i * i + 50));
    }
    void *base;
    int64_t offset;
    CHECK(CupvaOffsetPointerGet(&source, &base, &offset) == CUPVA_ERROR_NONE);
    CHECK(base == other && offset == 0);
    CHECK(CupvaOffsetPointerGet(&target, &base, &offset) == CUPVA_ERROR_NONE);
    CHECK(base == result && offset == SIZE);

    /* Where the dataflow would leave its memory is found before it runs. */
    CHECK(CupvaOffsetPointerSetOffset(&target, SIZE + 1) == CUPVA_ERROR_NONE);
    CHECK(CupvaCmdProgramUpdateDataFlows(&program) == CUPVA_INVALID_ARGUMENT);

    CHECK(CupvaStreamDestroy(stream) == CUPVA_ERROR_NONE);
    CHECK(CupvaCmdDestroy(&program) == CUPVA_ERROR_NONE);
    CHECK(CupvaExecutableDestroy(executable) == CUPVA_ERROR_NONE);
    puts("ok");
    return 0;
}
