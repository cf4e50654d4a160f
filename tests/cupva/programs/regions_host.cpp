/* Regions of a picture in DRAM, or of its copy in L2SRAM, as the kernel finds them in a list. */
#include <cupva_host.hpp>
#include <cupva_platform.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace cupva;

PVA_DECLARE_EXECUTABLE(regions_dev)

struct Place {
    int16_t x, y;
};

static const int PICTURE_WIDTH = 64, PICTURE_HEIGHT = 32, WIDTH = 16, HEIGHT = 8, COUNT = 6;
static const Place PLACES[COUNT] = {{0, 0}, {5, 3}, {40, 20}, {56, 28}, {-4, -2}, {33, 7}};

template <typename T>
static T *memory(int count, T **host)
{
    T *device = static_cast<T *>(mem::Alloc(count * sizeof(T)));
    *host = static_cast<T *>(mem::GetHostPointer(device));
    return device;
}

static int wrong(const int16_t *found)
{
    int count = 0;
    for (int i = 0; i < COUNT * WIDTH * HEIGHT; i++) {
        const Place &at = PLACES[i / (WIDTH * HEIGHT)];
        int x = at.x + i % WIDTH, y = at.y + i / WIDTH % HEIGHT;
        bool inside = x >= 0 && x < PICTURE_WIDTH && y >= 0 && y < PICTURE_HEIGHT;
        count += found[i] != (inside ? y * PICTURE_WIDTH + x : -9);
    }
    return count;
}

int main(int, char **words)
{
    static_assert(std::is_same<OffsetPointer<int16_t>::PointedToType, int16_t>::value, "its pixel");
    const int32_t way = words[1][0];
    int16_t *pixels, *found;
    Place *list;
    int16_t *picture = memory(PICTURE_WIDTH * PICTURE_HEIGHT, &pixels);
    int16_t *target = memory(COUNT * WIDTH * HEIGHT, &found);
    Place *places = memory(COUNT, &list);
    for (int i = 0; i < PICTURE_WIDTH * PICTURE_HEIGHT; i++)
        pixels[i] = i;
    std::copy(PLACES, PLACES + COUNT, list);
    const int32_t size = PICTURE_WIDTH * PICTURE_HEIGHT * 2;

    Executable executable =
        Executable::Create(PVA_EXECUTABLE_DATA(regions_dev), PVA_EXECUTABLE_SIZE(regions_dev));
    CmdProgram program = CmdProgram::Create(executable);
    program["way"] = way;
    program["found"] = target;
    program.setL2Size(size);
    program.addDataFlowHead<RasterDataFlow>()
        .handler(program["list"]).src(places, COUNT).tile(COUNT)
        .tileBuffer(program["places"].ptr<Place>());
    program.addDataFlowHead<GatherScatterDataFlow>()
        .handler(program["gather"]).numTilesPerTrigger(2).bpp(2).bufferType(mem::BufferType::RAW)
        .src(picture).extents(PICTURE_WIDTH, PICTURE_HEIGHT).padVal(PadModeType::PAD_CONST, -9);
    SequenceDataFlow &leave = program.addDataFlowHead<SequenceDataFlow>();
    leave.handler(program["leave"]);
    const int bytes = 2 * WIDTH * HEIGHT * 2;
    leave.addTransfer().tile(bytes).mode(TransferModeType::CONTINUOUS)
        .src(program["regions"].ptr<int16_t>(), bytes).dst(target, bytes);
    try {
        leave.addTransfer().tile(0, 3);
        std::puts("taken");
    } catch (const Exception &wrong) {
        if (!std::strstr(wrong.what(), "SequenceDataFlow 0, transfer 1: tile is 0 x 3"))
            std::puts(wrong.what());
    }
    program.compileDataFlows();

    CmdMemcpy to_l2 = CmdMemcpy::Create(mem::GetL2BaseAddress(), picture, size);
    SyncObj sync = SyncObj::Create();
    Fence fence{sync};
    CmdRequestFences request{fence};
    CmdStatus status[3];
    Stream stream = Stream::Create();
    stream.submit({&to_l2, &program, &request}, status);
    fence.wait();
    std::printf("status %d", static_cast<int>(CheckCommandStatus(status[1])));
    if (CheckCommandStatus(status[1]) == Error::None)
        std::printf(", %d wrong", wrong(found));
    std::puts("");
    for (void *one : {static_cast<void *>(picture), static_cast<void *>(target), static_cast<void *>(places)})
        mem::Free(one);
    return 0;
}
