// The rules of TensorDataFlow's reference, each through the C++ class.
#include "cases.hpp"

// 16 x 12 x 6 pixels in tiles of 4 x 4 x 3, read or written.
struct Tensor {
    explicit Tensor(bool reads = true)
        : program(CmdProgram::Create(subject())), flow(program.addDataFlowHead<TensorDataFlow>())
    {
        flow.handler(program["tensor_handler"])
            .tileBuffer(program["tile"].ptr<uint8_t>())
            .tile(4, 4, 3);
        if (reads)
            flow.src(memory.device, 16, 12, 6);
        else
            flow.dst(memory.device, 16, 12, 6);
    }
    void compiles() { program.compileDataFlows(); }
    void refuses(char const *words)
    {
        REFUSED(Error::InvalidArgument, words, program.compileDataFlows());
    }
    Buffer<uint8_t> memory{1 << 20};
    CmdProgram program;
    TensorDataFlow &flow;
};

CASE(a_flow_that_no_program_made_is_in_an_invalid_state)
{
    TensorDataFlow none;
    Buffer<uint8_t> memory{64};
    OffsetPointer<uint8_t> pointer{memory.device};
    CmdProgram program = CmdProgram::Create(subject());
    Error const state = Error::InvalidState;
    REFUSED(state, "addDataFlow", none.handler(program["tensor_handler"]));
    REFUSED(state, "addDataFlow", none.src(memory.device, 1, 1, 1));
    REFUSED(state, "addDataFlow", none.src(pointer, 1, 1, 1));
    REFUSED(state, "addDataFlow", none.dst(memory.device, 1, 1, 1));
    REFUSED(state, "addDataFlow", none.halo(1));
    REFUSED(state, "addDataFlow", none.halo(1, 1));
    REFUSED(state, "addDataFlow", none.roi(0, 0, 1, 1));
    REFUSED(state, "addDataFlow", none.tile(1, 1));
    REFUSED(state, "addDataFlow", none.tileBuffer(memory.device));
}

CASE(reading_and_writing)
{
    Tensor reads, writes(false);
    EXPECT(&reads.flow.halo(1) == &reads.flow);
    EXPECT(&reads.flow.halo(1, 2, PadModeType::PAD_BPE) == &reads.flow);
    EXPECT(&reads.flow.roi(0, 0, 16, 12) == &reads.flow);
    reads.compiles();
    writes.compiles();
}

CASE(exactly_one_of_src_and_dst)
{
    Tensor both;
    both.flow.dst(both.memory.device, 16, 12, 6);
    both.refuses("both of src() and dst()");
    CmdProgram program = CmdProgram::Create(subject());
    program.addDataFlowHead<TensorDataFlow>()
        .handler(program["tensor_handler"])
        .tileBuffer(program["tile"].ptr<uint8_t>())
        .tile(4, 4);
    REFUSED(Error::InvalidArgument, "neither of src() and dst()", program.compileDataFlows());
}

CASE(the_tensor_is_outside_vmem)
{
    Tensor at;
    at.flow.src(at.program["second"].ptr<uint8_t>(), 16, 12, 6);
    at.refuses("must be in DRAM or L2SRAM");
}

CASE(the_tile_buffer_is_in_vmem)
{
    Tensor at;
    at.flow.tileBuffer(at.memory.device);
    at.refuses("does not point into VMEM");
}

CASE(the_tile_buffer_is_large_enough)
{
    Tensor at;
    at.flow.tileBuffer(at.program["tile"].ptr<uint8_t>() + 8192 - 47); // a tile has 48 pixels
    at.refuses("TDF_SINGLE");
}

CASE(a_handler_of_its_kind)
{
    Tensor at;
    at.flow.handler(at.program["raster_handler"]);
    at.refuses("raster_handler");
    CmdProgram program = CmdProgram::Create(subject());
    Buffer<uint8_t> memory{64};
    program.addDataFlowHead<TensorDataFlow>()
        .src(memory.device, 8, 8, 1)
        .tileBuffer(program["tile"].ptr<uint8_t>())
        .tile(4, 4);
    REFUSED(Error::InvalidArgument, "handler() was not called", program.compileDataFlows());
}

CASE(halo_less_than_tile_not_more_than_roi)
{
    Tensor x, y, wide, high;
    x.flow.halo(4, 0);
    x.refuses("halo < tile <= roi does not hold in width");
    y.flow.halo(0, 4);
    y.refuses("halo < tile <= roi does not hold in height");
    wide.flow.roi(0, 0, 3, 12);
    wide.refuses("does not hold in width");
    high.flow.roi(0, 0, 16, 3);
    high.refuses("does not hold in height");
}

CASE(no_negative_halo)
{
    Tensor at;
    at.flow.halo(-1);
    at.refuses("halo");
    REFUSED(Error::InvalidArgument, "padding mode", at.flow.halo(1, static_cast<PadModeType>(0)));
}

CASE(a_tile_is_not_larger_than_the_tensor)
{
    Tensor deep;
    deep.flow.tile(4, 4, 7);
    deep.refuses("tile depth 7 is more than the tensor's 6");
    Tensor wide;
    wide.flow.roi(-2, 0, 20, 12).tile(17, 4, 3);
    wide.refuses("tile width 17");
}

CASE(a_tile_has_a_size)
{
    Tensor none, negative;
    none.flow.tile(0, 4);
    none.refuses("tile");
    negative.flow.tile(4, 4, -1);
    negative.refuses("tile");
}

CASE(a_tile_is_less_than_256_deep)
{
    Tensor at;
    at.flow.src(at.memory.device, 4, 4, 256).tile(4, 4);
    at.refuses("less than 256");
    Tensor fits;
    fits.flow.src(fits.memory.device, 4, 4, 255).tile(4, 4);
    fits.compiles();
}

CASE(at_most_256_tiles_in_a_dimension)
{
    Tensor wide, high, deep, most;
    wide.flow.src(wide.memory.device, 257, 2, 1).tile(1, 1);
    wide.refuses("257 tiles in width");
    high.flow.src(high.memory.device, 2, 257, 1).tile(1, 1);
    high.refuses("257 tiles in height");
    deep.flow.src(deep.memory.device, 2, 2, 257).tile(1, 1, 1);
    deep.refuses("257 tiles in depth");
    most.flow.src(most.memory.device, 256, 256, 1).tile(1, 1);
    most.compiles();
}

CASE(strides)
{
    Tensor row, pitch, plane, deep, none;
    row.flow.src(row.memory.device, 16, 12, 6, 15);
    row.refuses("rowStride");
    pitch.flow.src(pitch.memory.device, 16, 12, 1, 65536).tile(4, 4);
    pitch.refuses("1 to 65535");
    plane.flow.src(plane.memory.device, 16, 12, 6, 16, 16 * 256);
    plane.refuses("depthStride 4096");
    deep.flow.src(deep.memory.device, 4, 4, 256).tile(4, 4, 1);
    deep.refuses("depth 256");
    none.flow.src(none.memory.device, 0, 12, 6);
    none.refuses("tensor of 0 x 12 x 6");
}

CASE(every_tile_of_a_read_roi_touches_the_tensor)
{
    Tensor left, top, right, bottom, most;
    left.flow.roi(-4, 0, 16, 12);
    left.refuses("roi x -4 + tile 4");
    top.flow.roi(0, -4, 16, 12);
    top.refuses("roi y -4 + tile 4");
    right.flow.roi(0, 0, 17, 12);
    right.refuses("the last tile in x begins at 16");
    bottom.flow.roi(0, 0, 16, 13);
    bottom.refuses("the last tile in y begins at 12");
    most.flow.roi(-3, -3, 16, 12);
    most.compiles();
    most.flow.roi(-1, -1, 20, 16);
    most.compiles();
}

CASE(a_written_roi_lies_in_the_tensor)
{
    for (auto const &roi : {std::array<int32_t, 4>{-1, 0, 8, 8}, std::array<int32_t, 4>{0, -1, 8, 8},
                            std::array<int32_t, 4>{9, 0, 8, 8}, std::array<int32_t, 4>{0, 5, 8, 8}}) {
        Tensor at(false);
        at.flow.roi(roi[0], roi[1], roi[2], roi[3]);
        at.refuses("leaves the destination");
    }
    Tensor inside(false);
    inside.flow.roi(8, 4, 8, 8);
    inside.compiles();
}

CASE(no_halo_for_writing)
{
    Tensor at(false);
    at.flow.halo(1);
    at.refuses("dst() with a halo");
    Tensor zero(false);
    zero.flow.halo(0, PadModeType::PAD_BPE);
    zero.compiles();
}

CASE(a_tile_leaves_one_side_of_an_axis)
{
    Tensor wide, high;
    wide.flow.src(wide.memory.device, 4, 12, 6).tile(4, 4, 3).halo(1, 0);
    wide.refuses("left and right");
    high.flow.src(high.memory.device, 16, 4, 6).tile(4, 4, 3).halo(0, 1);
    high.refuses("top and bottom");
}

CASE(at_most_255_pixels_of_padding)
{
    Tensor at;
    at.flow.src(at.memory.device, 300, 2, 1).tile(300, 2).roi(-256, 0, 300, 2);
    at.refuses("0 to 255");
    Tensor fits;
    fits.flow.src(fits.memory.device, 300, 2, 1).tile(300, 2).roi(-255, 0, 300, 2);
    fits.compiles();
}

CASE(memory_is_as_large_as_the_tensor)
{
    Tensor at;
    Buffer<uint8_t> small{16 * 12 * 6 - 1};
    at.flow.src(small.device, 16, 12, 6);
    at.refuses("touches bytes");
}

CASE(pointers_to_no_device_memory)
{
    Tensor at;
    uint8_t local = 0;
    at.flow.src(&local, 16, 12, 6);
    at.refuses("no device pointer");
    at.flow.src(static_cast<uint8_t *>(nullptr), 16, 12, 6);
    at.refuses("");
    at.flow.src(at.memory.host, 16, 12, 6);
    at.refuses("host's view");
}

CASE(huge_sizes)
{
    Tensor at;
    at.flow.src(at.memory.device, INT32_MAX, INT32_MAX, INT32_MAX);
    at.refuses("");
    at.flow.src(at.memory.device, 16, 12, 6).roi(INT32_MIN, INT32_MIN, INT32_MAX, INT32_MAX);
    at.refuses("");
}

CASE(the_size_of_a_pixel_is_that_of_the_type)
{
    Tensor at;
    OffsetPointer<int32_t> const pointer{reinterpret_cast<int32_t *>(at.memory.device)};
    at.flow.src(pointer, 16, 12, 6);
    at.compiles();
    at.flow.src(reinterpret_cast<double *>(at.memory.device), 16, 12, 6);
    at.refuses("pixels of 8 bytes");
}
