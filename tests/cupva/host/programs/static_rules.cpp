// The rules of StaticDataFlow's reference, each through the C++ class.
#include "cases.hpp"

// A flow from DRAM to DRAM that would compile: 4 tiles of 4 x 2 pixels of 1 byte.
struct Flow {
    Flow() : program(CmdProgram::Create()), flow(program.addDataFlowHead<StaticDataFlow>())
    {
        flow.bpp(1)
            .tile(4, 2)
            .src(from.device)
            .srcLinePitch(8)
            .srcDim1(2, 4)
            .srcDim2(2, 16)
            .dst(to.device)
            .dstLinePitch(4)
            .dstDim1(4, 8);
        for (int i = 0; i < 64; i++)
            from.host[i] = static_cast<uint8_t>(i);
    }
    Buffer<uint8_t> from{64}, to{64};
    CmdProgram program;
    StaticDataFlow &flow;
};

// The same into VMEM, triggered.
struct VmemFlow {
    VmemFlow()
        : program(CmdProgram::Create(subject())), flow(program.addDataFlowHead<StaticDataFlow>())
    {
        flow.handler(program["handler"])
            .bpp(1)
            .tile(4, 2)
            .src(from.device)
            .srcLinePitch(8)
            .srcDim1(2, 4)
            .dst(program["tile"].ptr<uint8_t>())
            .dstLinePitch(4)
            .dstDim1(2, 8);
    }
    Buffer<uint8_t> from{64};
    CmdProgram program;
    StaticDataFlow &flow;
};

CASE(an_explanation_begins_with_the_method_that_was_called)
{
    Flow good;
    StaticDataFlow none;
    REFUSED(Error::InvalidState, "DataFlow::srcLinePitch: dataFlow was not", none.srcLinePitch(8));
    REFUSED(Error::InvalidArgument, "StaticDataFlow::bpp: ", good.flow.bpp(0));
    REFUSED(Error::InvalidArgument, "StaticDataFlow::dstDim2: ", good.flow.dstDim2(-1, 4));
    REFUSED(Error::InvalidArgument, "StaticDataFlow::srcCircularBuffer: ",
            good.flow.srcCircularBuffer(0, -1));
    REFUSED(Error::InvalidArgument, "RasterDataFlow::halo: ",
            good.program.addDataFlowHead<RasterDataFlow>().halo(-1));
}

CASE(a_flow_that_no_program_made_is_in_an_invalid_state)
{
    StaticDataFlow none;
    Flow good;
    Buffer<uint8_t> buffer{16};
    OffsetPointer<uint8_t> pointer{buffer.device};
    CmdProgram program = CmdProgram::Create(subject());
    Error const state = Error::InvalidState;
    REFUSED(state, "addDataFlow", none.link(good.flow));
    REFUSED(state, "addDataFlow", good.flow.link(none));
    REFUSED(state, "addDataFlow", none.append(good.flow));
    REFUSED(state, "addDataFlow", good.flow.append(none));
    REFUSED(state, "addDataFlow", none.handler(program["handler"]));
    REFUSED(state, "addDataFlow", none.bpp(1));
    REFUSED(state, "addDataFlow", none.tile(1));
    REFUSED(state, "addDataFlow", none.padDim(PAD_TOP, 1));
    REFUSED(state, "addDataFlow", none.padVal(PadModeType::PAD_BPE));
    REFUSED(state, "addDataFlow", none.granularity(GranType::ALL));
    REFUSED(state, "addDataFlow", none.src(buffer.device));
    REFUSED(state, "addDataFlow", none.src(pointer));
    REFUSED(state, "addDataFlow", none.id());
    REFUSED(state, "addDataFlow", none.srcLinePitch(1));
    REFUSED(state, "addDataFlow", none.srcDim1(1, 1));
    REFUSED(state, "addDataFlow", none.srcDim2(1, 1));
    REFUSED(state, "addDataFlow", none.srcDim3(1, 1));
    REFUSED(state, "addDataFlow", none.srcCircularBuffer(0, 1));
    REFUSED(state, "addDataFlow", none.dst(buffer.device));
    REFUSED(state, "addDataFlow", none.dst(pointer));
    REFUSED(state, "addDataFlow", none.dstLinePitch(1));
    REFUSED(state, "addDataFlow", none.dstDim1(1, 1));
    REFUSED(state, "addDataFlow", none.dstDim2(1, 1));
    REFUSED(state, "addDataFlow", none.dstDim3(1, 1));
    REFUSED(state, "addDataFlow", none.dstCircularBuffer(0, 1));
    REFUSED(state, "addDataFlow", none.copy(good.flow));
    REFUSED(state, "addDataFlow", good.flow.copy(none));
}

CASE(members_of_the_class)
{
    static_assert(StaticDataFlow::isPrimitive, "");
    static_assert(!RasterDataFlow::isPrimitive && !TensorDataFlow::isPrimitive, "");
    static_assert(StaticDataFlow::TILE == GranType::TILE && StaticDataFlow::DIM1 == GranType::DIM1
                      && StaticDataFlow::DIM2 == GranType::DIM2
                      && StaticDataFlow::ALL == GranType::ALL,
                  "");
    bool const &primitive = StaticDataFlow::isPrimitive; // needs a definition in C++14
    GranType const *address = &StaticDataFlow::DIM2;
    EXPECT(primitive && *address == GranType::DIM2);
}

CASE(every_setter_returns_its_object)
{
    VmemFlow at;
    StaticDataFlow &flow = at.flow;
    EXPECT(&flow.granularity(StaticDataFlow::ALL) == &flow);
    EXPECT(&flow.padDim(PAD_LEFT, 1) == &flow);
    EXPECT(&flow.padVal(PadModeType::PAD_CONST) == &flow);
    EXPECT(&flow.srcDim3(1, 0) == &flow);
    EXPECT(&flow.dstDim3(1, 0) == &flow);
    EXPECT(&flow.link(at.program.addDataFlow<StaticDataFlow>()) == &flow);
    EXPECT(&flow.append(at.program.addDataFlow<StaticDataFlow>()) == &flow);
}

CASE(a_handler_that_is_no_variable)
{
    VmemFlow at;
    REFUSED(Error::UninitializedObject, "handler", at.flow.handler(Parameter()));
}

CASE(a_handler_of_another_kind)
{
    VmemFlow at;
    at.flow.handler(at.program["tensor_handler"]);
    REFUSED(Error::InvalidArgument, "tensor_handler", at.program.compileDataFlows());
}

CASE(a_handler_without_vmem_on_any_side)
{
    Buffer<uint8_t> from{4}, to{4};
    CmdProgram program = CmdProgram::Create(subject());
    program.addDataFlowHead<StaticDataFlow>()
        .handler(program["handler"])
        .tile(4)
        .src(from.device)
        .dst(to.device);
    REFUSED(Error::InvalidArgument, "VMEM", program.compileDataFlows());
}

CASE(pixels_of_no_size)
{
    Flow at;
    REFUSED(Error::InvalidArgument, "bpp is 0", at.flow.bpp(0));
    REFUSED(Error::InvalidArgument, "bpp is -1", at.flow.bpp(-1));
}

CASE(pixels_may_be_structures)
{
    struct Pixel {
        char values[12];
    };
    Buffer<Pixel> from{8}, to{8};
    std::memset(from.host, 7, 8 * sizeof(Pixel));
    CmdProgram program = CmdProgram::Create();
    program.addDataFlowHead<StaticDataFlow>()
        .bpp(sizeof(Pixel))
        .tile(8)
        .src(from.device)
        .dst(to.device);
    program.compileDataFlows();
    EXPECT(outcome({&program}) == Error::None);
    EXPECT(std::memcmp(from.host, to.host, 8 * sizeof(Pixel)) == 0);
}

CASE(tiles_of_no_size)
{
    Flow at;
    for (auto const &size : {std::make_pair(-1, 1), std::make_pair(1, -1), std::make_pair(0, 1),
                             std::make_pair(4, 0), std::make_pair(65536, 1)})
        REFUSED(Error::InvalidArgument, "tile is", at.flow.tile(size.first, size.second));
    at.flow.tile(0, 0); // a dummy transfer
    at.program.compileDataFlows();
    EXPECT(outcome({&at.program}) == Error::None);
    EXPECT(at.to.host[9] == 0);
}

CASE(a_dummy_transfer_needs_nothing)
{
    CmdProgram program = CmdProgram::Create();
    program.addDataFlowHead<StaticDataFlow>();
    program.compileDataFlows();
    EXPECT(outcome({&program}) == Error::None);
}

CASE(padding_on_opposite_sides_in_one_call)
{
    VmemFlow at;
    REFUSED(Error::InvalidArgument, "TOP", at.flow.padDim(PAD_TOP | PAD_BOTTOM, 1));
    REFUSED(Error::InvalidArgument, "LEFT", at.flow.padDim(PAD_LEFT | PAD_RIGHT, 1));
    REFUSED(Error::InvalidArgument, "one call",
            at.flow.padDim(PAD_TOP | PAD_LEFT | PAD_BOTTOM, 1));
    at.flow.padDim(PAD_TOP, 1).padDim(PAD_LEFT, 1).padDim(PAD_TOP | PAD_LEFT, 1);
    at.program.compileDataFlows();
}

CASE(padding_on_opposite_sides_in_two_calls)
{
    VmemFlow at;
    at.flow.padDim(PAD_TOP, 1).padDim(PAD_BOTTOM, 1);
    REFUSED(Error::InvalidArgument, "both TOP and BOTTOM", at.program.compileDataFlows());
    VmemFlow wide;
    wide.flow.padDim(PAD_LEFT, 1).padDim(PAD_RIGHT, 2);
    REFUSED(Error::InvalidArgument, "both", wide.program.compileDataFlows());
}

CASE(padding_out_of_range)
{
    VmemFlow at;
    REFUSED(Error::InvalidArgument, "0 to 255", at.flow.padDim(PAD_LEFT, 256));
    REFUSED(Error::InvalidArgument, "0 to 255", at.flow.padDim(PAD_LEFT, -1));
    REFUSED(Error::InvalidArgument, "direction",
            at.flow.padDim(static_cast<PadDirType>(16), 1));
    at.flow.padDim(PAD_LEFT, 4); // all of the tile's width
    REFUSED(Error::InvalidArgument, "real pixel", at.program.compileDataFlows());
}

CASE(padding_needs_vmem)
{
    Flow at;
    at.flow.padDim(PAD_LEFT, 1);
    REFUSED(Error::InvalidArgument, "VMEM", at.program.compileDataFlows());
}

CASE(modes_that_do_not_exist)
{
    VmemFlow at;
    REFUSED(Error::InvalidArgument, "padding mode", at.flow.padVal(static_cast<PadModeType>(3)));
    REFUSED(Error::InvalidArgument, "granularity", at.flow.granularity(static_cast<GranType>(0)));
    REFUSED(Error::InvalidArgument, "granularity", at.flow.granularity(static_cast<GranType>(5)));
}

CASE(pointers_to_no_device_memory)
{
    Flow at;
    int local = 0;
    Buffer<uint8_t> buffer{16};
    void *freed = mem::Alloc(16);
    mem::Free(freed);
    Error const invalid = Error::InvalidArgument;
    for (void *pointer : {static_cast<void *>(nullptr), static_cast<void *>(&local),
                          static_cast<void *>(buffer.host), freed}) {
        REFUSED(invalid, "", at.flow.src(pointer));
        REFUSED(invalid, "", at.flow.dst(pointer));
    }
    REFUSED(invalid, "", at.flow.dst(buffer.device, &local));
    REFUSED(invalid, "", at.flow.src(OffsetPointer<uint8_t>()));
    REFUSED(invalid, "", at.flow.dst(OffsetPointer<uint8_t>()));
}

CASE(a_pointer_that_was_never_set)
{
    CmdProgram program = CmdProgram::Create();
    program.addDataFlowHead<StaticDataFlow>().tile(1);
    REFUSED(Error::InvalidArgument, "source pointer", program.compileDataFlows());
}

CASE(memory_that_was_freed_before_compilation)
{
    CmdProgram program = CmdProgram::Create();
    StaticDataFlow &flow = program.addDataFlowHead<StaticDataFlow>();
    {
        Buffer<uint8_t> from{4}, to{4};
        flow.tile(4).src(from.device).dst(to.device);
    }
    REFUSED(Error::InvalidArgument, "live allocation", program.compileDataFlows());
}

CASE(patterns_that_leave_their_buffer)
{
    Flow at;
    at.flow.srcDim2(2, 50);
    REFUSED(Error::InvalidArgument, "source touches bytes", at.program.compileDataFlows());
    Flow back;
    back.flow.dstDim1(4, -8);
    REFUSED(Error::InvalidArgument, "destination touches bytes", back.program.compileDataFlows());
}

CASE(line_pitches_out_of_range)
{
    Flow at;
    for (int32_t pitch : {-1, 65536}) {
        REFUSED(Error::InvalidArgument, "0 to 65535", at.flow.srcLinePitch(pitch));
        REFUSED(Error::InvalidArgument, "0 to 65535", at.flow.dstLinePitch(pitch));
    }
    at.flow.srcLinePitch(65535).dstLinePitch(0);
}

CASE(iterations_out_of_range)
{
    Flow at;
    StaticDataFlow &flow = at.flow;
    for (int32_t niter : {0, -1, 257}) {
        REFUSED(Error::InvalidArgument, "1 to 256", flow.srcDim1(niter, 1));
        REFUSED(Error::InvalidArgument, "1 to 256", flow.srcDim2(niter, 1));
        REFUSED(Error::InvalidArgument, "1 to 256", flow.srcDim3(niter, 1));
        REFUSED(Error::InvalidArgument, "1 to 256", flow.dstDim1(niter, 1));
        REFUSED(Error::InvalidArgument, "1 to 256", flow.dstDim2(niter, 1));
        REFUSED(Error::InvalidArgument, "1 to 256", flow.dstDim3(niter, 1));
    }
    flow.srcDim1(256, 1).dstDim1(1, 1);
    REFUSED(Error::InvalidArgument, "advances", flow.srcDim1(2, 1 << 23));
    REFUSED(Error::InvalidArgument, "advances", flow.dstDim1(2, -(1 << 23) - 1));
}

CASE(different_numbers_of_tiles)
{
    Flow at;
    at.flow.dstDim1(3, 8);
    REFUSED(Error::InvalidArgument, "4 tiles (2 x 2 x 1) and the destination 3",
            at.program.compileDataFlows());
}

CASE(circular_buffers_that_are_none)
{
    VmemFlow at;
    for (int32_t length : {0, -1}) {
        REFUSED(Error::InvalidArgument, "circular", at.flow.srcCircularBuffer(0, length));
        REFUSED(Error::InvalidArgument, "circular", at.flow.dstCircularBuffer(0, length));
    }
    at.flow.dstCircularBuffer(0, 4); // a tile has 8 pixels
    REFUSED(Error::InvalidArgument, "does not fit", at.program.compileDataFlows());
    VmemFlow outside;
    outside.flow.dstCircularBuffer(-8, 16);
    REFUSED(Error::InvalidArgument, "leaves", outside.program.compileDataFlows());
}

CASE(replication)
{
    VmemFlow at;
    uint8_t *tile = at.program["tile"].ptr<uint8_t>(), *second = at.program["second"].ptr<uint8_t>();
    at.flow.dst(tile, second);
    at.program.compileDataFlows();
    at.flow.dst(tile, second + 32);
    REFUSED(Error::InvalidArgument, "64", at.program.compileDataFlows());
    at.flow.dst(tile, at.from.device);
    REFUSED(Error::InvalidArgument, "not in VMEM", at.program.compileDataFlows());
    at.flow.bpp(4).srcDim1(1, 0).dstDim1(1, 0).dst(tile, second);
    REFUSED(Error::InvalidArgument, "1 or 2 bytes", at.program.compileDataFlows());
    Flow outside;
    outside.flow.dst(outside.to.device, second);
    REFUSED(Error::InvalidArgument, "VMEM", outside.program.compileDataFlows());
}

CASE(the_id_is_known_after_compilation)
{
    Flow at;
    REFUSED(Error::InvalidState, "compileDataFlows", at.flow.id());
    at.program.compileDataFlows();
    EXPECT(at.flow.id() >= 0);
}

CASE(the_order_of_transfer)
{
    Flow at;
    at.program.compileDataFlows();
    EXPECT(outcome({&at.program}) == Error::None);
    uint8_t const expected[] = {0,  1,  2,  3,  8,  9,  10, 11, 4,  5,  6,  7,  12, 13, 14, 15,
                                16, 17, 18, 19, 24, 25, 26, 27, 20, 21, 22, 23, 28, 29, 30, 31};
    EXPECT(std::memcmp(at.to.host, expected, sizeof(expected)) == 0);
}

CASE(links_run_one_after_the_other)
{
    Flow at;
    StaticDataFlow &next = at.program.addDataFlow<StaticDataFlow>();
    next.copy(at.flow);
    next.dst(at.to.device + 32).src(at.from.device + 32);
    at.flow.link(next);
    at.program.compileDataFlows();
    EXPECT(outcome({&at.program}) == Error::None);
    EXPECT(at.to.host[4] == 8 && at.to.host[36] == 40 && at.to.host[63] == 63);
}

CASE(a_dataflow_has_one_place_in_one_list)
{
    Flow at;
    StaticDataFlow &next = at.program.addDataFlow<StaticDataFlow>();
    at.flow.link(next);
    REFUSED(Error::InvalidArgument, "already in the list", at.flow.append(next));
    REFUSED(Error::InvalidArgument, "in front of", next.link(at.flow));
    REFUSED(Error::InvalidArgument, "", at.flow.link(at.flow));
    Flow two;
    StaticDataFlow &head = two.program.addDataFlowHead<StaticDataFlow>();
    StaticDataFlow &shared = two.program.addDataFlow<StaticDataFlow>();
    head.link(shared);
    two.flow.link(shared);
    REFUSED(Error::InvalidArgument, "one place", two.program.compileDataFlows());
}

CASE(a_dataflow_in_no_list)
{
    Flow at;
    at.program.addDataFlow<StaticDataFlow>();
    REFUSED(Error::InvalidArgument, "linked to no head", at.program.compileDataFlows());
}

CASE(more_lists_than_channels)
{
    CmdProgram program = CmdProgram::Create();
    for (int i = 0; i < 16; i++)
        program.addDataFlowHead<StaticDataFlow>();
    REFUSED(Error::InvalidArgument, "15 channels", program.compileDataFlows());
    CmdProgram phases = CmdProgram::Create();
    for (int i = 0; i < 16; i++)
        phases.addDataFlowHead<StaticDataFlow>(i % 2, 0.5F);
    phases.compileDataFlows();
    REFUSED(Error::InvalidArgument, "weight", phases.addDataFlowHead<StaticDataFlow>(0, 0.0F));
}

CASE(more_triggers_than_lines)
{
    Buffer<uint8_t> from{16};
    CmdProgram program = CmdProgram::Create(subject());
    for (int i = 0; i < 8; i++)
        program.addDataFlowHead<StaticDataFlow>()
            .handler(program["handler"])
            .tile(4)
            .src(from.device)
            .dst(program["tile"].ptr<uint8_t>());
    REFUSED(Error::InvalidArgument, "the VPU has 7", program.compileDataFlows());
}

CASE(copies_keep_what_the_source_had)
{
    Flow at;
    CmdProgram program = CmdProgram::Create();
    StaticDataFlow &flow = program.addDataFlowHead<StaticDataFlow>();
    flow.copy(at.flow);
    at.flow.tile(1, 1);
    program.compileDataFlows();
    EXPECT(outcome({&program}) == Error::None);
    EXPECT(at.to.host[4] == 8);
}

CASE(a_dataflow_of_no_program_is_copied_into_one)
{
    Buffer<uint8_t> from{16}, to{16};
    for (int i = 0; i < 16; i++)
        from.host[i] = static_cast<uint8_t>(i + 1);
    StaticDataFlow pattern = StaticDataFlow::Create();
    pattern.tile(4).srcDim1(4, 4).dstDim1(4, 4).src(from.device);
    StaticDataFlow moved = std::move(pattern);
    moved.dst(to.device);
    REFUSED(Error::InvalidState, "addDataFlow", pattern.tile(1));
    REFUSED(Error::InvalidState, "compileDataFlows", moved.id());
    CmdProgram prog = CmdProgram::Create();
    prog.addDataFlowHead<StaticDataFlow>().copy(moved);
    prog.compileDataFlows();
    EXPECT(outcome({&prog}) == Error::None);
    EXPECT(std::memcmp(from.host, to.host, 16) == 0);
}

CASE(granularity_is_what_a_trigger_moves)
{
    struct Expectation {
        GranType granularity;
        int32_t triggers;
    };
    for (Expectation const expectation : {Expectation{StaticDataFlow::TILE, 4},
                                          Expectation{StaticDataFlow::DIM1, 2},
                                          Expectation{StaticDataFlow::DIM2, 1},
                                          Expectation{StaticDataFlow::ALL, 1}}) {
        Buffer<uint8_t> from{64};
        CmdProgram program = CmdProgram::Create(subject());
        program.addDataFlowHead<StaticDataFlow>()
            .handler(program["handler"])
            .tile(4, 2)
            .granularity(expectation.granularity)
            .src(from.device)
            .srcLinePitch(8)
            .srcDim1(2, 4)
            .srcDim2(2, 16)
            .dst(program["tile"].ptr<uint8_t>())
            .dstDim1(2, 8)
            .dstDim2(2, 16);
        program.compileDataFlows();
        program["triggers"] = expectation.triggers;
        EXPECT(outcome({&program}) == Error::None);
        program["triggers"] = expectation.triggers - 1; // something is left
        EXPECT(outcome({&program}, 500 * 1000) == Error::CommandExecutionTimeout);
    }
}

CASE(an_offset_pointer_is_bound_anew)
{
    Buffer<uint8_t> from{64}, to{64}, later{64};
    for (int i = 0; i < 64; i++)
        from.host[i] = static_cast<uint8_t>(i);
    OffsetPointer<uint8_t> source{from.device}, target{to.device};
    CmdProgram program = CmdProgram::Create();
    program.addDataFlowHead<StaticDataFlow>().tile(8).src(source + 16).dst(target);
    program.compileDataFlows();
    EXPECT(outcome({&program}) == Error::None);
    EXPECT(to.host[0] == 16 && to.host[7] == 23);
    target.setBase(later.device);
    EXPECT(outcome({&program}) == Error::None);
    EXPECT(later.host[0] == 0);
    program.updateDataFlows();
    EXPECT(outcome({&program}) == Error::None);
    EXPECT(later.host[0] == 16 && later.host[7] == 23);
}
