/* What only the simulator offers: an early start, errors on demand, a trace of what was done. */
#include <cudla.h>
#include <cudla_sim.h>

#include <string.h>
#include <unistd.h>

#include "check.h"

static char text[1 << 20];

int main(void)
{
    char path[] = "/tmp/cudla_simulator_XXXXXX";
    uint64_t engines;
    cudlaDevHandle device = NULL;
    int file = mkstemp(path);
    CHECK(file >= 0);

    /* Before the clock of a measurement runs. */
    simStatus status = simWarmup();
    CHECK(status == simSuccess);

    status = simTraceStart(path);
    CHECK(status == simSuccess);

    /* The second call of the two fails as it would where the driver is missing. */
    status = simInjectFault("cudlaDeviceGetCount@2=cudlaErrorUmd");
    CHECK(status == simSuccess);
    CHECK(cudlaDeviceGetCount(&engines) == cudlaSuccess && engines >= 1);
    CHECK(cudlaDeviceGetCount(&engines) == cudlaErrorUmd);
    CHECK(cudlaDeviceGetCount(&engines) == cudlaSuccess);

    /* A rule that could never fire is refused; NULL removes all. */
    CHECK(simInjectFault("cudlaCreateDevic") == simErrorInvalidParam);
    CHECK(simExplain(text, sizeof text) > 0 && strstr(text, "cudlaCreateDevice") != NULL);
    CHECK(simInjectFault("cudlaCreateDevice=cudlaErrorOutOfResources") == simSuccess);
    CHECK(cudlaCreateDevice(0, &device, CUDLA_STANDALONE) == cudlaErrorOutOfResources);
    CHECK(simInjectFault(NULL) == simSuccess &&
          cudlaCreateDevice(0, &device, CUDLA_STANDALONE) == cudlaSuccess);
    CHECK(cudlaDestroyDevice(device) == cudlaSuccess);

    /* The file is whole when the trace has stopped; what is called later is not in it. */
    status = simTraceStop();
    CHECK(status == simSuccess);
    CHECK(cudlaGetLastError(device) == cudlaErrorInvalidDevice);
    ssize_t length = read(file, text, sizeof text - 1);
    CHECK(length > 0 && length < (ssize_t)sizeof text - 1);
    text[length] = 0;
    CHECK(text[0] == '[' || text[0] == '{');
    CHECK(strstr(text, "\"cudlaDeviceGetCount\"") != NULL);
    CHECK(strstr(text, "\"cudlaDestroyDevice\"") != NULL);
    CHECK(strstr(text, "\"cudlaGetLastError\"") == NULL);
    CHECK(close(file) == 0 && unlink(path) == 0);
    puts("ok");
    return 0;
}
