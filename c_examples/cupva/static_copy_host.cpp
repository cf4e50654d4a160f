// Copies a picture through VMEM with StaticDataFlows, two buffers each way, and makes it one pixel
// wider on both sides: on the left with a constant, on the right with the nearest pixel.
#include <cupva_host.hpp>
#include <cupva_platform.h>

#include <iostream>

#include "static_copy.h"

using namespace cupva;

PVA_DECLARE_EXECUTABLE(static_copy_dev)

static constexpr int32_t LEFT = 99;

// A column of tiles of the picture, from top to bottom, into one buffer in VMEM.
static void column(CmdProgram &prog, char const *handler, char const *buffer, uint8_t const *picture)
{
    StaticDataFlow &flow = prog.addDataFlowHead<StaticDataFlow>();
    flow.handler(prog[handler])
        .bpp(sizeof(uint8_t))
        .tile(PADDED_WIDTH, TILE_HEIGHT)
        .granularity(StaticDataFlow::TILE)
        .src(picture)
        .srcLinePitch(WIDTH)
        .srcDim1(TILE_ROWS, TILE_HEIGHT * WIDTH)
        .dst(prog[buffer].ptr<uint8_t>())
        .dstLinePitch(PADDED_WIDTH)
        .dstDim1(TILE_ROWS, 0);
    bool const left = handler[0] == 'l';
    flow.padDim(left ? PAD_LEFT : PAD_RIGHT, 1);
    left ? flow.padVal(PadModeType::PAD_CONST, LEFT) : flow.padVal(PadModeType::PAD_BPE);
}

static int check(uint8_t const *picture, uint8_t const *copy)
{
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < PADDED_PICTURE_WIDTH; x++) {
            uint8_t const *row = picture + y * WIDTH;
            int const expected = x == 0 ? LEFT : x > WIDTH ? row[WIDTH - 1] : row[x - 1];
            int const found = copy[y * PADDED_PICTURE_WIDTH + x];
            if (found != expected) {
                std::cerr << "(" << x << ", " << y << "): " << found << ", expected " << expected
                          << "\n";
                return 1;
            }
        }
    }
    return 0;
}

int main()
{
    try {
        auto *picture = static_cast<uint8_t *>(mem::Alloc(WIDTH * HEIGHT));
        auto *copy = static_cast<uint8_t *>(mem::Alloc(PADDED_PICTURE_WIDTH * HEIGHT));
        auto *picture_host = static_cast<uint8_t *>(mem::GetHostPointer(picture));
        auto *copy_host = static_cast<uint8_t *>(mem::GetHostPointer(copy));
        for (int i = 0; i < WIDTH * HEIGHT; i++)
            picture_host[i] = static_cast<uint8_t>(i * 7 + i / WIDTH);

        Executable exec = Executable::Create(PVA_EXECUTABLE_DATA(static_copy_dev),
                                             PVA_EXECUTABLE_SIZE(static_copy_dev));
        CmdProgram prog = CmdProgram::Create(exec);
        column(prog, "left_handler", "left_tile", picture);
        column(prog, "right_handler", "right_tile", picture + TILE_WIDTH);

        // Tile after tile out of the two output buffers: left, right, left of the next row, ...
        StaticDataFlow &out = prog.addDataFlowHead<StaticDataFlow>();
        out.handler(prog["output_handler"])
            .bpp(sizeof(uint8_t))
            .tile(PADDED_WIDTH, TILE_HEIGHT)
            .granularity(StaticDataFlow::TILE)
            .src(prog["output"].ptr<uint8_t>())
            .srcLinePitch(PADDED_WIDTH)
            .srcDim1(2, PADDED_TILE)
            .srcDim2(TILE_ROWS, 0)
            .dst(copy)
            .dstLinePitch(PADDED_PICTURE_WIDTH)
            .dstDim1(2, PADDED_WIDTH)
            .dstDim2(TILE_ROWS, TILE_HEIGHT * PADDED_PICTURE_WIDTH);
        prog.compileDataFlows();

        SyncObj sync = SyncObj::Create();
        Fence fence{sync};
        CmdRequestFences rf{fence};
        CmdStatus status[2];
        Stream stream = Stream::Create(PVA0, VPU0);
        stream.submit({&prog, &rf}, status);
        fence.wait();
        if (CheckCommandStatus(status[0]) != Error::None) {
            std::cerr << "status " << static_cast<uint32_t>(CheckCommandStatus(status[0])) << "\n";
            return 1;
        }
        if (check(picture_host, copy_host))
            return 1;
        mem::Free(picture);
        mem::Free(copy);
    } catch (Exception const &e) {
        std::cerr << "cuPVA: " << e.what() << "\n";
        return 1;
    }
    std::cout << "static_copy: " << WIDTH << " x " << HEIGHT << " pixels, as expected\n";
}
