/* A program without a kernel moves memory of the host: imported, copied by a dataflow, written back. */
#include <cupva_host.h>

#include <stdio.h>
#include <string.h>

static unsigned char from[4096], to[4096];

int main(void)
{
    void *source, *target;
    cupvaCmd_t program;
    cupvaDataFlow_t flow;
    cupvaStream_t stream;
    cupvaCmdStatus_t status[1];
    cupvaError_t code;
    cupvaStaticDataFlowParams_t params;
    for (int i = 0; i < 4096; i++) {
        from[i] = (unsigned char)(i * 3);
    }
    memset(&params, 0, sizeof params);
    if (CupvaMemImportFromHostPtr(&source, from, sizeof from, CUPVA_READ_WRITE) != CUPVA_ERROR_NONE ||
        CupvaMemImportFromHostPtr(&target, to, sizeof to, CUPVA_READ_WRITE) != CUPVA_ERROR_NONE ||
        CupvaCmdProgramCreate(&program, NULL) != CUPVA_ERROR_NONE ||
        CupvaCmdProgramAddDataFlowHead(&program, &flow, CUPVA_STATIC_DATAFLOW, 0, 1) !=
            CUPVA_ERROR_NONE) {
        return 2;
    }
    params.bpp = 1;
    params.tileWidth = 64;
    params.tileHeight = 64;
    params.linePitchSrc = params.linePitchDst = 64;
    params.GranularityType = CUPVA_ALL;
    params.ptrSrc = source;
    params.ptrDst = target;
    if (CupvaStaticDataFlowSetParams(flow, &params) != CUPVA_ERROR_NONE ||
        CupvaCmdProgramCompileDataFlows(&program) != CUPVA_ERROR_NONE ||
        CupvaStreamCreate(&stream, CUPVA_PVA0, CUPVA_VPU_ANY) != CUPVA_ERROR_NONE) {
        return 3;
    }
    cupvaCmd_t const *commands[1] = {&program};
    if (CupvaStreamSubmit(stream, commands, status, 1, CUPVA_IN_ORDER, -1, -1) != CUPVA_ERROR_NONE ||
        CupvaStreamSynchronize(stream) != CUPVA_ERROR_NONE ||
        CupvaCheckCommandStatus(status[0], &code) != CUPVA_ERROR_NONE) {
        return 4;
    }
    printf("status %d, %s\n", (int)code, memcmp(from, to, sizeof to) == 0 ? "equal" : "different");
    return 0;
}
