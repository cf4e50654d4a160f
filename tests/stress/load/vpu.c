/* Submits a VPU program N times and waits for each: `vpu N`. It fails, as it should, for one in a
 * thousand. */
#include <cupva_host.h>
#include <cupva_platform.h>

#include "figures.h"

PVA_DECLARE_EXECUTABLE(rarely_dev)

int main(int count, char **words)
{
    if (count != 2)
        return 2;
    long submissions = atol(words[1]);
    cupvaExecutable_t executable;
    cupvaCmd_t program, request;
    cupvaParameter_t parameter;
    cupvaSyncObj_t sync;
    cupvaFence_t fence;
    cupvaStream_t stream;
    CHECK(CupvaExecutableCreate(&executable, PVA_EXECUTABLE_DATA(rarely_dev),
                                PVA_EXECUTABLE_SIZE(rarely_dev)));
    CHECK(CupvaCmdProgramCreate(&program, executable));
    CHECK(CupvaCmdProgramGetParameter(&program, &parameter, "given"));
    CHECK(CupvaSyncObjCreate(&sync, true, CUPVA_SIGNALER_WAITER, CUPVA_SYNC_YIELD));
    CHECK(CupvaStreamCreate(&stream, CUPVA_PVA0, CUPVA_VPU0));
    double begin = load_now();
    for (long i = 0; i < submissions; i++) {
        int32_t given = (int32_t)(i % 40000);
        bool expired = false;
        cupvaCmdStatus_t status[2];
        CHECK(CupvaParameterSetValueArray(&parameter, &given, sizeof given));
        CHECK(CupvaFenceInit(&fence, sync));
        CHECK(CupvaCmdRequestFencesInit(&request, &fence, 1));
        cupvaCmd_t const *commands[] = {&program, &request};
        CHECK(CupvaStreamSubmit(stream, commands, status, 2, CUPVA_IN_ORDER, -1, -1));
        CHECK(CupvaFenceWait(&fence, -1, &expired));
        cupvaError_t found = CUPVA_ERROR_NONE;
        CHECK(CupvaCheckCommandStatus(status[0], &found));
        if (found != (given % 1000 == 999 ? CUPVA_VPU_APPLICATION_ERROR : CUPVA_ERROR_NONE)) {
            fprintf(stderr, "submission %ld ended with %d\n", i, (int)found);
            return 1;
        }
        CHECK(CupvaCmdDestroy(&request));
        if (i == submissions / 10)
            load_figures("early", begin);
    }
    load_figures("end", begin);
    return 0;
}
