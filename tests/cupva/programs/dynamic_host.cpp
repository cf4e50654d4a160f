/* A DynamicDataFlow in and one out, in geometries that argv[1] seeds, compared pixel by pixel with
   what their nodes were told. */
#include <cupva_host.hpp>
#include <cupva_platform.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace cupva;

PVA_DECLARE_EXECUTABLE(dynamic_dev)

namespace {

constexpr int W = 100, H = 60, SLOT = 1024, MAX = 128;

struct Tile {
    int w, h, pitch, left, right, top, bottom, nearest, value;
};

int between(int first, int last) { return first + std::rand() % (last - first + 1); }

template <typename T>
int geometry(Executable &executable, Stream &stream)
{
    int const bpp = sizeof(T), nodes = between(1, 4), lanes = between(0, 1) ? 1 : between(2, 8);
    int const count = nodes * lanes, rounds = between(1, MAX / count < 5 ? MAX / count : 5);
    T *const image = static_cast<T *>(mem::Alloc(W * H * bpp));
    void *const result = mem::Alloc(MAX * SLOT);
    T *const in = static_cast<T *>(mem::GetHostPointer(image));
    uint8_t *const out = static_cast<uint8_t *>(mem::GetHostPointer(result));
    for (int i = 0; i < W * H; i++)
        in[i] = static_cast<T>(std::rand());
    std::memset(out, 0xEE, MAX * SLOT);

    CmdProgram program = CmdProgram::Create(executable);
    uint8_t *const vmem = program["pixels"].ptr<uint8_t>();
    DynamicDataFlow &load = program.addDataFlowHead<DynamicDataFlow>();
    DynamicDataFlow &store = program.addDataFlowHead<DynamicDataFlow>();
    load.init(program["load"], nodes, lanes);
    store.init(program["store"], nodes, lanes);
    std::vector<Tile> tiles;
    for (int i = 0; i < count; i++) {
        Tile tile{between(3, 12), between(3, 9), 0, 0, 0, 0, 0, between(0, 1), between(0, 200)};
        tile.pitch = between(tile.w, 16);
        int const sides = between(0, 8), pad = between(1, 2);
        int directions = sides % 3 + sides / 3 * 4; /* none, top, bottom; none, left, right */
        tile.top = directions & 1 ? pad : 0;
        tile.bottom = directions & 2 ? pad : 0;
        tile.left = directions & 4 ? pad : 0;
        tile.right = directions & 8 ? pad : 0;
        tiles.push_back(tile);
        DynamicDataFlow::Node node = load.node(i % nodes, i / nodes);
        node.bpp(bpp).tile(tile.w, tile.h).src(image).srcLinePitch(W);
        node.dst(vmem + i * SLOT).dstLinePitch(tile.pitch);
        node.padVal(tile.nearest ? PadModeType::PAD_BPE : PadModeType::PAD_CONST, tile.value);
        if (directions)
            node.padDim(static_cast<PadDirType>(directions), pad);
        store.node(i % nodes, i / nodes)
            .bpp(bpp)
            .tile(tile.w, tile.h)
            .src(vmem + i * SLOT)
            .srcLinePitch(tile.pitch)
            .dst(static_cast<uint8_t *>(result) + i * SLOT)
            .dstLinePitch(16);
    }
    std::vector<int32_t> xs, ys, places;
    for (int i = 0; i < count * rounds; i++) {
        xs.push_back(between(0, W - 12));
        ys.push_back(between(0, H - 9));
        places.push_back((ys[i] * W + xs[i]) * bpp);
    }
    program["image"] = image;
    program["result"] = result;
    program["nodes"] = nodes;
    program["lanes"] = lanes;
    program["rounds"] = rounds;
    program["places"].set(places.data(), static_cast<int32_t>(places.size() * sizeof(int32_t)));
    program.compileDataFlows();
    CmdStatus status[1] = {nullptr};
    stream.submit({&program}, status);
    stream.synchronize();

    std::vector<uint8_t> expected(MAX * SLOT, 0xEE);
    for (int number = 0; number < count * rounds; number++) {
        Tile const &t = tiles[number % count];
        for (int y = 0; y < t.h; y++)
            for (int x = 0; x < t.w; x++) {
                int rx = x - t.left, ry = y - t.top;
                int const rw = t.w - t.left - t.right, rh = t.h - t.top - t.bottom;
                bool const real = rx >= 0 && rx < rw && ry >= 0 && ry < rh;
                rx = rx < 0 ? 0 : rx >= rw ? rw - 1 : rx;
                ry = ry < 0 ? 0 : ry >= rh ? rh - 1 : ry;
                T const pixel = real || t.nearest ? in[(ys[number] + ry) * W + xs[number] + rx]
                                                  : static_cast<T>(t.value);
                std::memcpy(&expected[number * SLOT + (y * 16 + x) * bpp], &pixel, bpp);
            }
    }
    int wrong = CheckCommandStatus(status[0]) != Error::None;
    for (int i = 0; i < MAX * SLOT; i++)
        wrong += expected[i] != out[i];
    if (wrong)
        std::printf("bpp %d, %d nodes in %d lanes, %d rounds: %d wrong\n", bpp, nodes, lanes, rounds,
                    wrong);
    mem::Free(image);
    mem::Free(result);
    return wrong;
}

} // namespace

int main(int argc, char **argv)
{
    std::srand(argc > 1 ? std::atoi(argv[1]) : 1);
    Executable executable =
        Executable::Create(PVA_EXECUTABLE_DATA(dynamic_dev), PVA_EXECUTABLE_SIZE(dynamic_dev));
    Stream stream = Stream::Create();
    int wrong = 0;
    for (int i = 0; i < 20; i++) {
        wrong += geometry<uint8_t>(executable, stream);
        wrong += geometry<uint16_t>(executable, stream);
        wrong += geometry<uint32_t>(executable, stream);
    }
    std::printf("%d wrong\n", wrong);
    return wrong != 0;
}
