/* The log of calls that failed, who is told of each, and where a core would go. */
#include <cuda.h>

#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == CUDA_SUCCESS)

static char told[200];

static void tell(void *data, CUlogLevel level, char *message, size_t length)
{
    CHECK(level == CU_LOG_LEVEL_ERROR && strlen(message) == length);
    ++*(int *)data;
    memcpy(told, message, length < sizeof told ? length : sizeof told - 1);
}

static void logs(void)
{
    enum { ROOM = 4096 };
    static char text[ROOM], file[ROOM];
    CUlogIterator at, behind;
    CUlogsCallbackHandle handle;
    CUdevice device;
    size_t size = ROOM;
    int calls = 0;
    CALL(cuLogsCurrent(&at, 0));
    CALL(cuLogsRegisterCallback(tell, &calls, &handle));
    CHECK(cuDeviceGet(&device, 977977) == CUDA_ERROR_INVALID_DEVICE);
    CHECK(calls == 1 && strstr(told, "[CUDA][E][cuDeviceGet] ") && strstr(told, "977977"));
    CHECK(cuMemFree(5) == CUDA_ERROR_INVALID_VALUE && calls == 2);
    CALL(cuLogsUnregisterCallback(handle));
    CHECK(cuLogsUnregisterCallback(handle) == CUDA_ERROR_INVALID_HANDLE && calls == 2);
    behind = at;
    CALL(cuLogsDumpToMemory(&behind, text, &size, 0));
    CHECK(size == strlen(text) && strstr(text, told) != NULL); /* that is the one of cuMemFree */
    CHECK(strstr(text, "cuDeviceGet] ") < strstr(text, "cuMemFree") && behind > at);
    size = ROOM;
    CALL(cuLogsDumpToMemory(&behind, text, &size, 0));
    CHECK(size == 0 && text[0] == 0);
    /* The newest one where there is no room for all, and a word about the others. */
    CHECK(cuDeviceGet(&device, 978978) == CUDA_ERROR_INVALID_DEVICE);
    size = 180;
    CALL(cuLogsDumpToMemory(NULL, text, &size, 0));
    CHECK(size < 180 && text[0] == '(' && strstr(text, "978978") && !strstr(text, "977977"));
    size = 5;
    CHECK(cuLogsDumpToMemory(NULL, text, &size, 0) == CUDA_ERROR_INVALID_VALUE && size == 0);
    CALL(cuLogsDumpToFile(&at, "log.txt", 0));
    FILE *opened = fopen("log.txt", "r");
    CHECK(opened);
    CHECK(fread(file, 1, ROOM - 1, opened) > 0 && strstr(file, "cuDeviceGet") && strstr(file, "978978"));
    fclose(opened);
    CHECK(cuLogsDumpToFile(NULL, "nowhere/log.txt", 0) == CUDA_ERROR_INVALID_VALUE);
    at = 1u << 30;
    CHECK(cuLogsDumpToFile(&at, "log.txt", 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuLogsCurrent(&at, 1) == CUDA_ERROR_INVALID_VALUE);
}

static void cores(void)
{
    char name[1024];
    _Bool on = 1;
    unsigned flags = 5;
    size_t size = 0;
    CALL(cuCoredumpGetAttribute(CU_COREDUMP_FILE, NULL, &size));
    CHECK(size == sizeof name);
    CALL(cuCoredumpGetAttribute(CU_COREDUMP_FILE, name, &size));
    CHECK(strncmp(name, "core.cuda.", 10) == 0 && size == strlen(name) + 1);
    size = sizeof on;
    CALL(cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &on, &size));
    CHECK(on == 0);
    on = 1;
    CALL(cuCoredumpSetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, &on, &size));
    on = 0;
    CALL(cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &on, &size));
    CHECK(on == 1);
    on = 0;
    CALL(cuCoredumpSetAttribute(CU_COREDUMP_LIGHTWEIGHT, &on, &size)); /* of this context alone */
    CALL(cuCoredumpGetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, &on, &size));
    CHECK(on == 1);
    size = 5;
    CALL(cuCoredumpSetAttribute(CU_COREDUMP_PIPE, (void *)"pipe", &size));
    size = 4;
    CHECK(cuCoredumpGetAttribute(CU_COREDUMP_PIPE, name, &size) == CUDA_ERROR_INVALID_VALUE);
    size = sizeof name;
    CALL(cuCoredumpGetAttribute(CU_COREDUMP_PIPE, name, &size));
    CHECK(strcmp(name, "pipe") == 0 && size == 5);
    size = 2;
    CHECK(cuCoredumpSetAttribute(CU_COREDUMP_GENERATION_FLAGS, &flags, &size) == CUDA_ERROR_INVALID_VALUE);
    size = sizeof flags;
    CALL(cuCoredumpSetAttribute(CU_COREDUMP_GENERATION_FLAGS, &flags, &size));
    flags = 0;
    CALL(cuCoredumpGetAttribute(CU_COREDUMP_GENERATION_FLAGS, &flags, &size));
    CHECK(flags == 5);
    size = 0;
    CALL(cuCoredumpSetAttribute(CU_COREDUMP_ENABLE_ON_EXCEPTION, NULL, &size));
    CHECK(size == 1);
    CHECK(cuCoredumpSetAttribute((CUcoredumpSettings)9, &flags, &size) == CUDA_ERROR_INVALID_VALUE);
    size = 0;
    CHECK(cuCoredumpSetAttribute(CU_COREDUMP_FILE, (void *)"x", &size) == CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
    CUcontext context;
    CALL(cuInit(0));
    CALL(cuDevicePrimaryCtxRetain(&context, 0));
    CALL(cuCtxSetCurrent(context));
    logs();
    cores();
    printf("ok\n");
    return 0;
}
