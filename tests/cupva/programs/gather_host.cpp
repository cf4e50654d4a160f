/* Gathers four 8x8 tiles at places that the kernel is told, adds 1, and writes them with a sequence of
   two transfers. The pixels beyond the image are its nearest ones. */
#include <cupva_host.hpp>
#include <cupva_platform.h>

#include <algorithm>
#include <cstdio>

using namespace cupva;

PVA_DECLARE_EXECUTABLE(gather_dev)

int main()
{
    const int W = 40, H = 30;
    const int xs[4] = {0, -3, 35, 10}, ys[4] = {0, 5, 26, -7};
    uint8_t *image = static_cast<uint8_t *>(mem::Alloc(W * H));
    uint8_t *result = static_cast<uint8_t *>(mem::Alloc(256));
    uint8_t *pixels = static_cast<uint8_t *>(mem::GetHostPointer(image));
    uint8_t *found = static_cast<uint8_t *>(mem::GetHostPointer(result));
    for (int i = 0; i < W * H; i++) {
        pixels[i] = static_cast<uint8_t>(i * 13);
    }
    Executable executable =
        Executable::Create(PVA_EXECUTABLE_DATA(gather_dev), PVA_EXECUTABLE_SIZE(gather_dev));
    CmdProgram program = CmdProgram::Create(executable);
    program["xs"].set(xs, sizeof xs);
    program["ys"].set(ys, sizeof ys);
    program.addDataFlowHead<GatherScatterDataFlow>()
        .handler(program["gat"])
        .src(image)
        .bpp(1)
        .numTilesPerTrigger(4)
        .extents(W, H, W)
        .padVal(PadModeType::PAD_BPE, 0);
    SequenceDataFlow &sequence = program.addDataFlowHead<SequenceDataFlow>();
    uint8_t *vmem = program["out"].ptr<uint8_t>();
    sequence.handler(program["seq"]);
    sequence.addTransfer().tile(128, 1).src(vmem).dst(result);
    sequence.addTransfer().tile(128, 1).src(vmem + 128).dst(result + 128);
    program.compileDataFlows();

    Stream stream = Stream::Create();
    CmdStatus status[1] = {nullptr};
    stream.submit({&program}, status);
    stream.synchronize();
    int wrong = CheckCommandStatus(status[0]) != Error::None;
    for (int i = 0; i < 256; i++) {
        int tile = i / 64, y = ys[tile] + i % 64 / 8, x = xs[tile] + i % 8;
        y = std::min(std::max(y, 0), H - 1);
        x = std::min(std::max(x, 0), W - 1);
        wrong += found[i] != static_cast<uint8_t>(pixels[y * W + x] + 1);
    }
    std::printf("%d wrong\n", wrong);
    return wrong != 0;
}
