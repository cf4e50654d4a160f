/* A SequenceDataFlow swaps the halves of a line, a GatherScatterDataFlow collects tiles. */
#include <cupva_host.h>
#include <cupva_platform.h>

#include "check.h"

PVA_DECLARE_EXECUTABLE(reference)

enum { WIDTH = 40, HEIGHT = 30, SIZE = 256, TILE = 8 };

static cupvaStream_t stream;

static cupvaParameter_t parameter(cupvaCmd_t *program, char const *name)
{
    cupvaParameter_t found;
    CHECK(CupvaCmdProgramGetParameter(program, &found, name) == CUPVA_ERROR_NONE);
    return found;
}

static void set(cupvaCmd_t *program, char const *name, void const *value, int64_t size)
{
    cupvaParameter_t known = parameter(program, name);
    CHECK(CupvaParameterSetValueArray(&known, value, size) == CUPVA_ERROR_NONE);
}

static uint8_t *in_vmem(cupvaCmd_t *program, char const *name)
{
    void *pointer;
    cupvaParameter_t known = parameter(program, name);
    CHECK(CupvaParameterGetDevicePointer(&known, &pointer) == CUPVA_ERROR_NONE);
    return (uint8_t *)pointer;
}

/* A program that does one job, adds `summand`, and writes to `target`. */
static cupvaCmd_t create(cupvaExecutable_t executable, int32_t job, int32_t summand, void *target)
{
    cupvaCmd_t program;
    cupvaDataFlow_t out;
    CHECK(CupvaCmdProgramCreate(&program, executable) == CUPVA_ERROR_NONE);
    set(&program, "job", &job, sizeof job);
    set(&program, "summand", &summand, sizeof summand);
    cupvaParameter_t handler = parameter(&program, "output_handler");
    cupvaStaticDataFlowParams_t params = {.handler = &handler, .GranularityType = CUPVA_ALL,
                                          .tileWidth = SIZE, .tileHeight = 1, .bpp = 1,
                                          .ptrSrc = in_vmem(&program, "output"), .ptrDst = target};
    CHECK(CupvaCmdProgramAddDataFlowHead(&program, &out, CUPVA_STATIC_DATAFLOW, 0, 1) ==
          CUPVA_ERROR_NONE);
    CHECK(CupvaStaticDataFlowSetParams(out, &params) == CUPVA_ERROR_NONE);
    return program;
}

static void run(cupvaCmd_t *program)
{
    cupvaCmd_t const *commands[] = {program};
    cupvaCmdStatus_t status;
    cupvaError_t code;
    CHECK(CupvaCmdProgramCompileDataFlows(program) == CUPVA_ERROR_NONE);
    CHECK(CupvaStreamSubmit(stream, commands, &status, 1, CUPVA_IN_ORDER, -1, -1) ==
          CUPVA_ERROR_NONE);
    CHECK(CupvaStreamSynchronize(stream) == CUPVA_ERROR_NONE);
    CHECK(CupvaCheckCommandStatus(status, &code) == CUPVA_ERROR_NONE && code == CUPVA_ERROR_NONE);
    CHECK(CupvaCmdDestroy(program) == CUPVA_ERROR_NONE);
}

/* Two transfers, which run on from one to the other with one trigger. */
static void check_sequence(cupvaExecutable_t executable, uint8_t *image, uint8_t *target,
                           uint8_t const *pixels, uint8_t const *found)
{
    cupvaCmd_t program = create(executable, 's', 3, target);
    cupvaDataFlow_t flow;
    cupvaError_t error;
    CHECK(CupvaCmdProgramAddDataFlowHead(&program, &flow, CUPVA_SEQUENCE_DATAFLOW, 0, 1) ==
          CUPVA_ERROR_NONE);
    cupvaParameter_t handler = parameter(&program, "sequence");
    cupvaSequenceDataFlowParams_t params = {.handler = &handler};
    error = CupvaSequenceDataFlowSetParams(flow, &params);
    CHECK(error == CUPVA_ERROR_NONE);
    for (int half = 0; half < 2; half++) {
        cupvaSequenceDataFlowTransferParams_t transfer = {
            .transferMode = CUPVA_TRANSFER_MODE_CONTINUOUS,
            .tileWidth = SIZE / 2, .tileHeight = 1, .bpp = 1,
            .ptrSrc = image + half * SIZE / 2,
            .ptrDst = in_vmem(&program, "input") + (1 - half) * SIZE / 2,
        };
        error = CupvaSequenceDataFlowAddTransfer(flow, &transfer);
        CHECK(error == CUPVA_ERROR_NONE);
    }
    run(&program);
    for (int i = 0; i < SIZE; i++) {
        CHECK(found[i] == (uint8_t)(pixels[(i + SIZE / 2) % SIZE] + 3));
    }
}

/* Tiles that reach beyond the image: its nearest pixels are repeated there. */
static void check_gather(cupvaExecutable_t executable, uint8_t *image, uint8_t *target,
                         uint8_t const *pixels, uint8_t const *found)
{
    int32_t const columns[4] = {0, -3, 35, 10}, rows[4] = {0, 5, 26, -7};
    cupvaCmd_t program = create(executable, 'g', 0, target);
    cupvaDataFlow_t flow;
    set(&program, "columns", columns, sizeof columns);
    set(&program, "rows", rows, sizeof rows);
    CHECK(CupvaCmdProgramAddDataFlowHead(&program, &flow, CUPVA_GATHER_SCATTER_DATAFLOW, 0, 1) ==
          CUPVA_ERROR_NONE);
    cupvaParameter_t handler = parameter(&program, "gather");
    cupvaGatherScatterDataFlowParams_t params = {
        .handler = &handler, .numTilesPerTrigger = 4, .bufferType = CUPVA_RAW,
        .ptrSrc = image, .bpp = 1, .extWidth = WIDTH, .extHeight = HEIGHT, .extLinePitch = WIDTH,
        .tileWidth = TILE, .tileHeight = TILE, .padMode = CUPVA_PAD_BPE,
    };
    cupvaError_t error = CupvaGatherScatterDataFlowSetParams(flow, &params);
    CHECK(error == CUPVA_ERROR_NONE);
    run(&program);
    for (int i = 0; i < SIZE; i++) {
        int tile = i / (TILE * TILE);
        int x = columns[tile] + i % TILE, y = rows[tile] + i % (TILE * TILE) / TILE;
        x = x < 0 ? 0 : x >= WIDTH ? WIDTH - 1 : x;
        y = y < 0 ? 0 : y >= HEIGHT ? HEIGHT - 1 : y;
        CHECK(found[i] == pixels[y * WIDTH + x]);
    }
}

int main(void)
{
    cupvaExecutable_t executable;
    void *image, *target, *pixels, *found;
    CHECK(CupvaExecutableCreate(&executable, PVA_EXECUTABLE_DATA(reference),
                                PVA_EXECUTABLE_SIZE(reference)) == CUPVA_ERROR_NONE);
    CHECK(CupvaMemAlloc(&image, WIDTH * HEIGHT, CUPVA_READ_WRITE, CUPVA_ALLOC_DRAM) ==
          CUPVA_ERROR_NONE);
    CHECK(CupvaMemAlloc(&target, SIZE, CUPVA_READ_WRITE, CUPVA_ALLOC_DRAM) == CUPVA_ERROR_NONE);
    CHECK(CupvaMemGetHostPointer(&pixels, image) == CUPVA_ERROR_NONE);
    CHECK(CupvaMemGetHostPointer(&found, target) == CUPVA_ERROR_NONE);
    CHECK(CupvaStreamCreate(&stream, CUPVA_PVA0, CUPVA_VPU_ANY) == CUPVA_ERROR_NONE);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        ((uint8_t *)pixels)[i] = (uint8_t)(i * 13 + i / 256);
    }
    check_sequence(executable, image, target, pixels, found);
    check_gather(executable, image, target, pixels, found);
    CHECK(CupvaStreamDestroy(stream) == CUPVA_ERROR_NONE);
    CHECK(CupvaExecutableDestroy(executable) == CUPVA_ERROR_NONE);
    puts("ok");
    return 0;
}
