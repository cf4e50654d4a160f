// RasterDataFlow and the other dataflow classes.
#include "cases.hpp"

struct Raster {
    Raster() : program(CmdProgram::Create(subject())), flow(program.addDataFlowHead<RasterDataFlow>())
    {
        flow.handler(program["raster_handler"])
            .src(memory.device, 64, 32, 64)
            .tileBuffer(program["tile"].ptr<uint8_t>())
            .tile(16, 8);
    }
    void refuses(char const *words)
    {
        REFUSED(Error::InvalidArgument, words, program.compileDataFlows());
    }
    Buffer<uint8_t> memory{64 * 32};
    CmdProgram program;
    RasterDataFlow &flow;
};

CASE(setters_and_their_overloads)
{
    Raster at;
    at.flow.halo(1).halo(1, 2).halo(1, PadModeType::PAD_BPE).halo(1, 2, PadModeType::PAD_CONST, 9);
    at.flow.roi(0, 0, 32, 32).scanOrder(HORIZONTAL_REVERSED | VERTICAL_REVERSED | COLUMN_MAJOR);
    at.program.compileDataFlows();
    OffsetPointer<uint8_t> const pointer{at.memory.device};
    at.flow.src(pointer, 64, 32);
    at.program.compileDataFlows();
}

CASE(a_vector)
{
    Raster at;
    at.flow.src(at.memory.device, 1000).tile(100);
    at.program.compileDataFlows();
}

CASE(a_flow_that_no_program_made_is_in_an_invalid_state)
{
    RasterDataFlow none;
    Buffer<uint8_t> memory{8};
    REFUSED(Error::InvalidState, "addDataFlow", none.src(memory.device, 8));
    REFUSED(Error::InvalidState, "addDataFlow", none.tile(1));
    REFUSED(Error::InvalidState, "addDataFlow", none.scanOrder(0));
    SequenceDataFlow sequence;
    REFUSED(Error::InvalidState, "addDataFlow", sequence.addTransfer());
    REFUSED(Error::InvalidState, "addDataFlow", SequenceDataFlowTransfer().tile(1));
    GatherScatterDataFlow gather;
    REFUSED(Error::InvalidState, "addDataFlow", gather.bpp(1));
    ConfigDataFlow config;
    REFUSED(Error::InvalidState, "addDataFlow", config.id());
}

CASE(rules)
{
    Raster at;
    REFUSED(Error::InvalidArgument, "src() and dst()", at.flow.dst(at.memory.device, 64, 32));
    REFUSED(Error::InvalidArgument, "line pitch", at.flow.src(at.memory.device, 64, 32, 63));
    REFUSED(Error::InvalidArgument, "tile", at.flow.tile(0, 1));
    REFUSED(Error::InvalidArgument, "halo", at.flow.halo(-1));
    REFUSED(Error::InvalidArgument, "halo", at.flow.halo(256));
    REFUSED(Error::InvalidArgument, "scan order", at.flow.scanOrder(8));
    at.flow.tile(64, 32).halo(50);
    at.refuses("RDF_SINGLE");
}

CASE(what_is_not_there)
{
    Raster at;
    PlanarGeometry geometry{};
    uint8_t *tile = at.program["tile"].ptr<uint8_t>();
    Error const unsupported = Error::UnsupportedFeature;
    REFUSED(unsupported, "surface", at.flow.src(at.memory.device, geometry));
    REFUSED(unsupported, "surface", at.flow.dst(at.memory.device, geometry));
    REFUSED(unsupported, "transposition", at.flow.tileBuffer(tile, TRANS_MODE_2));
    at.flow.tileBuffer(tile, TRANS_MODE_NONE);
    StaticDataFlow &list = at.program.addDataFlow<StaticDataFlow>();
    ConfigDataFlow &config = at.program.addDataFlow<ConfigDataFlow>();
    REFUSED(unsupported, "ConfigDataFlow", list.link(config));
    GatherScatterDataFlow &gather = at.program.addDataFlowHead<GatherScatterDataFlow>();
    OffsetPointer<uint8_t> const pointer{at.memory.device};
    REFUSED(unsupported, "surface", gather.src(pointer, mem::BufferType::SURFACE));
}

CASE(gather_scatter)
{
    Raster at;
    GatherScatterDataFlow &flow = at.program.addDataFlowHead<GatherScatterDataFlow>();
    REFUSED(Error::InvalidArgument, "1 to 32", flow.numTilesPerTrigger(33));
    REFUSED(Error::InvalidArgument, "1 to 32", flow.numTilesPerTrigger(0));
    REFUSED(Error::InvalidArgument, "bpp", flow.bpp(3));
    flow.src(at.memory.device).extents(64, 32);
    REFUSED(Error::InvalidArgument, "src() and dst()", flow.dst(at.memory.device));
    at.refuses("handler() was not called");
}

CASE(sequences_need_a_handler_and_a_transfer)
{
    CmdProgram program = CmdProgram::Create(subject());
    SequenceDataFlow &flow = program.addDataFlowHead<SequenceDataFlow>();
    REFUSED(Error::InvalidArgument, "handler() was not called", program.compileDataFlows());
    flow.handler(program["handler"]);
    REFUSED(Error::InvalidArgument, "no transfer", program.compileDataFlows());
}

CASE(transfers_are_shallow_handles)
{
    Buffer<uint8_t> memory{64};
    CmdProgram program = CmdProgram::Create(subject());
    SequenceDataFlow &flow = program.addDataFlowHead<SequenceDataFlow>();
    SequenceDataFlowTransfer first = flow.addTransfer(), same = first;
    same.bpp(1)
        .tile(4, 2)
        .mode(TransferModeType::DIM1)
        .src(memory.device, 8)
        .srcDim1(2, 4)
        .srcDim2(1, 0)
        .srcDim3(1, 0)
        .dst(program["tile"].ptr<uint8_t>(), 4)
        .dstDim1(2, 8)
        .dstDim2(1, 0)
        .dstDim3(1, 0);
    SequenceDataFlowTransfer second = flow.addTransfer();
    second.copy(first);
    REFUSED(Error::InvalidArgument, "iterates", second.srcDim1(0, 1));
    REFUSED(Error::InvalidArgument, "transfer mode", second.mode(static_cast<TransferModeType>(9)));
    OffsetPointer<uint8_t> const pointer{memory.device};
    second.src(pointer, 8).dst(OffsetPointer<uint8_t>{program["second"].ptr<uint8_t>()}, 4);
}

CASE(only_primitive_flows_have_lists)
{
    Raster at;
    cupvaDataFlow_t head = nullptr, other = nullptr;
    cupvaCmd_t program{};
    EXPECT(CupvaCmdProgramCreate(&program, nullptr) == CUPVA_ERROR_NONE);
    EXPECT(CupvaCmdProgramAddDataFlowHead(&program, &head, CUPVA_RASTER_DATAFLOW, 0, 1)
           == CUPVA_ERROR_NONE);
    EXPECT(CupvaCmdProgramAddDataFlow(&program, &other, CUPVA_STATIC_DATAFLOW) == CUPVA_ERROR_NONE);
    EXPECT(CupvaDataFlowLink(head, other) == CUPVA_INVALID_ARGUMENT);
    EXPECT(CupvaDataFlowAppend(other, head) == CUPVA_INVALID_ARGUMENT);
    EXPECT(CupvaCmdDestroy(&program) == CUPVA_ERROR_NONE);
}

CASE(shared_heads)
{
    Raster at;
    RasterDataFlow &second = at.program.addDataFlowHeadShared<RasterDataFlow>(at.flow);
    second.handler(at.program["raster_handler"])
        .src(at.memory.device, 64, 32)
        .tileBuffer(at.program["second"].ptr<uint8_t>())
        .tile(16, 8);
    REFUSED(Error::InvalidArgument, "is the handler of RasterDataFlow 0 already",
            at.program.compileDataFlows());
    second.handler(at.program["second_raster_handler"]);
    at.program.compileDataFlows();
    StaticDataFlow none;
    REFUSED(Error::InvalidState, "addDataFlow",
            at.program.addDataFlowHeadShared<RasterDataFlow>(none));
}
