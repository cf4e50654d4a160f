/* The fences sample in C; see fences_host.cpp. */
#include <cupva_host.h>
#include <cupva_platform.h>

#include <inttypes.h>
#include <stdio.h>

PVA_DECLARE_EXECUTABLE(fences_dev)

#define CHECK(call) \
    do { \
        if ((call) != CUPVA_ERROR_NONE) { \
            char const *why = ""; \
            CupvaGetLastError(&why); \
            fprintf(stderr, "%s\n", why); \
            return 1; \
        } \
    } while (0)

static cupvaError_t create(cupvaCmd_t *program, cupvaExecutable_t executable, int32_t rounds)
{
    cupvaParameter_t parameter;
    cupvaError_t error = CupvaCmdProgramCreate(program, executable);
    if (error == CUPVA_ERROR_NONE)
        error = CupvaCmdProgramGetParameter(program, &parameter, "rounds");
    if (error == CUPVA_ERROR_NONE)
        error = CupvaParameterSetValueArray(&parameter, &rounds, sizeof rounds);
    return error;
}

int main(void)
{
    cupvaExecutable_t executable;
    cupvaCmd_t programs[2], request[2], wait;
    cupvaSyncObj_t sync[2];
    cupvaFence_t fences[2];
    cupvaStream_t streams[2];
    cupvaCmdStatus_t status[3];
    cupvaError_t error;
    uint64_t times[2];
    bool expired = false;

    CHECK(CupvaExecutableCreate(&executable, PVA_EXECUTABLE_DATA(fences_dev),
                                PVA_EXECUTABLE_SIZE(fences_dev)));
    CHECK(create(&programs[0], executable, 5000000));
    CHECK(create(&programs[1], executable, 1));
    for (int i = 0; i < 2; i++) {
        CHECK(CupvaSyncObjCreate(&sync[i], true, CUPVA_SIGNALER_WAITER, CUPVA_SYNC_YIELD));
        CHECK(CupvaFenceInit(&fences[i], sync[i]));
        CHECK(CupvaCmdRequestFencesInit(&request[i], &fences[i], 1));
        CHECK(CupvaStreamCreate(&streams[i], CUPVA_PVA0, i ? CUPVA_VPU1 : CUPVA_VPU0));
    }
    CHECK(CupvaCmdWaitOnFencesInit(&wait, &fences[0], 1));

    cupvaCmd_t const *commands0[] = {&programs[0], &request[0]};
    cupvaCmd_t const *commands1[] = {&wait, &programs[1], &request[1]};
    CHECK(CupvaStreamSubmit(streams[0], commands0, NULL, 2, CUPVA_IN_ORDER, -1, -1));
    CHECK(CupvaStreamSubmit(streams[1], commands1, status, 3, CUPVA_IN_ORDER, -1, -1));
    CHECK(CupvaFenceWait(&fences[1], 10 * 1000 * 1000, &expired));
    CHECK(CupvaCheckCommandStatus(status[1], &error));
    for (int i = 0; i < 2; i++)
        CHECK(CupvaFenceGetTimeStamp(&fences[i], &times[i]));
    if (!expired || error != CUPVA_ERROR_NONE || times[1] < times[0]) {
        fprintf(stderr, "expired %d, status %d, %" PRIu64 " ns and %" PRIu64 " ns\n", expired,
                (int)error, times[0], times[1]);
        return 1;
    }

    for (int i = 0; i < 2; i++) {
        CHECK(CupvaStreamDestroy(streams[i]));
        CHECK(CupvaCmdDestroy(&programs[i]));
        CHECK(CupvaSyncObjDestroy(sync[i]));
    }
    CHECK(CupvaExecutableDestroy(executable));
    puts("fences (C): the second stream went on after the first one");
    return 0;
}
