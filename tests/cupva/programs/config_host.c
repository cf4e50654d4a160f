/* A list of four StaticDataFlows whose descriptors a table of the kernel's changes, compared pixel by
   pixel; argv[1]: what is wrong with the table (9: a DynamicDataFlow instead), argv[2]: a seed. */
#include <cupva_host.h>
#include <cupva_platform.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

PVA_DECLARE_EXECUTABLE(config_dev)

#define OK(call) \
    do { \
        cupvaError_t const found_ = (call); \
        if (found_ != CUPVA_ERROR_NONE) { \
            char const *text_ = ""; \
            CupvaGetLastError(&text_); \
            printf("%s: %d %s\n", #call, (int)found_, text_); \
            exit(1); \
        } \
    } while (0)

enum { W = 64, H = 64, SIZE = 4096, LIST = 4, AT, TO, TW, TH, FROM_PITCH, TO_PITCH, TILES, STEP };

static int between(int first, int last)
{
    return first + rand() % (last - first + 1);
}

static void attach(cupvaCmd_t *program, cupvaParameter_t *parameter, char const *name)
{
    OK(CupvaCmdProgramGetParameter(program, parameter, name));
}

int main(int argc, char **argv)
{
    int32_t const mode = argc > 1 ? atoi(argv[1]) : 0;
    srand((unsigned)(argc > 2 ? atoi(argv[2]) : 1));
    void *image, *result, *in_place, *out_place, *pixels, *table;
    OK(CupvaMemAlloc(&image, W * H, CUPVA_READ_WRITE, CUPVA_ALLOC_DRAM));
    OK(CupvaMemAlloc(&result, SIZE, CUPVA_READ_WRITE, CUPVA_ALLOC_DRAM));
    OK(CupvaMemGetHostPointer(&in_place, image));
    OK(CupvaMemGetHostPointer(&out_place, result));
    uint8_t *in = in_place, *out = out_place;
    for (int i = 0; i < W * H; i++)
        in[i] = (uint8_t)rand();

    cupvaExecutable_t executable;
    cupvaCmd_t program;
    cupvaParameter_t parameter, moving, settings, leaving, dynamic;
    OK(CupvaExecutableCreate(&executable, PVA_EXECUTABLE_DATA(config_dev),
                             PVA_EXECUTABLE_SIZE(config_dev)));
    OK(CupvaCmdProgramCreate(&program, executable));
    attach(&program, &parameter, "pixels");
    OK(CupvaParameterGetDevicePointer(&parameter, &pixels));
    attach(&program, &parameter, "table");
    OK(CupvaParameterGetDevicePointer(&parameter, &table));
    attach(&program, &moving, "moving");
    attach(&program, &settings, "settings");
    attach(&program, &leaving, "leaving");
    attach(&program, &dynamic, "dynamic");
    attach(&program, &parameter, "image");
    OK(CupvaParameterSetValuePointer(&parameter, image));
    attach(&program, &parameter, "mode");
    OK(CupvaParameterSetValueArray(&parameter, &mode, sizeof mode));

    if (mode == 9) {
        cupvaDataFlow_t flow;
        cupvaDynamicDataFlowParams_t nodes = {.handler = &dynamic, .nodeCount = 1, .laneCount = 1};
        cupvaNodeParams_t node = {
            .tileWidth = 8, .tileHeight = 4, .bpp = 1, .padMode = CUPVA_PAD_CONST, .padVal = 7,
            .padDir = CUPVA_PAD_LEFT, .padDim = 2, .ptrSrc = image, .linePitchSrc = W,
            .ptrDst = pixels, .linePitchDst = 8,
        };
        OK(CupvaCmdProgramAddDataFlowHead(&program, &flow, CUPVA_DYNAMIC_DATAFLOW, 0, 1.0f));
        OK(CupvaDynamicDataFlowSetParams(flow, &nodes));
        OK(CupvaSetNodeParams(flow, 0, 0, &node));
    } else {
        cupvaDataFlow_t list[LIST], config, last;
        for (int i = 0; i < LIST; i++) {
            cupvaStaticDataFlowParams_t params = {
                .handler = i == 0 ? &moving : NULL, .GranularityType = CUPVA_TILE, .bpp = 1,
                .tileWidth = 1, .tileHeight = 1, .ptrSrc = image, .ptrDst = pixels,
                .niterSrcDim1 = 2, .niterDstDim1 = 2,
            };
            if (i == 0)
                OK(CupvaCmdProgramAddDataFlowHead(&program, &list[0], CUPVA_STATIC_DATAFLOW, 0, 1));
            else
                OK(CupvaCmdProgramAddDataFlow(&program, &list[i], CUPVA_STATIC_DATAFLOW));
            OK(CupvaStaticDataFlowSetParams(list[i], &params));
            if (i != 0)
                OK(CupvaDataFlowLink(list[0], list[i]));
        }
        OK(CupvaCmdProgramAddDataFlowHead(&program, &config, CUPVA_CONFIG_DATAFLOW, 0, 1));
        cupvaConfigDataFlowParams_t told = {.handler = &settings, .vpuConfigTable = table};
        OK(CupvaConfigDataFlowSetParams(config, &told));
        cupvaStaticDataFlowParams_t back = {
            .handler = &leaving, .GranularityType = CUPVA_ALL, .bpp = 1, .tileWidth = SIZE,
            .tileHeight = 1, .ptrSrc = pixels, .ptrDst = result,
        };
        OK(CupvaCmdProgramAddDataFlowHead(&program, &last, CUPVA_STATIC_DATAFLOW, 0, 1));
        OK(CupvaStaticDataFlowSetParams(last, &back));
        OK(CupvaCmdProgramCompileDataFlows(&program));
        int32_t ids[LIST];
        for (int i = 0; i < LIST; i++)
            OK(CupvaDataFlowGetId(list[i], &ids[i]));
        attach(&program, &parameter, "ids");
        OK(CupvaParameterSetValueArray(&parameter, ids, sizeof ids));
    }
    OK(CupvaCmdProgramCompileDataFlows(&program));

    int32_t values[LIST][8];
    uint8_t expected[SIZE] = {0};
    for (int i = 0; i < LIST; i++) {
        int const w = between(1, 9), h = between(1, 6), x = between(20, W - 20), y = between(0, 40);
        int const pitch = between(w, 10), tiles = between(1, 4), step = between(-5, 5);
        int const chosen[8] = {y * W + x, 1024 * i, w, h, W, pitch, tiles, step};
        for (int k = 0; k < 8; k++)
            values[i][k] = chosen[k];
        for (int t = 0; t < tiles; t++)
            for (int r = 0; r < h; r++)
                for (int c = 0; c < w; c++)
                    expected[1024 * i + 64 * t + r * pitch + c] = in[(y + r) * W + x + c + t * step];
    }
    attach(&program, &parameter, "values");
    OK(CupvaParameterSetValueArray(&parameter, values, sizeof values));

    cupvaStream_t stream;
    cupvaCmdStatus_t status;
    cupvaError_t code;
    cupvaCmd_t const *commands[] = {&program};
    OK(CupvaStreamCreate(&stream, CUPVA_PVA0, CUPVA_VPU_ANY));
    OK(CupvaStreamSubmit(stream, commands, &status, 1, CUPVA_IN_ORDER, -1, -1));
    OK(CupvaStreamSynchronize(stream));
    OK(CupvaCheckCommandStatus(status, &code));
    printf("status %d", (int)code);
    if (mode == 0)
        printf(", %s", memcmp(expected, out, SIZE) == 0 ? "equal" : "different");
    printf("\n");
    return 0;
}
