// Memory, executables, parameters, commands, streams, fences.
#include <cupva_host_conversions.hpp>
#include <cupva_host_cuda.hpp>
#include <cupva_host_nonsafety.hpp>
#include <cupva_host_nvsci.hpp>
#include <cupva_host_utils.hpp>

#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <thread>

#include "cases.hpp"

static CmdProgram program() { return CmdProgram::Create(subject()); }

// --- memory ---

CASE(memory_reads_as_zero_and_is_seen_by_the_host)
{
    auto *device = static_cast<uint8_t *>(mem::Alloc(10000));
    auto *host = static_cast<uint8_t *>(mem::GetHostPointer(device));
    EXPECT(host != device && host[0] == 0 && host[9999] == 0);
    EXPECT(mem::GetHostPointer(device + 77) == host + 77);
    mem::Free(device);
}

CASE(memory_that_cannot_be)
{
    Error const invalid = Error::InvalidArgument;
    REFUSED(invalid, "at least 1 byte", mem::Alloc(0));
    REFUSED(invalid, "at least 1 byte", mem::Alloc(-1));
    REFUSED(Error::DriverAPIError, "left", mem::Alloc(INT64_MAX));
    REFUSED(invalid, "access", mem::Alloc(1, mem::AccessType::READ));
    REFUSED(invalid, "access", mem::Alloc(1, mem::WRITE));
    REFUSED(invalid, "type", mem::Alloc(1, mem::READ_WRITE, static_cast<mem::AllocType>(7)));
    mem::Free(mem::Alloc(1, mem::AccessType::READ_WRITE, mem::AllocType::ALLOC_CVSRAM));
}

CASE(memory_that_is_none)
{
    uint8_t local = 0;
    auto *device = static_cast<uint8_t *>(mem::Alloc(64));
    Error const invalid = Error::InvalidArgument;
    REFUSED(invalid, "", mem::Free(device + 1));
    REFUSED(invalid, "", mem::Free(&local));
    REFUSED(invalid, "", mem::GetHostPointer(&local));
    REFUSED(invalid, "", mem::GetHostPointer(nullptr));
    mem::Free(device);
    REFUSED(invalid, "", mem::Free(device));
    REFUSED(invalid, "", mem::GetHostPointer(device));
    mem::Free(nullptr);
}

CASE(attributes_of_pointers)
{
    Buffer<uint8_t> buffer{100};
    mem::PointerAttributes found{};
    mem::GetPointerAttributes(buffer.device + 10, found);
    EXPECT(found.devicePtr == buffer.device && found.hostPtr == buffer.host + 10);
    EXPECT(found.size == 100 && found.offset == 10);
    EXPECT(found.memType == MemType::DRAM && found.bufferType == mem::BufferType::RAW);
    mem::GetPointerAttributes(mem::GetL2BaseAddress(), found);
    EXPECT(found.memType == MemType::L2SRAM && found.hostPtr == nullptr);
    EXPECT(found.size == config::MAX_L2SRAM_SIZE);
    CmdProgram prog = program();
    mem::GetPointerAttributes(prog["tile"].ptr<uint8_t>(), found);
    EXPECT(found.memType == MemType::VMEM && found.size == 8192);
    mem::SurfaceAttributes surface{};
    REFUSED(Error::InvalidArgument, "", mem::GetPointerAttributes(nullptr, found));
    REFUSED(Error::InvalidArgument, "surface", mem::GetSurfaceAttributes(buffer.device, surface));
}

CASE(kinds_of_memory)
{
    EXPECT(MemType::SRAM == MemType::L2SRAM && MemType::SRAM != MemType::DRAM);
    mem::PointerAttributes found{};
    mem::GetPointerAttributes(mem::GetL2BaseAddress(), found);
    EXPECT(found.memType == MemType::SRAM);
}

CASE(memory_of_the_host)
{
    uint8_t local[64];
    for (int i = 0; i < 64; i++)
        local[i] = static_cast<uint8_t>(i);
    auto *device = static_cast<uint8_t *>(mem::ImportFromHostPtr(local, sizeof(local)));
    EXPECT(device != local && mem::GetHostPointer(device + 5) == local + 5);
    CmdMemcpy copy = CmdMemcpy::Create(device + 32, device, 32);
    EXPECT(outcome({&copy}) == Error::None);
    EXPECT(local[40] == 8);
    mem::Free(device);
    REFUSED(Error::InvalidArgument, "", mem::GetHostPointer(device));
    REFUSED(Error::InvalidArgument, "", mem::ImportFromHostPtr(nullptr, 4));
    REFUSED(Error::InvalidArgument, "", mem::ImportFromHostPtr(reinterpret_cast<void *>(16), 4));
    REFUSED(Error::InvalidArgument, "", mem::ImportFromHostPtr(local, 0));
    REFUSED(Error::InvalidArgument, "", mem::ImportFromHostPtr(local, -1));
}

CASE(memory_that_is_not_supported)
{
    uint8_t local[8];
    Error const unsupported = Error::UnsupportedFeature;
    REFUSED(unsupported, "", mem::Register(local, sizeof(local), mem::ExternalAllocType::HOST));
    REFUSED(Error::InvalidArgument, "registered", mem::Unregister(local));
    REFUSED(unsupported, "", mem::MapL2(local, 8, mem::L2SRAMPolicyType::FILL));
    REFUSED(unsupported, "", mem::UnmapL2(local));
    REFUSED(unsupported, "surface", cupva_utils::AllocSurface(nullptr, 0));
}

// --- what the machine is ---

CASE(hardware_and_versions)
{
    HardwareInfo const info = GetHardwareInfo();
    EXPECT(info.pvaEngineCount == 1 && info.pvaVPUCount == 2 && info.pvaGen == GenType::PVA_GEN2);
    EXPECT(GetDriverVersion() >= 2006 && GetRuntimeVersion() >= 2000);
    EXPECT(GetStatus().err == Error::None);
    EXPECT(GetPFSDTestCount() == 0);
}

CASE(numbers_and_names)
{
    static_assert(config::MAX_TOTAL_PARAM_SIZE == 8192 && config::MAX_SYMBOL_LENGTH == 64
                      && config::MAX_NUM_COMMANDS_PER_SUBMIT == 256
                      && config::MAX_CMD_REQUEST_FENCES_ARRAY_SIZE == 4
                      && config::MAX_CMD_WAIT_ON_FENCES_ARRAY_SIZE == 8
                      && config::ENGINE_MASK_ALL == 0xffffffffu,
                  "");
    static_assert((PAD_TOP | PAD_LEFT) == PAD_TOP_LEFT && (PAD_BOTTOM | PAD_RIGHT) == PAD_BOTTOM_RIGHT
                      && (PAD_TOP | PAD_BOTTOM) == INVALID_PAD_TOP_BOTTOM,
                  "");
    static_assert(static_cast<uint32_t>(Error::VpuApplicationError) == 11
                      && static_cast<uint32_t>(Error::OperationPending) == 18,
                  "");
    EngineType const engine = PVA0;
    AffinityType const affinity = VPU_ANY;
    OrderType const order = cupva::OrderType::OUT_OF_ORDER;
    EXPECT(engine == cupva::EngineType::PVA0 && affinity != VPU0 && order == OUT_OF_ORDER);
}

CASE(contexts)
{
    Context none;
    REFUSED(Error::UninitializedObject, "Context", Context::SetCurrent(none));
    REFUSED(Error::InvalidArgument, "engineMask", Context::Create(0));
    Context made = Context::Create();
    Context::SetCurrent(made);
    Context moved = std::move(made);
    Context::SetCurrent(Context::GetCurrent());
    moved.finalize();
    mem::Free(mem::Alloc(1)); // in the default context
}

// --- executables ---

CASE(executables_that_are_none)
{
    uint8_t const noise[64] = {1, 2, 3};
    uint8_t const *const data = static_cast<uint8_t const *>(PVA_EXECUTABLE_DATA(subject));
    int32_t const size = PVA_EXECUTABLE_SIZE(subject);
    Error const invalid = Error::InvalidArgument;
    REFUSED(invalid, "NULL", Executable::Create(nullptr, size));
    REFUSED(invalid, "size 0", Executable::Create(data, 0));
    REFUSED(invalid, "size -1", Executable::Create(data, -1));
    REFUSED(invalid, "no ELF", Executable::Create(noise, sizeof(noise)));
    REFUSED(invalid, "", Executable::Create(data, 200));
    REFUSED(invalid, "readable", Executable::Create(data, INT32_MAX));
    REFUSED(invalid, "readable", Executable::Create(reinterpret_cast<void *>(16), 100));
    REFUSED(Error::UninitializedObject, "Executable", CmdProgram::Create(Executable()));
}

CASE(executables_move)
{
    Executable first =
        Executable::Create(PVA_EXECUTABLE_DATA(subject), PVA_EXECUTABLE_SIZE(subject));
    Executable second = std::move(first);
    REFUSED(Error::UninitializedObject, "", CmdProgram::Create(first));
    CmdProgram prog = CmdProgram::Create(second);
    EXPECT(outcome({&prog}) == Error::None);
    prog.finalize();
    second.finalize();
    second.finalize();
}

// --- parameters ---

CASE(names_of_symbols)
{
    CmdProgram prog = program();
    Error const invalid = Error::InvalidArgument;
    REFUSED(invalid, "did you mean 'answer'", prog["anwser"]);
    REFUSED(invalid, "", prog[""]);
    REFUSED(invalid, "NULL", prog[nullptr]);
    prog["a_name_of_exactly_sixty_four_characters_is_the_longest_allowed__"].ptr<void>();
    REFUSED(invalid, "65 characters",
            prog["a_name_of_exactly_sixty_four_characters_is_the_longest_allowed___"]);
    REFUSED(invalid, "without an executable", CmdProgram::Create()["answer"]);
    REFUSED(Error::UninitializedObject, "", CmdProgram()["answer"]);
}

CASE(values_reach_the_program)
{
    CmdProgram prog = program();
    int32_t const values[3] = {1, 2, 3};
    prog["values"] = values;
    prog["check_values"] = 1;
    EXPECT(outcome({&prog}) == Error::None);
    Parameter parameter = prog["values"], copy = parameter;
    copy.set(values, 8); // leaves the last one as the executable has it: 0
    EXPECT(outcome({&prog}) == Error::VpuApplicationError);
    struct {
        int16_t halves[6];
    } const whole = {{1, 0, 2, 0, 3, 0}};
    parameter = whole;
    EXPECT(outcome({&prog}) == Error::None);
}

CASE(a_value_is_captured_when_it_is_given)
{
    CmdProgram prog = program();
    int32_t answer = 0;
    prog["answer"].set(&answer, sizeof(answer));
    answer = 1;
    EXPECT(outcome({&prog}) == Error::None);
    prog["answer"] = answer;
    EXPECT(outcome({&prog}) == Error::VpuApplicationError);
}

CASE(programs_have_values_of_their_own)
{
    CmdProgram first = program(), second = program();
    second["answer"] = 5;
    EXPECT(outcome({&first}) == Error::None);
    EXPECT(outcome({&second}) == Error::VpuApplicationError);
    EXPECT(outcome({&first}) == Error::None);
}

CASE(values_that_cannot_be)
{
    CmdProgram prog = program();
    static uint8_t const bytes[9000] = {};
    Error const invalid = Error::InvalidArgument;
    REFUSED(invalid, "which has 4", prog["answer"] = 1.0);
    REFUSED(invalid, "which has 4", prog["answer"].set(bytes, 5));
    REFUSED(invalid, "size is 0", prog["answer"].set(bytes, 0));
    REFUSED(invalid, "size is -1", prog["answer"].set(bytes, -1));
    REFUSED(invalid, "", prog["answer"].set(nullptr, 4));
    REFUSED(invalid, "at most 8192", prog["large"].set(bytes, 8193));
    prog["large"].set(bytes, 8188);
    prog["answer"] = 0;
    REFUSED(invalid, "at most 8192", prog["hangs"] = 0);
    prog["large"].set(bytes, 8184); // in the place of the 8188
    prog["hangs"] = 0;
    REFUSED(Error::UninitializedObject, "", Parameter().set(bytes, 1));
    REFUSED(Error::UninitializedObject, "", Parameter().ptr<int>());
    REFUSED(Error::UninitializedObject, "", Parameter() = 1);
}

CASE(device_pointers_for_the_vpu)
{
    Buffer<int> buffer{100};
    CmdProgram prog = program();
    prog["check_pointer"] = 1;
    prog["outside"] = buffer.device + 5;
    EXPECT(outcome({&prog}) == Error::None);
    OffsetPointer<int> const pointer{buffer.device};
    prog["outside"] = pointer + 1;
    EXPECT(outcome({&prog}) == Error::None);
    REFUSED(Error::InvalidArgument, "", prog["outside"] = buffer.host);
    REFUSED(Error::InvalidArgument, "", prog["outside"] = static_cast<int *>(nullptr));
}

// --- programs ---

CASE(programs_move_with_their_dataflows)
{
    Buffer<uint8_t> from{16}, to{16};
    from.host[3] = 9;
    CmdProgram first = CmdProgram::Create();
    StaticDataFlow &flow = first.addDataFlowHead<StaticDataFlow>();
    CmdProgram second;
    second = std::move(first);
    flow.tile(16).src(from.device).dst(to.device);
    second.compileDataFlows();
    EXPECT(outcome({&second}) == Error::None);
    EXPECT(to.host[3] == 9);
    REFUSED(Error::UninitializedObject, "", first.compileDataFlows());
}

// --- objects for the C interface ---

static bool isNone(cupvaError_t const error) { return error == CUPVA_ERROR_NONE; }

CASE(everything_of_a_submission_goes_over_to_c)
{
    Buffer<uint8_t> from{16}, to{16};
    from.host[5] = 77;
    CmdProgram prog = CmdProgram::Create();
    StaticDataFlow &flow = prog.addDataFlowHead<StaticDataFlow>();
    flow.tile(16).src(from.device);
    OffsetPointer<uint8_t> target{to.device};
    flow.dst(target);
    prog.compileDataFlows();
    SyncObj sync = SyncObj::Create();
    Fence fence{sync};
    Stream stream = Stream::Create();

    cupvaDataFlow_t cFlow = nullptr;
    cupvaCmd_t cProg, cRequest;
    cupvaFence_t cFence;
    cupvaSyncObj_t cSync;
    cupvaStream_t cStream;
    ConvertTo(std::move(flow), cFlow);
    ConvertTo(std::move(prog), cProg);
    ConvertTo(std::move(fence), cFence);
    ConvertTo(std::move(sync), cSync);
    ConvertTo(std::move(stream), cStream);
    REFUSED(Error::InvalidState, "", flow.tile(4));
    REFUSED(Error::UninitializedObject, "", prog.compileDataFlows());
    REFUSED(Error::UninitializedObject, "", stream.synchronize());

    int32_t number = -1;
    EXPECT(isNone(CupvaDataFlowGetId(cFlow, &number)) && number == 0);
    EXPECT(isNone(CupvaCmdRequestFencesInit(&cRequest, &cFence, 1)));
    cupvaCmd_t const *const cmds[] = {&cProg, &cRequest};
    cupvaCmdStatus_t status[2];
    EXPECT(isNone(CupvaStreamSubmit(cStream, cmds, status, 2, CUPVA_IN_ORDER, -1, -1)));
    bool ended = false;
    EXPECT(isNone(CupvaFenceWait(&cFence, 10000000, &ended)) && ended);
    EXPECT(to.host[5] == 77);
    EXPECT(isNone(CupvaStreamDestroy(cStream)) && isNone(CupvaSyncObjDestroy(cSync)));
    EXPECT(isNone(CupvaCmdDestroy(&cProg)) && CupvaStreamDestroy(cStream) != CUPVA_ERROR_NONE);
}

CASE(a_command_buffer_finds_its_fences_anew_at_each_submission)
{
    CmdProgram prog = CmdProgram::Create();
    prog.compileDataFlows();
    Stream stream = Stream::Create();
    SyncObj first = SyncObj::Create(), second = SyncObj::Create();
    cupvaSyncObj_t cFirst, cSecond;
    cupvaCmd_t cProg, cRequest;
    cupvaStream_t cStream;
    ConvertTo(std::move(first), cFirst);
    ConvertTo(std::move(second), cSecond);
    ConvertTo(std::move(prog), cProg);
    ConvertTo(std::move(stream), cStream);
    cupvaFence_t fence;
    EXPECT(isNone(CupvaFenceInit(&fence, cFirst)));
    EXPECT(isNone(CupvaCmdRequestFencesInit(&cRequest, &fence, 1)));
    cupvaCmd_t const *const cmds[] = {&cProg, &cRequest};
    cupvaCmdStatus_t status[2];
    cupvaCmdBuffer_t buffer;
    EXPECT(isNone(CupvaCmdBufferCreate(&buffer, cmds, 2, status, CUPVA_IN_ORDER)));
    cupvaSyncObj_t const both[] = {cFirst, cSecond};
    for (cupvaSyncObj_t const sync : both) {
        bool ended = false;
        EXPECT(isNone(CupvaFenceInit(&fence, sync)));
        EXPECT(isNone(CupvaStreamSubmitCmdBuffer(cStream, buffer, -1, -1)));
        EXPECT(isNone(CupvaFenceWait(&fence, 10000000, &ended)) && ended);
    }
    EXPECT(isNone(CupvaStreamSynchronize(cStream)));
    EXPECT(isNone(CupvaSyncObjDestroy(cFirst)) && isNone(CupvaFenceInit(&fence, cSecond)));
    EXPECT(isNone(CupvaStreamSubmitCmdBuffer(cStream, buffer, -1, -1)));
    bool ended = false;
    EXPECT(isNone(CupvaFenceWait(&fence, 10000000, &ended)) && ended);
    EXPECT(isNone(CupvaCmdBufferDestroy(buffer)) && isNone(CupvaStreamDestroy(cStream)));
    EXPECT(isNone(CupvaCmdDestroy(&cProg)) && isNone(CupvaSyncObjDestroy(cSecond)));
}

CASE(a_program_of_c_with_the_executable_and_parameters_of_cpp)
{
    Executable executable =
        Executable::Create(PVA_EXECUTABLE_DATA(subject), PVA_EXECUTABLE_SIZE(subject));
    CmdProgram prog = CmdProgram::Create(executable);
    Parameter answer = prog["answer"];
    Stream stream = Stream::Create();
    cupvaParameter_t cAnswer;
    cupvaExecutable_t cExecutable;
    cupvaCmdBuffer_t cBuffer;
    cupvaStream_t cStream;
    CmdStatus status = nullptr;
    ConvertTo(answer, cAnswer);
    ConvertTo(CmdBuffer::Create({&prog}, &status), cBuffer);
    ConvertTo(std::move(stream), cStream);
    ConvertTo(std::move(executable), cExecutable);
    int32_t const value = 5;
    EXPECT(isNone(CupvaParameterSetValueArray(&cAnswer, &value, sizeof(value))));
    EXPECT(isNone(CupvaStreamSubmitCmdBuffer(cStream, cBuffer, -1, -1)));
    EXPECT(isNone(CupvaStreamSynchronize(cStream)));
    EXPECT(CheckCommandStatus(status) == Error::VpuApplicationError);
    EXPECT(isNone(CupvaCmdBufferDestroy(cBuffer)) && isNone(CupvaStreamDestroy(cStream)));
    prog.finalize();
    EXPECT(isNone(CupvaExecutableDestroy(cExecutable)));
}

CASE(pointers_contexts_and_objects_that_were_not_created_for_c)
{
    Buffer<uint8_t> one{64}, two{64};
    OffsetPointer<uint8_t> pointer{one.device, 3};
    cupvaOffsetPointer_t cPointer;
    void *base = nullptr;
    int64_t offset = 0;
    ConvertTo(pointer, cPointer);
    EXPECT(isNone(CupvaOffsetPointerGet(&cPointer, &base, &offset)));
    EXPECT(base == one.device && offset == 3);

    Context const before = Context::GetCurrent();
    Context context = Context::Create();
    cupvaContext_t cContext, current;
    ConvertTo(std::move(context), cContext);
    EXPECT(isNone(CupvaContextGetCurrent(&current)) && current == cContext);
    Context::SetCurrent(before);
    EXPECT(isNone(CupvaContextDestroy(cContext)));

    cupvaStream_t cStream = reinterpret_cast<cupvaStream_t>(&base);
    cupvaCmd_t cCmd = {{1, 2, 3}};
    ConvertTo(Stream{}, cStream);
    ConvertTo(CmdMemcpy{}, cCmd);
    ConvertTo(OffsetPointer<void const>{}, cPointer);
    EXPECT(cStream == nullptr && cCmd.data[0] == 0 && cPointer.data[0] == 0);
}

CASE(uncompiled_dataflows)
{
    CmdProgram prog = CmdProgram::Create();
    prog.addDataFlowHead<StaticDataFlow>();
    Stream stream = Stream::Create();
    REFUSED(Error::InvalidState, "compileDataFlows", stream.submit({&prog}));
    prog.compileDataFlows();
    prog.addDataFlowHead<StaticDataFlow>();
    REFUSED(Error::InvalidState, "compileDataFlows", stream.submit({&prog}));
}

CASE(l2sram)
{
    CmdProgram prog = CmdProgram::Create();
    prog.setL2Size(0);
    prog.setL2Size(config::MAX_L2SRAM_SIZE);
    REFUSED(Error::InvalidArgument, "1048576", prog.setL2Size(config::MAX_L2SRAM_SIZE + 1));
    REFUSED(Error::InvalidArgument, "1048576", prog.setL2Size(-1));
    Buffer<uint8_t> from{64}, to{64};
    from.host[63] = 5;
    auto *l2 = static_cast<uint8_t *>(mem::GetL2BaseAddress());
    CmdMemcpy in = CmdMemcpy::Create(l2 + 100, from.device, 64);
    CmdMemcpy out = CmdMemcpy::Create(to.device, l2 + 100, 64);
    EXPECT(outcome({&in, &out}) == Error::None);
    EXPECT(to.host[63] == 5);
}

// --- status ---

CASE(each_command_has_its_status)
{
    CmdProgram good = program(), bad = program(), zero = program();
    bad["answer"] = 3;
    zero["divides"] = 1;
    SyncObj sync = SyncObj::Create();
    Fence fence{sync};
    CmdRequestFences rf{fence};
    CmdStatus status[4];
    Stream stream = Stream::Create();
    stream.submit({&good, &bad, &zero, &rf}, status);
    EXPECT(fence.wait());
    EXPECT(CheckCommandStatus(status[0]) == Error::None);
    EXPECT(CheckCommandStatus(status[1]) == Error::VpuApplicationError);
    EXPECT(CheckCommandStatus(status[2]) == Error::VpuDivideByZero);
    EXPECT(CheckCommandStatus(status[3]) == Error::None);
    REFUSED(Error::UninitializedObject, "", CheckCommandStatus(nullptr));
    REFUSED(Error::UninitializedObject, "", CheckCommandStatus(reinterpret_cast<CmdStatus>(77)));
}

CASE(a_command_is_pending_until_it_has_ended)
{
    CmdProgram prog = program();
    prog["hangs"] = 1;
    CmdStatus status[1];
    Stream stream = Stream::Create();
    stream.submit({&prog}, status, IN_ORDER, 300 * 1000);
    EXPECT(CheckCommandStatus(status[0]) == Error::OperationPending);
    stream.synchronize();
    EXPECT(CheckCommandStatus(status[0]) == Error::CommandExecutionTimeout);
    prog["hangs"] = 0; // the program is good for another run
    stream.submit({&prog}, status);
    stream.synchronize();
    EXPECT(CheckCommandStatus(status[0]) == Error::None);
}

// --- streams ---

CASE(streams_that_cannot_be)
{
    CmdProgram prog = program();
    Error const uninitialized = Error::UninitializedObject, invalid = Error::InvalidArgument;
    REFUSED(invalid, "engine", Stream::Create(PVA1));
    REFUSED(invalid, "affinity", Stream::Create(PVA0, static_cast<AffinityType>(9)));
    Stream none;
    REFUSED(uninitialized, "stream", none.submit({&prog}));
    REFUSED(uninitialized, "stream", none.submit(CmdBuffer()));
    REFUSED(uninitialized, "stream", none.synchronize());
    REFUSED(uninitialized, "stream", none.setName("x"));
}

CASE(submissions_that_cannot_be)
{
    CmdProgram prog = program();
    Stream stream = Stream::Create();
    Error const uninitialized = Error::UninitializedObject, invalid = Error::InvalidArgument;
    REFUSED(invalid, "1 to 256", stream.submit({}));
    REFUSED(invalid, "nullptr", stream.submit({&prog, nullptr}));
    REFUSED(invalid, "", stream.submit(static_cast<BaseCmd const *const *>(nullptr), nullptr, 1));
    BaseCmd const *one[] = {&prog};
    REFUSED(invalid, "", stream.submit(one, nullptr, -1));
    REFUSED(invalid, "order",
            stream.submit({&prog}, nullptr, static_cast<OrderType>(7)));
    CmdProgram none;
    CmdRequestFences no_request;
    REFUSED(uninitialized, "cmds[0]", stream.submit({&none}));
    REFUSED(uninitialized, "cmds[1]", stream.submit({&prog, &no_request}));
    REFUSED(invalid, "status", stream.submit({&prog}, reinterpret_cast<CmdStatus *>(16)));
    std::string const name(65, 'n');
    REFUSED(invalid, "", stream.setName(name.c_str()));
    REFUSED(invalid, "NULL", stream.setName(nullptr));
    stream.setName("a stream");
}

CASE(as_many_commands_as_fit_a_submission)
{
    CmdBarrier barrier;
    std::vector<BaseCmd const *> cmds(256, &barrier);
    std::vector<CmdStatus> status(257);
    Stream stream = Stream::Create();
    stream.submit(cmds.data(), status.data(), 256);
    stream.synchronize();
    EXPECT(CheckCommandStatus(status[255]) == Error::None);
    cmds.push_back(&barrier);
    REFUSED(Error::InvalidArgument, "257 commands", stream.submit(cmds.data(), status.data(), 257));
}

CASE(lists_of_commands)
{
    CmdProgram good = program(), bad = program();
    bad["answer"] = 1;
    BaseCmdList list{&good, &bad}, empty;
    EXPECT(list.getSize() == 2 && empty.getSize() == 0);
    BaseCmdList moved = std::move(list);
    EXPECT(moved.getSize() == 2);
    CmdStatus status[2];
    Stream stream = Stream::Create();
    stream.submit(moved, status);
    stream.synchronize();
    EXPECT(CheckCommandStatus(status[1]) == Error::VpuApplicationError);
    moved.finalize();
    EXPECT(moved.getSize() == 0);
}

CASE(buffers_of_commands)
{
    Buffer<uint8_t> from{8}, to{8};
    CmdMemcpy copy = CmdMemcpy::Create(to.device, from.device, 8);
    CmdProgram bad = program();
    bad["answer"] = 1;
    CmdStatus status[2] = {};
    CmdBuffer buffer = CmdBuffer::Create({&copy, &bad}, status);
    Stream stream = Stream::Create();
    for (uint8_t round = 1; round < 4; round++) {
        from.host[7] = round;
        stream.submit(buffer, 10 * 1000 * 1000);
        stream.synchronize();
        EXPECT(to.host[7] == round);
        EXPECT(CheckCommandStatus(status[0]) == Error::None);
        EXPECT(CheckCommandStatus(status[1]) == Error::VpuApplicationError);
    }
    Error const invalid = Error::InvalidArgument;
    REFUSED(invalid, "1 to 256", CmdBuffer::Create({}));
    REFUSED(invalid, "nullptr", CmdBuffer::Create({nullptr}));
    REFUSED(invalid, "order", CmdBuffer::Create({&copy}, nullptr, static_cast<OrderType>(0)));
    REFUSED(Error::UninitializedObject, "", stream.submit(CmdBuffer()));
    buffer.finalize();
    REFUSED(Error::UninitializedObject, "", stream.submit(buffer));
}

CASE(timeouts_do_not_count_a_leading_wait)
{
    CmdProgram slow = program(), quick = program();
    slow["spins"] = 200 * 1000 * 1000;
    SyncObj sync = SyncObj::Create();
    Fence fence{sync};
    CmdRequestFences rf{fence};
    Stream first = Stream::Create(PVA0, VPU0), second = Stream::Create(PVA0, VPU1);
    first.submit({&slow, &rf});
    CmdWaitOnFences wait{fence};
    CmdStatus status[2];
    second.submit({&wait, &quick}, status, IN_ORDER, 60 * 1000 * 1000);
    second.synchronize();
    EXPECT(CheckCommandStatus(status[0]) == Error::None);
    EXPECT(CheckCommandStatus(status[1]) == Error::None);
    EXPECT(fence.wait(0));
}

CASE(the_vpus_do_not_wait_for_each_other)
{
    CmdProgram stuck = program(), quick = program();
    stuck["hangs"] = 1;
    Stream first = Stream::Create(PVA0, VPU0), second = Stream::Create(PVA0, VPU1);
    CmdStatus of_stuck[1], of_quick[1];
    first.submit({&stuck}, of_stuck, IN_ORDER, 1500 * 1000);
    second.submit({&quick}, of_quick);
    second.synchronize();
    EXPECT(CheckCommandStatus(of_quick[0]) == Error::None);
    EXPECT(CheckCommandStatus(of_stuck[0]) == Error::OperationPending);
    first.synchronize();
    EXPECT(CheckCommandStatus(of_stuck[0]) == Error::CommandExecutionTimeout);
}

CASE(submissions_wait_for_room)
{
    CmdProgram stuck = program();
    stuck["hangs"] = 1;
    CmdBarrier barrier;
    Stream stream = Stream::Create(PVA0, VPU0);
    stream.submit({&stuck}, nullptr, IN_ORDER, 1000 * 1000);
    Error found = Error::None;
    int submitted = 0;
    for (; found == Error::None && submitted < 2000; submitted++) {
        try {
            stream.submit({&barrier}, nullptr, IN_ORDER, -1, 1000);
        } catch (Exception const &e) {
            found = e.getErrorCode();
        }
    }
    EXPECT(found == Error::CommandSubmissionTimeout);
    stream.submit({&barrier}); // has time
    stream.synchronize();
}

CASE(a_barrier_waits_for_what_is_before_it)
{
    Buffer<uint8_t> from{8}, middle{8}, to{8};
    from.host[0] = 42;
    CmdProgram slow = program(), first = CmdProgram::Create();
    slow["spins"] = 20 * 1000 * 1000;
    first.addDataFlowHead<StaticDataFlow>().tile(8).src(from.device).dst(middle.device);
    first.compileDataFlows();
    CmdBarrier barrier;
    CmdMemcpy second = CmdMemcpy::Create(to.device, middle.device, 8);
    EXPECT(outcome({&slow, &first, &barrier, &second}, -1, OUT_OF_ORDER) == Error::None);
    EXPECT(to.host[0] == 42);
}

CASE(synchronous_streams)
{
    CmdProgram prog = program();
    prog["spins"] = 1000 * 1000;
    CmdStatus status[1];
    Stream stream = cupva_utils::CreateSyncStream(PVA0, VPU1);
    stream.submit({&prog}, status);
    EXPECT(CheckCommandStatus(status[0]) == Error::None);
    Stream other = cupva::utils::CreateSyncStream(Stream::Create());
    other.submit({&prog}, status);
    EXPECT(CheckCommandStatus(status[0]) == Error::None);
}

CASE(streams_are_assigned)
{
    static Stream global;
    global = Stream::Create(PVA0, VPU0);
    global = Stream::Create(PVA0, VPU1);
    CmdProgram prog = program();
    global.submit({&prog});
    global.synchronize();
    global.finalize();
    REFUSED(Error::UninitializedObject, "", global.submit({&prog}));
}

// --- fences ---

CASE(fences_that_mean_nothing)
{
    Fence none;
    REFUSED(Error::UninitializedObject, "", none.wait());
    REFUSED(Error::UninitializedObject, "", none.getTimestamp());
    SyncObj no_object;
    Fence of_none{no_object};
    REFUSED(Error::UninitializedObject, "", of_none.wait());
    REFUSED(Error::UninitializedObject, "", CmdRequestFences{none});
    REFUSED(Error::UninitializedObject, "", CmdWaitOnFences{none});
    SyncObj sync = SyncObj::Create(true);
    Fence fresh{sync};
    REFUSED(Error::InvalidState, "never submitted", fresh.wait());
    REFUSED(Error::InvalidState, "never submitted", fresh.wait(0));
    REFUSED(Error::InvalidState, "never submitted", fresh.getTimestamp());
    CmdWaitOnFences wait{fresh};
    Stream stream = Stream::Create();
    REFUSED(Error::InvalidState, "never submitted", stream.submit({&wait}));
    REFUSED(Error::InvalidArgument, "clientType", SyncObj::Create(false, static_cast<SyncClientType>(9)));
    REFUSED(Error::InvalidArgument, "waitMode",
            SyncObj::Create(false, SIGNALER, static_cast<SyncWaitMode>(9)));
}

CASE(numbers_of_fences)
{
    SyncObj sync = SyncObj::Create();
    Fence fences[9];
    for (Fence &fence : fences)
        fence = Fence{sync};
    Error const invalid = Error::InvalidArgument;
    REFUSED(invalid, "1 to 4", CmdRequestFences(fences, 5));
    REFUSED(invalid, "1 to 4", CmdRequestFences(fences, 0));
    REFUSED(invalid, "1 to 4", CmdRequestFences(fences, -1));
    REFUSED(invalid, "1 to 8", CmdWaitOnFences(fences, 9));
    REFUSED(invalid, "NULL", CmdRequestFences(nullptr, 1));
    REFUSED(invalid, "NULL", CmdWaitOnFences(nullptr, 1));
    REFUSED(invalid, "", CmdRequestFences(reinterpret_cast<Fence *>(16), 1));
    CmdRequestFences first(fences, 4), second(fences + 4, 4);
    CmdWaitOnFences all(fences, 8);
    Stream stream = Stream::Create();
    stream.submit({&first, &second, &all});
    for (int i = 0; i < 8; i++)
        EXPECT(fences[i].wait());
}

CASE(time_stamps)
{
    SyncObj sync = SyncObj::Create(true), plain = SyncObj::Create();
    Fence before{sync}, after{sync}, without{plain};
    CmdRequestFences first{before}, second{after}, third{without};
    CmdProgram prog = program();
    prog["spins"] = 10 * 1000 * 1000;
    Stream stream = Stream::Create();
    stream.submit({&first, &prog, &second, &third});
    EXPECT(without.wait());
    EXPECT(before.getTimestamp() < after.getTimestamp());
    uint64_t again = 0;
    after.getTimestamp(again);
    EXPECT(again == after.getTimestamp());
    REFUSED(Error::InvalidState, "isTimeStamp", without.getTimestamp());
}

CASE(waiting_may_time_out)
{
    SyncObj sync = SyncObj::Create(true);
    Fence fence{sync};
    CmdRequestFences rf{fence};
    CmdProgram prog = program();
    prog["hangs"] = 1;
    Stream stream = Stream::Create();
    stream.submit({&prog, &rf}, nullptr, IN_ORDER, 400 * 1000);
    EXPECT(!fence.wait(0));
    EXPECT(!fence.wait(1000));
    REFUSED(Error::InvalidState, "not expired", fence.getTimestamp());
    EXPECT(fence.wait());
}

CASE(fences_are_used_again)
{
    SyncObj sync = SyncObj::Create(true);
    Fence fence{sync};
    CmdRequestFences rf{fence};
    Stream stream = Stream::Create();
    uint64_t last = 0;
    for (int i = 0; i < 3; i++) {
        stream.submit({&rf});
        EXPECT(fence.wait());
        EXPECT(fence.getTimestamp() > last);
        last = fence.getTimestamp();
    }
    Fence moved = std::move(fence);
    EXPECT(moved.wait());
    REFUSED(Error::UninitializedObject, "", fence.wait());
}

// --- copies ---

CASE(copies_in_two_dimensions)
{
    Buffer<uint8_t> from{100}, to{100};
    for (int i = 0; i < 100; i++)
        from.host[i] = static_cast<uint8_t>(i);
    CmdMemcpy copy = CmdMemcpy::Create(to.device, 5, from.device, 10, 3, 4);
    EXPECT(outcome({&copy}) == Error::None);
    EXPECT(to.host[2] == 2 && to.host[3] == 0 && to.host[5] == 10 && to.host[17] == 32);
}

CASE(copies_between_offset_pointers)
{
    Buffer<uint8_t> from{16}, to{16}, other{16};
    from.host[4] = 7;
    OffsetPointer<uint8_t const> source{from.device};
    OffsetPointer<uint8_t> target{to.device};
    CmdMemcpy copy = CmdMemcpy::Create(target + 8, source + 4, 4);
    EXPECT(outcome({&copy}) == Error::None);
    EXPECT(to.host[8] == 7);
    target.setBase(other.device);
    EXPECT(outcome({&copy}) == Error::None);
    EXPECT(other.host[8] == 7);
}

CASE(copies_that_cannot_be)
{
    Buffer<uint8_t> buffer{64};
    CmdProgram prog = program();
    auto *vmem = prog["tile"].ptr<uint8_t>();
    uint8_t *const at = buffer.device;
    uint8_t local = 0;
    Error const invalid = Error::InvalidArgument;
    REFUSED(invalid, "ends at byte 65", CmdMemcpy::Create(at, at, 65));
    REFUSED(invalid, "ends at byte 66", CmdMemcpy::Create(at + 2, at, 64));
    REFUSED(invalid, "0 x 1", CmdMemcpy::Create(at, at, 0));
    REFUSED(invalid, "", CmdMemcpy::Create(at, at, SIZE_MAX));
    REFUSED(invalid, "VMEM", CmdMemcpy::Create(vmem, at, 8));
    REFUSED(invalid, "VMEM", CmdMemcpy::Create(at, vmem, 8));
    REFUSED(invalid, "", CmdMemcpy::Create(&local, at, 1));
    REFUSED(invalid, "", CmdMemcpy::Create(at, static_cast<void const *>(nullptr), 1));
    REFUSED(invalid, "pitch", CmdMemcpy::Create(at, 3, at, 8, 4, 2));
    REFUSED(invalid, "pitch", CmdMemcpy::Create(at, 8, at, 3, 4, 2));
    REFUSED(invalid, "", CmdMemcpy::Create(at, 8, at, 8, 8, 9));
    REFUSED(Error::UninitializedObject, "OffsetPointer",
            CmdMemcpy::Create(OffsetPointer<uint8_t>(), at, 1));
}

CASE(memory_that_is_freed_before_the_copy_runs)
{
    auto *from = static_cast<uint8_t *>(mem::Alloc(8));
    Buffer<uint8_t> to{8};
    CmdMemcpy copy = CmdMemcpy::Create(to.device, from, 8);
    mem::Free(from);
    Stream stream = Stream::Create();
    REFUSED(Error::InvalidArgument, "live allocation", stream.submit({&copy}));
}

CASE(offset_pointers)
{
    Buffer<int32_t> first{64}, second{64};
    OffsetPointer<int32_t> none, pointer{first.device, 2}, copy = pointer;
    EXPECT(!none && pointer);
    EXPECT(pointer.get() == first.device + 2 && pointer.getOffset() == 2);
    copy += 3;
    EXPECT(copy.get() == first.device + 5 && pointer.get() == first.device + 2);
    copy.setBase(second.device); // shared by both, the offsets are not
    EXPECT(copy.get() == second.device + 5 && pointer.get() == second.device + 2);
    EXPECT((++copy).getOffset() == 6 && (copy--).getOffset() == 6 && (copy - 1).getOffset() == 4);
    pointer.setOffset(-1);
    OffsetPointer<void const> bytes = pointer;
    EXPECT(bytes.getOffset() == -4 && (bytes + 4).get() == second.device);
    REFUSED(Error::UninitializedObject, "base", none.get());
    REFUSED(Error::UninitializedObject, "base", none.setBase(first.device));
    int32_t local = 0;
    CmdMemcpy keeps = CmdMemcpy::Create(copy, first.device, 4);
    REFUSED(Error::InvalidArgument, "", copy.setBase(&local));
}

// --- what other stacks share ---

CASE(commands_that_do_not_exist)
{
    Error const unsupported = Error::UnsupportedFeature;
    REFUSED(unsupported, "", CmdL2Ops::Create(mem::L2OperationType::FLUSH, mem::GetL2BaseAddress()));
    REFUSED(unsupported, "", CmdPFSD::Create(0));
}

/* A CUDA stream of the program's own, with memory of CUDA. */
struct CudaWork {
    cudaStream_t stream = nullptr;
    uint8_t *memory = nullptr;
    int32_t size = 1 << 20;

    CudaWork()
    {
        EXPECT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
        EXPECT(cudaMalloc(reinterpret_cast<void **>(&memory), size) == cudaSuccess);
        EXPECT(cudaMemset(memory, 0, size) == cudaSuccess);
    }

    ~CudaWork()
    {
        cudaFree(memory);
        cudaStreamDestroy(stream);
    }
};

/* The PVA's copy reads what CUDA wrote before it, and CUDA reads what the PVA wrote. */
CASE(commands_in_a_cuda_stream)
{
    CudaWork cuda;
    Buffer<uint8_t> to{1 << 20};
    auto *device = static_cast<uint8_t *>(cuda::mem::Import(cuda.memory, cuda.size));
    CmdMemcpy out = CmdMemcpy::Create(to.device, device, cuda.size);
    CmdMemcpy back = CmdMemcpy::Create(device + 100, to.device, 100);
    CmdStatus status[2] = {nullptr, nullptr};
    std::vector<uint8_t> seen(200);
    for (int round = 1; round < 20; round++) {
        EXPECT(cudaMemsetAsync(cuda.memory, round, 100, cuda.stream) == cudaSuccess);
        cuda::Submit(cuda.stream, {&out, &back}, status);
        EXPECT(cudaMemcpyAsync(seen.data(), cuda.memory, 200, cudaMemcpyDeviceToHost, cuda.stream)
               == cudaSuccess);
        EXPECT(cudaStreamSynchronize(cuda.stream) == cudaSuccess);
        EXPECT(seen[0] == round && seen[100] == round && seen[199] == round);
        EXPECT(CheckCommandStatus(status[0]) == Error::None);
        EXPECT(CheckCommandStatus(status[1]) == Error::None);
    }
    Stream stream = cuda::CreateStream(cuda.stream, PVA0, VPU1);
    SyncObj sync = SyncObj::Create();
    Fence fence(sync);
    CmdRequestFences request(fence);
    EXPECT(cudaMemsetAsync(cuda.memory, 77, 100, cuda.stream) == cudaSuccess);
    stream.submit({&out, &request});
    EXPECT(fence.wait() && to.host[99] == 77);
    stream.synchronize();
    CmdBuffer buffer = CmdBuffer::Create({&out});
    EXPECT(cudaMemsetAsync(cuda.memory, 78, 100, cuda.stream) == cudaSuccess);
    cuda::Submit(cuda.stream, buffer);
    cuda::Submit(cuda.stream, back);
    EXPECT(cudaStreamSynchronize(cuda.stream) == cudaSuccess);
    EXPECT(to.host[99] == 78);
    mem::Free(device);
}

/* Without an import; and new memory at the addresses of old one is not mistaken for it. */
CASE(pointers_of_cuda_are_device_pointers)
{
    Buffer<uint8_t> to{1 << 16};
    for (int round = 1; round < 5; round++) {
        uint8_t *memory = nullptr;
        EXPECT(cudaMalloc(reinterpret_cast<void **>(&memory), 1 << 16) == cudaSuccess);
        EXPECT(cudaMemset(memory, round, 1 << 16) == cudaSuccess);
        CmdProgram prog = CmdProgram::Create();
        prog.addDataFlowHead<StaticDataFlow>().tile(64).src(memory + 128).dst(to.device);
        prog.compileDataFlows();
        CmdMemcpy copy = CmdMemcpy::Create(memory, to.device, 32);
        EXPECT(outcome({&prog, &copy}) == Error::None);
        EXPECT(to.host[0] == round && to.host[63] == round);
        mem::PointerAttributes attributes{};
        mem::GetPointerAttributes(memory + 5, attributes);
        EXPECT(attributes.offset == 5 && attributes.size == 1 << 16);
        EXPECT(attributes.hostPtr == nullptr);
        mem::Register(memory, 1 << 16, mem::ExternalAllocType::CUDA);
        mem::Unregister(memory);
        mem::Unregister(memory + 5);
        EXPECT(outcome({&prog, &copy}) == Error::None);
        EXPECT(cudaFree(memory) == cudaSuccess);
        REFUSED(Error::InvalidArgument, "no device pointer", mem::GetPointerAttributes(memory, attributes));
    }
}

CASE(programs_in_a_cuda_stream)
{
    CudaWork cuda;
    CmdProgram prog = program();
    CmdStatus status[1] = {nullptr};
    cuda::SetAffinity(cuda.stream, VPU1);
    cuda::SetName(cuda.stream, "frames");
    prog["answer"] = 3;
    cuda::Submit(cuda.stream, prog, status);
    EXPECT(cudaStreamSynchronize(cuda.stream) == cudaSuccess);
    EXPECT(CheckCommandStatus(status[0]) == Error::VpuApplicationError);
    EXPECT(cudaGetLastError() == cudaSuccess);
}

CASE(cuda_refuses)
{
    CmdProgram prog = program();
    BaseCmd const *cmds[] = {&prog};
    CudaWork cuda;
    cudaStream_t blocking = nullptr;
    EXPECT(cudaStreamCreate(&blocking) == cudaSuccess);
    Error const invalid = Error::InvalidArgument;
    EXPECT(cuda::ContextSupportsCuda());
    REFUSED(invalid, "default stream", cuda::Submit(nullptr, prog));
    REFUSED(invalid, "default stream", cuda::CreateStream(nullptr));
    REFUSED(invalid, "cudaStreamNonBlocking", cuda::CreateStream(blocking));
    REFUSED(invalid, "cudaStream", cuda::Submit(reinterpret_cast<cudaStream_t>(0x1234), prog));
    REFUSED(invalid, "commands", cuda::Submit(cuda.stream, cmds, nullptr, 0));
    REFUSED(invalid, "commands", cuda::Submit(cuda.stream, &prog, nullptr, 0));
    REFUSED(Error::UninitializedObject, "", cuda::Submit(cuda.stream, CmdBuffer()));
    REFUSED(invalid, "affinity", cuda::SetAffinity(cuda.stream, static_cast<AffinityType>(9)));
    REFUSED(invalid, "name", cuda::SetName(cuda.stream, nullptr));
    cudaStreamDestroy(blocking);
}

CASE(memory_of_cuda)
{
    void *memory = nullptr;
    EXPECT(cudaMalloc(&memory, 64) == cudaSuccess && cudaMemset(memory, 7, 64) == cudaSuccess);
    Buffer<uint8_t> to{64};
    void *device = cuda::mem::Import(memory, 64);
    CmdMemcpy copy = CmdMemcpy::Create(to.device, device, 64);
    EXPECT(outcome({&copy}) == Error::None);
    EXPECT(to.host[0] == 7 && to.host[63] == 7);
    mem::Free(device);
    Error const invalid = Error::InvalidArgument;
    auto *last = static_cast<uint8_t *>(memory) + 63;
    REFUSED(invalid, "64 bytes", cuda::mem::Import(memory, 65));
    REFUSED(invalid, "1 bytes", cuda::mem::Import(last, 2));
    mem::Free(cuda::mem::Import(last, 1));
    REFUSED(invalid, "size", cuda::mem::Import(memory, 0));
    REFUSED(invalid, "no memory of CUDA", cuda::mem::Import(to.host, 64));
    REFUSED(invalid, "no memory of CUDA", cuda::mem::Import(nullptr, 4));
    cudaFree(memory);
    REFUSED(invalid, "no memory of CUDA", cuda::mem::Import(memory, 64));
    void *pinned = nullptr;
    EXPECT(cudaMallocHost(&pinned, 64) == cudaSuccess);
    std::memset(pinned, 9, 64);
    device = cuda::mem::Import(pinned, 64);
    CmdMemcpy again = CmdMemcpy::Create(to.device, device, 64);
    EXPECT(outcome({&again}) == Error::None);
    EXPECT(to.host[63] == 9);
    mem::Free(device);
    cudaFreeHost(pinned);
}

/* A sync object with the PVA on one side and the CPU on the other. */
struct Shared {
    NvSciSyncModule module = nullptr;
    NvSciSyncAttrList lists[2] = {nullptr, nullptr}, reconciled = nullptr, conflicts = nullptr;
    NvSciSyncObj object = nullptr;
    NvSciSyncCpuWaitContext context = nullptr;

    explicit Shared(SyncClientType const pva)
    {
        bool cpu = true;
        NvSciSyncAccessPerm perm =
            pva == SIGNALER ? NvSciSyncAccessPerm_WaitOnly : NvSciSyncAccessPerm_SignalOnly;
        NvSciSyncAttrKeyValuePair pairs[] = {{NvSciSyncAttrKey_NeedCpuAccess, &cpu, sizeof(cpu)},
                                             {NvSciSyncAttrKey_RequiredPerm, &perm, sizeof(perm)}};
        EXPECT(NvSciSyncModuleOpen(&module) == NvSciError_Success);
        EXPECT(NvSciSyncAttrListCreate(module, &lists[0]) == NvSciError_Success);
        EXPECT(NvSciSyncAttrListCreate(module, &lists[1]) == NvSciError_Success);
        EXPECT(NvSciSyncAttrListSetAttrs(lists[0], pairs, 2) == NvSciError_Success);
        nvsci::FillAttributes(lists[1], pva);
        EXPECT(NvSciSyncAttrListReconcile(lists, 2, &reconciled, &conflicts)
               == NvSciError_Success);
        EXPECT(NvSciSyncObjAlloc(reconciled, &object) == NvSciError_Success);
        EXPECT(NvSciSyncCpuWaitContextAlloc(module, &context) == NvSciError_Success);
    }

    ~Shared()
    {
        NvSciSyncCpuWaitContextFree(context);
        NvSciSyncObjFree(object);
        NvSciSyncAttrListFree(lists[0]);
        NvSciSyncAttrListFree(lists[1]);
        NvSciSyncAttrListFree(reconciled);
        NvSciSyncModuleClose(module);
    }
};

CASE(nvsci_fences_that_the_pva_signals)
{
    Shared shared(SIGNALER);
    SyncObj sync = nvsci::Import(shared.object, SIGNALER);
    Stream stream = Stream::Create(PVA0, VPU0);
    Fence fence(sync);
    CmdRequestFences request(fence);
    NvSciSyncFence sci = NvSciSyncFenceInitializer;
    REFUSED(Error::InvalidState, "never submitted", nvsci::Export(fence, sci));
    CmdProgram prog = program();
    for (int round = 0; round < 3; round++) {
        stream.submit({&prog, &request});
        nvsci::Export(fence, sci);
        EXPECT(NvSciSyncFenceWait(&sci, shared.context, 10000000) == NvSciError_Success);
        EXPECT(fence.wait(0));
    }
    NvSciSyncFenceClear(&sci);
    SyncObj own = SyncObj::Create();
    Fence other(own);
    CmdRequestFences more(other);
    stream.submit({&more});
    REFUSED(Error::InvalidArgument, "CupvaSyncObjCreateFromNvsci", nvsci::Export(other, sci));
}

CASE(nvsci_fences_that_the_pva_waits_for)
{
    Shared shared(WAITER);
    REFUSED(Error::InvalidArgument, "", nvsci::Import(shared.object, SIGNALER));
    SyncObj sync = nvsci::Import(shared.object, WAITER);
    NvSciSyncFence sci = NvSciSyncFenceInitializer;
    EXPECT(NvSciSyncObjGenerateFence(shared.object, &sci) == NvSciError_Success);
    Fence fence;
    nvsci::Import(fence, sci);
    CmdWaitOnFences wait(fence);
    CmdProgram prog = program();
    Stream stream = Stream::Create(PVA0, VPU0);
    CmdStatus status[2] = {nullptr, nullptr};
    stream.submit({&wait, &prog}, status);
    EXPECT(!fence.wait(10000));
    EXPECT(CheckCommandStatus(status[1]) == Error::OperationPending);
    EXPECT(NvSciSyncObjSignal(shared.object) == NvSciError_Success);
    stream.synchronize();
    EXPECT(CheckCommandStatus(status[1]) == Error::None);
    NvSciSyncFenceClear(&sci);
    nvsci::Import(fence, sci);
    EXPECT(fence.wait(0));
}

CASE(nvsci_refuses)
{
    Fence fence;
    NvSciSyncFence sci = NvSciSyncFenceInitializer;
    Error const invalid = Error::InvalidArgument;
    REFUSED(invalid, "sciSyncobj", nvsci::Import(static_cast<NvSciSyncObj>(nullptr)));
    REFUSED(invalid, "attrList", nvsci::FillAttributes(nullptr));
    REFUSED(Error::UninitializedObject, "fence", nvsci::Export(fence, sci));
    sci.payload[0] = 12345;
    REFUSED(invalid, "sciFence", nvsci::Import(fence, sci));
}

CASE(nvsci_buffers)
{
    NvSciBufModule module = nullptr;
    NvSciBufAttrList list = nullptr, reconciled = nullptr, conflicts = nullptr;
    NvSciBufObj object = nullptr;
    NvSciBufType type = NvSciBufType_RawBuffer;
    uint64_t size = 256, align = 64;
    NvSciBufAttrKeyValuePair pairs[] = {
        {NvSciBufGeneralAttrKey_Types, &type, sizeof(type)},
        {NvSciBufRawBufferAttrKey_Size, &size, sizeof(size)},
        {NvSciBufRawBufferAttrKey_Align, &align, sizeof(align)}};
    EXPECT(NvSciBufModuleOpen(&module) == NvSciError_Success);
    EXPECT(NvSciBufAttrListCreate(module, &list) == NvSciError_Success);
    EXPECT(NvSciBufAttrListSetAttrs(list, pairs, 3) == NvSciError_Success);
    nvsci::mem::FillAttributes(list);
    EXPECT(NvSciBufAttrListReconcile(&list, 1, &reconciled, &conflicts) == NvSciError_Success);
    EXPECT(NvSciBufObjAlloc(reconciled, &object) == NvSciError_Success);
    auto *device = static_cast<uint8_t *>(nvsci::mem::Import(object));
    mem::PointerAttributes attributes{};
    mem::GetPointerAttributes(device, attributes);
    EXPECT(attributes.size == 256);
    static_cast<uint8_t *>(attributes.hostPtr)[1] = 6;
    CmdMemcpy copy = CmdMemcpy::Create(device + 100, device, 8);
    EXPECT(outcome({&copy}) == Error::None);
    void *cpu = nullptr;
    EXPECT(NvSciBufObjGetCpuPtr(object, &cpu) == NvSciError_Success);
    EXPECT(static_cast<uint8_t *>(cpu)[101] == 6);
    mem::Free(device);
    REFUSED(Error::InvalidArgument, "buff", nvsci::mem::Import(nullptr));
    REFUSED(Error::InvalidArgument, "sciBufAttr", nvsci::mem::FillAttributes(nullptr));
    NvSciBufObjFree(object);
    NvSciBufAttrListFree(list);
    NvSciBufAttrListFree(reconciled);
    NvSciBufModuleClose(module);
}

// --- programs as people write them ---

CASE(objects_of_threads)
{
    std::atomic<int> good{0};
    auto const work = [&good] {
        try {
            thread_local Executable exec =
                Executable::Create(PVA_EXECUTABLE_DATA(subject), PVA_EXECUTABLE_SIZE(subject));
            thread_local CmdProgram prog = CmdProgram::Create(exec);
            SetVPUPrintBufferSize(64 * 1024);
            if (outcome({&prog}) == Error::None)
                good++;
        } catch (std::exception const &e) {
            std::cerr << e.what() << "\n";
        }
    };
    std::thread first(work), second(work);
    first.join();
    second.join();
    EXPECT(good == 2);
}

CASE(objects_that_live_until_the_program_ends)
{
    static CmdProgram prog = program();
    static SyncObj sync = SyncObj::Create();
    static Fence fence{sync};
    static CmdRequestFences rf{fence};
    static Stream stream = Stream::Create();
    stream.submit({&prog, &rf});
    EXPECT(fence.wait());
    stream.submit({&prog, &rf}); // ends on its own
}

/* A submission runs what was set when it was submitted, not what is set while it waits. */
CASE(parameters_of_submissions_that_wait)
{
    Shared shared(WAITER);
    NvSciSyncFence sci = NvSciSyncFenceInitializer;
    EXPECT(NvSciSyncObjGenerateFence(shared.object, &sci) == NvSciError_Success);
    Fence fence;
    nvsci::Import(fence, sci);
    CmdWaitOnFences wait(fence);
    CmdProgram prog = program();
    Stream stream = Stream::Create(PVA0, VPU0);
    CmdStatus first[2] = {nullptr, nullptr}, second[1] = {nullptr};
    prog["answer"] = 0;
    stream.submit({&wait, &prog}, first);
    prog["answer"] = 5;
    stream.submit({&prog}, second);
    prog["answer"] = 0;
    EXPECT(NvSciSyncObjSignal(shared.object) == NvSciError_Success);
    stream.synchronize();
    EXPECT(CheckCommandStatus(first[1]) == Error::None);
    EXPECT(CheckCommandStatus(second[0]) == Error::VpuApplicationError);
    NvSciSyncFenceClear(&sci);
}

/* The last case: nothing ends it. */
CASE(without_cuda)
{
    CmdProgram prog = program();
    CudaWork cuda;
    cuda::ForceDisableSupport();
    EXPECT(!cuda::ContextSupportsCuda());
    REFUSED(Error::CudaDisabled, "", cuda::Submit(cuda.stream, prog));
    REFUSED(Error::CudaDisabled, "", cuda::CreateStream(cuda.stream));
    REFUSED(Error::CudaDisabled, "", cuda::mem::Import(cuda.memory, 64));
}
