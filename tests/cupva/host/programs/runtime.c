#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
/* The C functions: the twins of what the C++ cases do. CASE(name) { ...; return 0; } */
#include <cupva_host.h>
#include <cupva_host_nonsafety.h>
#include <cupva_platform.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

PVA_DECLARE_EXECUTABLE(subject)

#define CASE(name) static int case_##name(void)

#define EXPECT(condition) \
    do { \
        if (!(condition)) { \
            snprintf(wrong, sizeof wrong, "line %d: %s", __LINE__, #condition); \
            return 1; \
        } \
    } while (0)

/* The call must give this status, with the words in the last error's explanation. */
#define REFUSED(status, words, call) \
    do { \
        char const *text_ = ""; \
        cupvaError_t const found_ = (call); \
        CupvaGetLastError(&text_); \
        if (found_ != (status) || strstr(text_, words) == NULL) { \
            snprintf(wrong, sizeof wrong, "line %d: %s: %d %s", __LINE__, #call, (int)found_, \
                     text_); \
            return 1; \
        } \
    } while (0)

#define OK(call) REFUSED(CUPVA_ERROR_NONE, "", call)

static char wrong[1000];
static cupvaExecutable_t executable;

static cupvaError_t program_of(cupvaCmd_t *program)
{
    cupvaError_t error = CUPVA_ERROR_NONE;
    if (executable == NULL)
        error = CupvaExecutableCreate(&executable, PVA_EXECUTABLE_DATA(subject),
                                      PVA_EXECUTABLE_SIZE(subject));
    return error != CUPVA_ERROR_NONE ? error : CupvaCmdProgramCreate(program, executable);
}

static cupvaError_t set(cupvaCmd_t *program, char const *name, int32_t value)
{
    cupvaParameter_t parameter;
    cupvaError_t error = CupvaCmdProgramGetParameter(program, &parameter, name);
    return error != CUPVA_ERROR_NONE
               ? error
               : CupvaParameterSetValueArray(&parameter, &value, sizeof value);
}

static cupvaError_t pointer_to(cupvaCmd_t *program, char const *name, void **pointer)
{
    cupvaParameter_t parameter;
    cupvaError_t error = CupvaCmdProgramGetParameter(program, &parameter, name);
    return error != CUPVA_ERROR_NONE ? error : CupvaParameterGetDevicePointer(&parameter, pointer);
}

/* Submits, waits; the status of the first command. */
static cupvaError_t outcome(cupvaCmd_t const *const *cmds, int32_t count, cupvaError_t *status)
{
    cupvaStream_t stream;
    cupvaCmdStatus_t places[8];
    cupvaError_t error = CupvaStreamCreate(&stream, CUPVA_PVA0, CUPVA_VPU_ANY);
    if (error == CUPVA_ERROR_NONE)
        error = CupvaStreamSubmit(stream, cmds, places, count, CUPVA_IN_ORDER, -1, -1);
    if (error == CUPVA_ERROR_NONE)
        error = CupvaStreamSynchronize(stream);
    if (error == CUPVA_ERROR_NONE)
        error = CupvaCheckCommandStatus(places[0], status);
    return error != CUPVA_ERROR_NONE ? error : CupvaStreamDestroy(stream);
}

CASE(memory)
{
    void *device = NULL, *host = NULL;
    int local = 0;
    cupvaPointerAttributes_t attributes;
    OK(CupvaMemAlloc(&device, 100, CUPVA_READ_WRITE, CUPVA_ALLOC_DRAM));
    OK(CupvaMemGetHostPointer(&host, device));
    OK(CupvaMemGetPointerAttributes((char *)device + 9, &attributes));
    EXPECT(attributes.devicePtr == device && attributes.hostPtr == (char *)host + 9);
    EXPECT(attributes.memType == CUPVA_MEM_DRAM && attributes.bufferType == CUPVA_RAW);
    REFUSED(CUPVA_INVALID_ARGUMENT, "NULL",
            CupvaMemAlloc(NULL, 1, CUPVA_READ_WRITE, CUPVA_ALLOC_DRAM));
    REFUSED(CUPVA_INVALID_ARGUMENT, "size",
            CupvaMemAlloc(&device, -5, CUPVA_READ_WRITE, CUPVA_ALLOC_DRAM));
    REFUSED(CUPVA_INVALID_ARGUMENT, "access",
            CupvaMemAlloc(&device, 1, CUPVA_READ, CUPVA_ALLOC_DRAM));
    REFUSED(CUPVA_INVALID_ARGUMENT, "NULL", CupvaMemGetHostPointer(NULL, device));
    REFUSED(CUPVA_INVALID_ARGUMENT, "", CupvaMemGetHostPointer(&host, &local));
    REFUSED(CUPVA_INVALID_ARGUMENT, "NULL", CupvaMemGetPointerAttributes(device, NULL));
    OK(CupvaMemFree(device));
    REFUSED(CUPVA_INVALID_ARGUMENT, "live allocation", CupvaMemFree(device));
    OK(CupvaMemFree(NULL));
    return 0;
}

CASE(memory_of_the_host)
{
    char local[32];
    void *device, *host;
    OK(CupvaSetVPUPrintBufferSize(64 * 1024));
    OK(CupvaImportFromHostPtr(&device, local, sizeof local, CUPVA_READ_WRITE));
    OK(CupvaMemGetHostPointer(&host, device));
    EXPECT(host == local);
    OK(CupvaMemFree(device));
    REFUSED(CUPVA_INVALID_ARGUMENT, "not memory",
            CupvaImportFromHostPtr(&device, NULL, 4, CUPVA_READ_WRITE));
    REFUSED(CUPVA_INVALID_ARGUMENT, "access",
            CupvaImportFromHostPtr(&device, local, 4, CUPVA_ACCESS_TYPE_INVALID));
    return 0;
}

CASE(results_need_a_place)
{
    cupvaCmd_t cmd;
    EXPECT(CupvaContextGetCurrent(NULL) == CUPVA_INVALID_ARGUMENT);
    EXPECT(CupvaContextCreate(NULL, CUPVA_ENGINE_MASK_ALL) == CUPVA_INVALID_ARGUMENT);
    EXPECT(CupvaGetHardwareInfo(NULL) == CUPVA_INVALID_ARGUMENT);
    EXPECT(CupvaGetDriverVersion(NULL) == CUPVA_INVALID_ARGUMENT);
    EXPECT(CupvaGetRuntimeVersion(NULL) == CUPVA_INVALID_ARGUMENT);
    EXPECT(CupvaGetLastError(NULL) == CUPVA_INVALID_ARGUMENT);
    EXPECT(CupvaGetStatus(NULL) == CUPVA_INVALID_ARGUMENT);
    EXPECT(CupvaStreamCreate(NULL, CUPVA_PVA0, CUPVA_VPU0) == CUPVA_INVALID_ARGUMENT);
    EXPECT(CupvaSyncObjCreate(NULL, false, CUPVA_SIGNALER, CUPVA_SYNC_YIELD)
           == CUPVA_INVALID_ARGUMENT);
    EXPECT(CupvaExecutableCreate(NULL, PVA_EXECUTABLE_DATA(subject), PVA_EXECUTABLE_SIZE(subject))
           == CUPVA_INVALID_ARGUMENT);
    EXPECT(CupvaCmdProgramCreate(NULL, NULL) == CUPVA_INVALID_ARGUMENT);
    EXPECT(CupvaCmdBarrierInit(NULL) == CUPVA_INVALID_ARGUMENT);
    EXPECT(CupvaCmdBufferCreate(NULL, NULL, 1, NULL, CUPVA_IN_ORDER) == CUPVA_INVALID_ARGUMENT);
    EXPECT(CupvaFenceInit(NULL, NULL) == CUPVA_INVALID_ARGUMENT);
    EXPECT(CupvaMemGetL2BaseAddress(NULL) == CUPVA_INVALID_ARGUMENT);
    EXPECT(CupvaGetPFSDTestCount(NULL) == CUPVA_INVALID_ARGUMENT);
    EXPECT(CupvaCheckCommandStatus(NULL, NULL) == CUPVA_INVALID_ARGUMENT);
    OK(program_of(&cmd));
    EXPECT(CupvaCmdProgramGetParameter(&cmd, NULL, "tile") == CUPVA_INVALID_ARGUMENT);
    EXPECT(CupvaCmdProgramAddDataFlow(&cmd, NULL, CUPVA_STATIC_DATAFLOW) == CUPVA_INVALID_ARGUMENT);
    OK(CupvaCmdDestroy(&cmd));
    OK(CupvaCmdDestroy(&cmd));
    return 0;
}

CASE(objects_that_were_never_made)
{
    cupvaCmd_t zero, *none = NULL;
    cupvaParameter_t parameter;
    cupvaFence_t fence;
    bool reached;
    uint64_t time;
    int64_t offset;
    void *pointer;
    cupvaOffsetPointer_t place;
    memset(&zero, 0, sizeof zero);
    memset(&parameter, 0, sizeof parameter);
    memset(&fence, 0, sizeof fence);
    memset(&place, 0, sizeof place);
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "", CupvaCmdProgramCompileDataFlows(&zero));
    REFUSED(CUPVA_INVALID_ARGUMENT, "NULL", CupvaCmdProgramCompileDataFlows(none));
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "", CupvaCmdProgramSetL2Size(&zero, 0));
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "", CupvaParameterSetValueArray(&parameter, &time, 4));
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "", CupvaParameterGetDevicePointer(&parameter, &pointer));
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "", CupvaFenceWait(&fence, 0, &reached));
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "", CupvaFenceGetTimeStamp(&fence, &time));
    REFUSED(CUPVA_INVALID_ARGUMENT, "NULL", CupvaFenceWait(NULL, 0, &reached));
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "", CupvaCmdRequestFencesInit(&zero, &fence, 1));
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "", CupvaStreamSynchronize(NULL));
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "", CupvaOffsetPointerGet(&place, &pointer, &offset));
    REFUSED(CUPVA_INVALID_STATE, "", CupvaDataFlowGetId(NULL, (int32_t *)&offset));
    return 0;
}

CASE(objects_that_are_gone)
{
    cupvaStream_t stream;
    cupvaSyncObj_t sync;
    cupvaCmd_t program, copy;
    cupvaFence_t fence;
    OK(CupvaStreamCreate(&stream, CUPVA_PVA0, CUPVA_VPU0));
    OK(CupvaStreamDestroy(stream));
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "", CupvaStreamSynchronize(stream));
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "", CupvaStreamDestroy(stream));
    OK(CupvaSyncObjCreate(&sync, false, CUPVA_SIGNALER_WAITER, CUPVA_SYNC_SPIN));
    OK(CupvaSyncObjDestroy(sync));
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "", CupvaFenceInit(&fence, sync));
    OK(program_of(&program));
    copy = program;
    OK(CupvaCmdDestroy(&program));
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "", CupvaCmdProgramCompileDataFlows(&copy));
    return 0;
}

CASE(parameters_and_status)
{
    cupvaCmd_t program;
    cupvaParameter_t parameter;
    cupvaError_t status;
    cupvaCmd_t const *cmds[] = {&program};
    OK(program_of(&program));
    REFUSED(CUPVA_INVALID_ARGUMENT, "no symbol",
            CupvaCmdProgramGetParameter(&program, &parameter, "nothing"));
    REFUSED(CUPVA_INVALID_ARGUMENT, "NULL",
            CupvaCmdProgramGetParameter(&program, &parameter, NULL));
    OK(set(&program, "answer", 9));
    OK(outcome(cmds, 1, &status));
    EXPECT(status == CUPVA_VPU_APPLICATION_ERROR);
    OK(set(&program, "answer", 0));
    OK(outcome(cmds, 1, &status));
    EXPECT(status == CUPVA_ERROR_NONE);
    OK(CupvaCmdProgramGetParameter(&program, &parameter, "answer"));
    REFUSED(CUPVA_INVALID_ARGUMENT, "which has 4",
            CupvaParameterSetValueArray(&parameter, "too long", 8));
    REFUSED(CUPVA_INVALID_ARGUMENT, "not memory",
            CupvaParameterSetValueArray(&parameter, (void *)16, 4));
    OK(CupvaCmdDestroy(&program));
    return 0;
}

CASE(submissions)
{
    cupvaStream_t stream;
    cupvaCmd_t barrier;
    cupvaCmd_t const *cmds[257];
    cupvaCmdStatus_t status[256];
    cupvaError_t found;
    OK(CupvaStreamCreate(&stream, CUPVA_PVA0, CUPVA_VPU_ANY));
    OK(CupvaCmdBarrierInit(&barrier));
    for (int i = 0; i < 257; i++)
        cmds[i] = &barrier;
    REFUSED(CUPVA_INVALID_ARGUMENT, "257 commands",
            CupvaStreamSubmit(stream, cmds, NULL, 257, CUPVA_IN_ORDER, -1, -1));
    REFUSED(CUPVA_INVALID_ARGUMENT, "0 commands",
            CupvaStreamSubmit(stream, cmds, NULL, 0, CUPVA_IN_ORDER, -1, -1));
    REFUSED(CUPVA_INVALID_ARGUMENT, "",
            CupvaStreamSubmit(stream, NULL, NULL, 1, CUPVA_IN_ORDER, -1, -1));
    REFUSED(CUPVA_INVALID_ARGUMENT, "order",
            CupvaStreamSubmit(stream, cmds, NULL, 1, CUPVA_ORDER_TYPE_INVALID, -1, -1));
    OK(CupvaStreamSubmit(stream, cmds, status, 256, CUPVA_OUT_OF_ORDER, -1, -1));
    OK(CupvaStreamSubmit(stream, cmds, NULL, 1, CUPVA_IN_ORDER, -1, -1));
    OK(CupvaStreamSynchronize(stream));
    OK(CupvaCheckCommandStatus(status[255], &found));
    EXPECT(found == CUPVA_ERROR_NONE);
    cmds[1] = NULL;
    REFUSED(CUPVA_INVALID_ARGUMENT, "cmds[1] is NULL",
            CupvaStreamSubmit(stream, cmds, NULL, 2, CUPVA_IN_ORDER, -1, -1));
    OK(CupvaStreamSetName(stream, "name"));
    OK(CupvaStreamDestroy(stream));
    return 0;
}

/* The status of a submission that was given these places, and of a stream that has nothing more to do. */
static cupvaError_t ended_with(cupvaStream_t stream, cupvaCmdStatus_t const *places)
{
    cupvaError_t status = CUPVA_INTERNAL_ERROR;
    CupvaStreamSynchronize(stream);
    CupvaCheckCommandStatus(places[0], &status);
    return status;
}

CASE(submissions_that_come_again)
{
    cupvaCmd_t program, request;
    cupvaSyncObj_t sync, other;
    cupvaFence_t fences[2];
    cupvaStream_t stream;
    cupvaCmdStatus_t places[2];
    cupvaCmd_t const *cmds[] = {&program, &request};
    bool reached = false;
    OK(program_of(&program));
    OK(CupvaSyncObjCreate(&sync, false, CUPVA_SIGNALER_WAITER, CUPVA_SYNC_YIELD));
    OK(CupvaSyncObjCreate(&other, false, CUPVA_SIGNALER_WAITER, CUPVA_SYNC_YIELD));
    OK(CupvaFenceInit(&fences[0], sync));
    OK(CupvaFenceInit(&fences[1], other));
    OK(CupvaCmdRequestFencesInit(&request, &fences[0], 1));
    OK(CupvaStreamCreate(&stream, CUPVA_PVA0, CUPVA_VPU0));
    for (int i = 0; i < 12; i++) { /* each has the parameters of its moment */
        int fails = i % 3 == 2;
        OK(set(&program, "answer", fails ? 7 : 0));
        OK(CupvaStreamSubmit(stream, cmds, i % 2 ? places : NULL, 2, CUPVA_IN_ORDER, -1, -1));
        OK(CupvaFenceWait(&fences[0], -1, &reached));
        EXPECT(reached);
        if (i % 2)
            EXPECT(ended_with(stream, places) == (fails ? CUPVA_VPU_APPLICATION_ERROR : CUPVA_ERROR_NONE));
    }
    OK(set(&program, "answer", 0));
    for (int i = 0; i < 50; i++) /* many in flight */
        OK(CupvaStreamSubmit(stream, cmds, places, 2, CUPVA_OUT_OF_ORDER, -1, -1));
    OK(CupvaFenceWait(&fences[0], -1, &reached));
    EXPECT(ended_with(stream, places) == CUPVA_ERROR_NONE);

    REFUSED(CUPVA_INVALID_ARGUMENT, "order",
            CupvaStreamSubmit(stream, cmds, NULL, 2, CUPVA_ORDER_TYPE_INVALID, -1, -1));
    REFUSED(CUPVA_INVALID_ARGUMENT, "not memory",
            CupvaStreamSubmit(stream, cmds, (cupvaCmdStatus_t *)16, 2, CUPVA_IN_ORDER, -1, -1));

    /* The same memory says something else. */
    REFUSED(CUPVA_INVALID_STATE, "never submitted", CupvaFenceWait(&fences[1], 0, &reached));
    OK(CupvaCmdRequestFencesInit(&request, &fences[1], 1));
    OK(CupvaStreamSubmit(stream, cmds, NULL, 2, CUPVA_IN_ORDER, -1, -1));
    OK(CupvaFenceWait(&fences[1], -1, &reached));
    OK(CupvaFenceInit(&fences[1], sync));
    OK(CupvaStreamSubmit(stream, cmds, NULL, 2, CUPVA_IN_ORDER, -1, -1));
    OK(CupvaFenceWait(&fences[1], -1, &reached));
    OK(CupvaStreamSynchronize(stream));
    OK(CupvaCmdDestroy(&program));
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "",
            CupvaStreamSubmit(stream, cmds, NULL, 2, CUPVA_IN_ORDER, -1, -1));
    OK(program_of(&program));
    OK(set(&program, "answer", 3));
    OK(CupvaStreamSubmit(stream, cmds, places, 2, CUPVA_IN_ORDER, -1, -1));
    EXPECT(ended_with(stream, places) == CUPVA_VPU_APPLICATION_ERROR);
    request.data[2] ^= 1;
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "",
            CupvaStreamSubmit(stream, cmds, NULL, 2, CUPVA_IN_ORDER, -1, -1));
    request.data[2] ^= 1;
    OK(CupvaSyncObjDestroy(sync)); /* its fences stay good */
    OK(CupvaStreamSubmit(stream, cmds, NULL, 2, CUPVA_IN_ORDER, -1, -1));
    OK(CupvaFenceWait(&fences[1], -1, &reached));
    EXPECT(reached);
    OK(CupvaStreamDestroy(stream));
    OK(CupvaCmdDestroy(&program));
    OK(CupvaSyncObjDestroy(other));
    return 0;
}

CASE(buffers_of_commands)
{
    cupvaStream_t stream;
    cupvaCmdBuffer_t buffer;
    cupvaCmd_t program;
    cupvaCmd_t const *cmds[] = {&program};
    cupvaCmdStatus_t status[1];
    cupvaError_t found;
    OK(program_of(&program));
    OK(CupvaStreamCreate(&stream, CUPVA_PVA0, CUPVA_VPU1));
    OK(CupvaCmdBufferCreate(&buffer, cmds, 1, status, CUPVA_IN_ORDER));
    for (int i = 0; i < 3; i++) {
        OK(CupvaStreamSubmitCmdBuffer(stream, buffer, -1, -1));
        OK(CupvaStreamSynchronize(stream));
        OK(CupvaCheckCommandStatus(status[0], &found));
        EXPECT(found == CUPVA_ERROR_NONE);
    }
    OK(CupvaCmdBufferDestroy(buffer));
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "", CupvaStreamSubmitCmdBuffer(stream, buffer, -1, -1));
    OK(CupvaStreamDestroy(stream));
    OK(CupvaCmdDestroy(&program));
    return 0;
}

CASE(fences)
{
    cupvaSyncObj_t sync;
    cupvaFence_t fences[9];
    cupvaCmd_t request, wait;
    cupvaStream_t stream;
    bool reached = false;
    uint64_t times[2];
    OK(CupvaSyncObjCreate(&sync, true, CUPVA_SIGNALER_WAITER, CUPVA_SYNC_YIELD));
    for (int i = 0; i < 9; i++)
        OK(CupvaFenceInit(&fences[i], sync));
    REFUSED(CUPVA_INVALID_STATE, "never submitted", CupvaFenceWait(&fences[0], 0, &reached));
    REFUSED(CUPVA_INVALID_ARGUMENT, "1 to 4", CupvaCmdRequestFencesInit(&request, fences, 5));
    REFUSED(CUPVA_INVALID_ARGUMENT, "1 to 8", CupvaCmdWaitOnFencesInit(&wait, fences, 9));
    OK(CupvaCmdRequestFencesInit(&request, fences, 2));
    OK(CupvaCmdWaitOnFencesInit(&wait, fences, 2));
    cupvaCmd_t const *cmds[] = {&request, &wait};
    OK(CupvaStreamCreate(&stream, CUPVA_PVA0, CUPVA_VPU0));
    OK(CupvaStreamSubmit(stream, cmds, NULL, 2, CUPVA_IN_ORDER, -1, -1));
    OK(CupvaFenceWait(&fences[1], -1, &reached));
    EXPECT(reached);
    OK(CupvaFenceGetTimeStamp(&fences[0], &times[0]));
    OK(CupvaFenceGetTimeStamp(&fences[1], &times[1]));
    EXPECT(times[0] && times[0] <= times[1]);
    OK(CupvaStreamDestroy(stream));
    OK(CupvaSyncObjDestroy(sync));
    OK(CupvaFenceWait(&fences[0], -1, NULL)); /* outlives its object */
    return 0;
}

CASE(fences_whose_memory_is_gone)
{
    cupvaSyncObj_t sync;
    cupvaCmd_t request, program;
    cupvaStream_t stream;
    cupvaCmd_t const *cmds[] = {&request};
    cupvaCmd_t const *both[] = {&program, &request};
    size_t const page = (size_t)sysconf(_SC_PAGESIZE);
    cupvaFence_t *fence =
        mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(fence != MAP_FAILED);
    OK(CupvaSyncObjCreate(&sync, false, CUPVA_SIGNALER_WAITER, CUPVA_SYNC_YIELD));
    OK(CupvaFenceInit(fence, sync));
    OK(CupvaCmdRequestFencesInit(&request, fence, 1));
    OK(CupvaStreamCreate(&stream, CUPVA_PVA0, CUPVA_VPU0));
    OK(program_of(&program));
    for (int i = 0; i < 3; i++)
        OK(CupvaStreamSubmit(stream, both, NULL, 2, CUPVA_IN_ORDER, -1, -1));
    OK(CupvaStreamSynchronize(stream));
    munmap(fence, page);
    REFUSED(CUPVA_INVALID_ARGUMENT, "no longer memory",
            CupvaStreamSubmit(stream, both, NULL, 2, CUPVA_IN_ORDER, -1, -1));
    OK(CupvaCmdDestroy(&program));
    REFUSED(CUPVA_INVALID_ARGUMENT, "no longer memory",
            CupvaStreamSubmit(stream, cmds, NULL, 1, CUPVA_IN_ORDER, -1, -1));
    OK(CupvaStreamDestroy(stream));
    OK(CupvaSyncObjDestroy(sync));
    return 0;
}

CASE(the_last_error_has_a_code_and_a_text)
{
    char const *text = "";
    void *memory;
    REFUSED(CUPVA_INVALID_ARGUMENT, "size", CupvaMemAlloc(&memory, 0, CUPVA_READ_WRITE,
                                                          CUPVA_ALLOC_DRAM));
    EXPECT(CupvaGetLastError(&text) == CUPVA_INVALID_ARGUMENT);
    EXPECT(strstr(text, "size is 0") != NULL);
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "", CupvaStreamSynchronize(NULL));
    EXPECT(CupvaGetLastError(&text) == CUPVA_UNINITIALIZED_OBJECT);
    OK(CupvaMemAlloc(&memory, 8, CUPVA_READ_WRITE, CUPVA_ALLOC_DRAM));
    EXPECT(CupvaGetLastError(&text) == CUPVA_UNINITIALIZED_OBJECT);
    OK(CupvaMemFree(memory));
    return 0;
}

CASE(a_submission_that_is_refused_touches_nothing)
{
    cupvaStream_t stream;
    cupvaSyncObj_t sync;
    cupvaFence_t fences[2];
    cupvaCmd_t stuck, barrier, request, waiting;
    cupvaCmd_t const *cmds[] = {&request, &waiting};
    cupvaCmd_t const *first[] = {&stuck}, *more[] = {&barrier};
    cupvaCmdStatus_t const never = (cupvaCmdStatus_t)(uintptr_t)77;
    cupvaCmdStatus_t status[2] = {never, never};
    cupvaError_t error = CUPVA_ERROR_NONE;
    OK(CupvaStreamCreate(&stream, CUPVA_PVA0, CUPVA_VPU0));
    OK(CupvaSyncObjCreate(&sync, false, CUPVA_SIGNALER_WAITER, CUPVA_SYNC_YIELD));
    OK(CupvaFenceInit(&fences[0], sync));
    OK(CupvaFenceInit(&fences[1], sync));
    OK(CupvaCmdRequestFencesInit(&request, &fences[0], 1));
    OK(CupvaCmdWaitOnFencesInit(&waiting, &fences[1], 1));
    OK(CupvaCmdBarrierInit(&barrier));
    /* A wait for what nobody requested: the request in front of it must not stay pending. */
    REFUSED(CUPVA_INVALID_STATE, "never submitted",
            CupvaStreamSubmit(stream, cmds, status, 2, CUPVA_IN_ORDER, -1, -1));
    REFUSED(CUPVA_INVALID_STATE, "never submitted", CupvaFenceWait(&fences[0], 0, NULL));
    EXPECT(status[0] == never && status[1] == never);
    /* No room in time: likewise. */
    OK(program_of(&stuck));
    OK(set(&stuck, "hangs", 1));
    OK(CupvaStreamSubmit(stream, first, NULL, 1, CUPVA_IN_ORDER, 500 * 1000, -1));
    for (int i = 0; i < 2000 && error == CUPVA_ERROR_NONE; i++)
        error = CupvaStreamSubmit(stream, more, NULL, 1, CUPVA_IN_ORDER, -1, 0);
    EXPECT(error == CUPVA_COMMAND_SUBMISSION_TIMEOUT);
    REFUSED(CUPVA_COMMAND_SUBMISSION_TIMEOUT, "none ended",
            CupvaStreamSubmit(stream, cmds, status, 1, CUPVA_IN_ORDER, -1, 0));
    REFUSED(CUPVA_INVALID_STATE, "never submitted", CupvaFenceWait(&fences[0], 0, NULL));
    EXPECT(status[0] == never);
    /* The next request is the first one. */
    bool reached = false;
    OK(CupvaStreamSubmit(stream, cmds, status, 1, CUPVA_IN_ORDER, -1, -1));
    OK(CupvaFenceWait(&fences[0], -1, &reached));
    EXPECT(reached);
    OK(CupvaStreamSynchronize(stream));
    OK(CupvaStreamDestroy(stream));
    OK(CupvaCmdDestroy(&stuck));
    OK(CupvaSyncObjDestroy(sync));
    return 0;
}

CASE(commands_that_are_values)
{
    cupvaCmd_t barrier, copy, never = {{0, 0, 0}}, garbage;
    cupvaStream_t stream;
    OK(CupvaStreamCreate(&stream, CUPVA_PVA0, CUPVA_VPU0));
    OK(CupvaCmdBarrierInit(&barrier));
    copy = barrier;
    for (int i = 0; i < 20000; i++) {
        cupvaCmd_t another;
        OK(CupvaCmdBarrierInit(&another));
    }
    cupvaCmd_t const *cmds[] = {&barrier, &copy};
    OK(CupvaStreamSubmit(stream, cmds, NULL, 2, CUPVA_IN_ORDER, -1, -1));
    OK(CupvaCmdDestroy(&copy));
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "cmds[1]",
            CupvaStreamSubmit(stream, cmds, NULL, 2, CUPVA_IN_ORDER, -1, -1));
    memset(&garbage, 0xa5, sizeof garbage);
    cmds[1] = &garbage;
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "cmds[1]",
            CupvaStreamSubmit(stream, cmds, NULL, 2, CUPVA_IN_ORDER, -1, -1));
    garbage = barrier;
    garbage.data[1] ^= 16;
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "cmds[1]",
            CupvaStreamSubmit(stream, cmds, NULL, 2, CUPVA_IN_ORDER, -1, -1));
    cmds[1] = &never;
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "cmds[1]",
            CupvaStreamSubmit(stream, cmds, NULL, 2, CUPVA_IN_ORDER, -1, -1));
    OK(CupvaStreamDestroy(stream));
    return 0;
}

CASE(what_belongs_to_a_program_ends_with_it)
{
    cupvaCmd_t program;
    cupvaDataFlow_t flow;
    cupvaParameter_t parameter;
    int32_t value = 1, id = 0;
    OK(program_of(&program));
    OK(CupvaCmdProgramAddDataFlowHead(&program, &flow, CUPVA_STATIC_DATAFLOW, 0, 1.0f));
    OK(CupvaCmdProgramGetParameter(&program, &parameter, "answer"));
    OK(CupvaCmdDestroy(&program));
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "CupvaCmdDestroy",
            CupvaParameterSetValueArray(&parameter, &value, sizeof value));
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "CupvaCmdDestroy", CupvaDataFlowGetId(flow, &id));
    return 0;
}

CASE(copies)
{
    void *from, *to, *from_host, *to_host;
    cupvaCmd_t copy;
    cupvaError_t status;
    cupvaOffsetPointer_t place;
    cupvaCmdMemcpyBufferParams_t params;
    cupvaCmd_t const *cmds[] = {&copy};
    memset(&params, 0, sizeof params);
    OK(CupvaMemAlloc(&from, 64, CUPVA_READ_WRITE, CUPVA_ALLOC_DRAM));
    OK(CupvaMemAlloc(&to, 64, CUPVA_READ_WRITE, CUPVA_ALLOC_CVSRAM));
    OK(CupvaMemGetHostPointer(&from_host, from));
    OK(CupvaMemGetHostPointer(&to_host, to));
    memset(from_host, 3, 64);
    REFUSED(CUPVA_INVALID_ARGUMENT, "NULL", CupvaCmdMemcpyCreate(&copy, NULL, 8));
    REFUSED(CUPVA_INVALID_ARGUMENT, "must be set", CupvaCmdMemcpyCreate(&copy, &params, 8));
    OK(CupvaOffsetPointerInit(&place, from, 8));
    params.ptrSrc = from;
    params.opSrc = &place;
    params.ptrDst = to;
    REFUSED(CUPVA_INVALID_ARGUMENT, "both set", CupvaCmdMemcpyCreate(&copy, &params, 8));
    params.ptrSrc = NULL;
    REFUSED(CUPVA_INVALID_ARGUMENT, "ends at byte 65", CupvaCmdMemcpyCreate(&copy, &params, 57));
    OK(CupvaCmdMemcpyCreate2D(&copy, &params, 16, 8, 4, 3));
    OK(outcome(cmds, 1, &status));
    EXPECT(status == CUPVA_ERROR_NONE);
    EXPECT(((char *)to_host)[35] == 3 && ((char *)to_host)[36] == 0);
    OK(CupvaCmdDestroy(&copy));
    OK(CupvaMemFree(from));
    OK(CupvaMemFree(to));
    return 0;
}

CASE(static_dataflows)
{
    void *from, *to, *from_host, *to_host;
    cupvaCmd_t program;
    cupvaDataFlow_t flow;
    cupvaStaticDataFlowParams_t params;
    cupvaRasterDataFlowParams_t other;
    cupvaError_t status;
    int32_t id;
    cupvaCmd_t const *cmds[] = {&program};
    memset(&params, 0, sizeof params);
    memset(&other, 0, sizeof other);
    OK(CupvaMemAlloc(&from, 64, CUPVA_READ_WRITE, CUPVA_ALLOC_DRAM));
    OK(CupvaMemAlloc(&to, 64, CUPVA_READ_WRITE, CUPVA_ALLOC_DRAM));
    OK(CupvaMemGetHostPointer(&from_host, from));
    OK(CupvaMemGetHostPointer(&to_host, to));
    for (int i = 0; i < 64; i++)
        ((char *)from_host)[i] = (char)i;
    OK(CupvaCmdProgramCreate(&program, NULL));
    OK(CupvaCmdProgramAddDataFlowHead(&program, &flow, CUPVA_STATIC_DATAFLOW, 0, 1.0F));
    params.bpp = 1;
    params.tileWidth = 4;
    params.tileHeight = 2;
    params.ptrSrc = from;
    params.linePitchSrc = 8;
    params.niterSrcDim1 = 2;
    params.advSrcDim1 = 4;
    params.ptrDst = to;
    params.linePitchDst = 4;
    params.niterDstDim1 = 2;
    params.advDstDim1 = 8;
    REFUSED(CUPVA_INVALID_ARGUMENT, "NULL", CupvaStaticDataFlowSetParams(flow, NULL));
    REFUSED(CUPVA_INVALID_STATE, "", CupvaStaticDataFlowSetParams(NULL, &params));
    REFUSED(CUPVA_INVALID_ARGUMENT, "no RasterDataFlow", CupvaRasterDataFlowSetParams(flow, &other));
    REFUSED(CUPVA_INVALID_STATE, "compileDataFlows", CupvaDataFlowGetId(flow, &id));
    params.niterSrcDim1 = 257;
    REFUSED(CUPVA_INVALID_ARGUMENT, "1 to 256", CupvaStaticDataFlowSetParams(flow, &params));
    params.niterSrcDim1 = 2;
    params.padDir = CUPVA_PAD_DIR_MAX;
    REFUSED(CUPVA_INVALID_ARGUMENT, "padDir", CupvaStaticDataFlowSetParams(flow, &params));
    params.padDir = CUPVA_PAD_NONE;
    OK(CupvaStaticDataFlowSetParams(flow, &params));
    OK(CupvaCmdProgramCompileDataFlows(&program));
    OK(CupvaDataFlowGetId(flow, &id));
    OK(outcome(cmds, 1, &status));
    EXPECT(status == CUPVA_ERROR_NONE);
    EXPECT(((char *)to_host)[4] == 8 && ((char *)to_host)[8] == 4 && ((char *)to_host)[15] == 15);
    OK(CupvaCmdDestroy(&program));
    OK(CupvaMemFree(from));
    OK(CupvaMemFree(to));
    return 0;
}

CASE(tensor_dataflows)
{
    void *memory, *tile;
    cupvaCmd_t program;
    cupvaDataFlow_t flow;
    cupvaParameter_t handler;
    cupvaTensorDataFlowParams_t params;
    memset(&params, 0, sizeof params);
    OK(program_of(&program));
    OK(CupvaMemAlloc(&memory, 4096, CUPVA_READ_WRITE, CUPVA_ALLOC_DRAM));
    OK(pointer_to(&program, "tile", &tile));
    OK(CupvaCmdProgramGetParameter(&program, &handler, "tensor_handler"));
    OK(CupvaCmdProgramAddDataFlowHead(&program, &flow, CUPVA_TENSOR_DATAFLOW, 0, 1.0F));
    params.handler = &handler;
    params.width = 16;
    params.height = 8;
    params.depth = 4;
    params.tileWidth = 4;
    params.tileHeight = 4;
    params.bpp = 1;
    params.ptrTileBuffer = tile;
    REFUSED(CUPVA_INVALID_ARGUMENT, "exactly one", CupvaTensorDataFlowSetParams(flow, &params));
    params.ptrSrc = memory;
    params.ptrDst = memory;
    REFUSED(CUPVA_INVALID_ARGUMENT, "exactly one", CupvaTensorDataFlowSetParams(flow, &params));
    params.ptrDst = NULL;
    params.haloX = params.haloY = 1;
    params.padMode = CUPVA_PAD_BPE;
    OK(CupvaTensorDataFlowSetParams(flow, &params));
    OK(CupvaCmdProgramCompileDataFlows(&program));
    params.roiX = -4;
    OK(CupvaTensorDataFlowSetParams(flow, &params));
    REFUSED(CUPVA_INVALID_ARGUMENT, "roi x", CupvaCmdProgramCompileDataFlows(&program));
    OK(CupvaCmdDestroy(&program));
    OK(CupvaMemFree(memory));
    return 0;
}

CASE(nodes_and_tables)
{
    cupvaCmd_t program;
    cupvaDataFlow_t dynamic, config;
    cupvaDynamicDataFlowParams_t nodes = {.nodeCount = 4, .laneCount = 9};
    cupvaNodeParams_t node = {.tileWidth = 4, .tileHeight = 1};
    cupvaConfigDataFlowParams_t table = {.vpuConfigTable = NULL};
    OK(CupvaCmdProgramCreate(&program, NULL));
    OK(CupvaCmdProgramAddDataFlowHead(&program, &dynamic, CUPVA_DYNAMIC_DATAFLOW, 0, 1.0f));
    OK(CupvaCmdProgramAddDataFlowHead(&program, &config, CUPVA_CONFIG_DATAFLOW, 0, 1.0f));
    REFUSED(CUPVA_INVALID_ARGUMENT, "1 to 8 lanes", CupvaDynamicDataFlowSetParams(dynamic, &nodes));
    nodes.nodeCount = 5, nodes.laneCount = 1;
    REFUSED(CUPVA_INVALID_ARGUMENT, "5 nodes", CupvaDynamicDataFlowSetParams(dynamic, &nodes));
    nodes.nodeCount = 2;
    OK(CupvaDynamicDataFlowSetParams(dynamic, &nodes));
    OK(CupvaSetNodeParams(dynamic, 1, 0, &node));
    REFUSED(CUPVA_INVALID_ARGUMENT, "nodes 0 to 1", CupvaSetNodeParams(dynamic, 2, 0, &node));
    REFUSED(CUPVA_INVALID_ARGUMENT, "lanes 0 to 0", CupvaSetNodeParams(dynamic, 0, 1, &node));
    REFUSED(CUPVA_INVALID_ARGUMENT, "DynamicDataFlow", CupvaSetNodeParams(config, 0, 0, &node));
    REFUSED(CUPVA_INVALID_ARGUMENT, "vpuConfigTable", CupvaConfigDataFlowSetParams(config, &table));
    REFUSED(CUPVA_INVALID_ARGUMENT, "handler", CupvaCmdProgramCompileDataFlows(&program));
    OK(CupvaCmdDestroy(&program));
    return 0;
}

CASE(dataflows_that_do_not_exist)
{
    cupvaCmd_t program;
    cupvaDataFlow_t flow;
    OK(CupvaCmdProgramCreate(&program, NULL));
    REFUSED(CUPVA_INVALID_ARGUMENT, "type",
            CupvaCmdProgramAddDataFlow(&program, &flow, CUPVA_DATAFLOW_TYPE_MAX));
    OK(CupvaCmdDestroy(&program));
    return 0;
}

CASE(contexts)
{
    cupvaContext_t first, second, found;
    OK(CupvaContextGetCurrent(&first));
    OK(CupvaContextCreate(&second, CUPVA_ENGINE_MASK_ALL));
    OK(CupvaContextGetCurrent(&found));
    EXPECT(found == second);
    OK(CupvaContextSetCurrent(first));
    OK(CupvaContextGetCurrent(&found));
    EXPECT(found == first);
    OK(CupvaContextDestroy(second));
    REFUSED(CUPVA_UNINITIALIZED_OBJECT, "", CupvaContextSetCurrent(second));
    return 0;
}

#define RUN(name) \
    do { \
        if (case_##name()) { \
            printf("FAILED " #name ": %s\n", wrong); \
            failed = 1; \
        } else \
            puts("ok " #name); \
        fflush(stdout); \
    } while (0)

int main(void)
{
    int failed = 0;
    RUN(memory);
    RUN(memory_of_the_host);
    RUN(results_need_a_place);
    RUN(objects_that_were_never_made);
    RUN(objects_that_are_gone);
    RUN(parameters_and_status);
    RUN(submissions);
    RUN(submissions_that_come_again);
    RUN(buffers_of_commands);
    RUN(fences);
    RUN(fences_whose_memory_is_gone);
    RUN(the_last_error_has_a_code_and_a_text);
    RUN(a_submission_that_is_refused_touches_nothing);
    RUN(commands_that_are_values);
    RUN(what_belongs_to_a_program_ends_with_it);
    RUN(copies);
    RUN(static_dataflows);
    RUN(tensor_dataflows);
    RUN(nodes_and_tables);
    RUN(dataflows_that_do_not_exist);
    RUN(contexts);
    return failed;
}
