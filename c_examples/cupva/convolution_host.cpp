// A 3x3 convolution over a CHW tensor: TensorDataFlows bring the tiles with their halo to VMEM, and
// take the results back. A plain loop checks them.
#include <cupva_host.hpp>
#include <cupva_platform.h>

#include <iostream>

#include "convolution.h"

using namespace cupva;

PVA_DECLARE_EXECUTABLE(convolution_dev)

static int32_t at(int8_t const *tensor, int c, int y, int x)
{
    bool const inside = x >= 0 && x < WIDTH && y >= 0 && y < HEIGHT;
    return inside ? tensor[(c * HEIGHT + y) * WIDTH + x] : 0;
}

static int32_t expected(int8_t const *tensor, Weights const &weights, int f, int y, int x)
{
    int32_t sum = 0;
    for (int c = 0; c < CHANNELS; c++)
        for (int ky = 0; ky < 3; ky++)
            for (int kx = 0; kx < 3; kx++)
                sum += weights.values[f][c][ky][kx] * at(tensor, c, y + ky - 1, x + kx - 1);
    return sum;
}

int main()
{
    try {
        auto *tensor = static_cast<int8_t *>(mem::Alloc(CHANNELS * HEIGHT * WIDTH));
        auto *result = static_cast<int32_t *>(mem::Alloc(FILTERS * HEIGHT * WIDTH * 4));
        auto *tensor_host = static_cast<int8_t *>(mem::GetHostPointer(tensor));
        auto *result_host = static_cast<int32_t *>(mem::GetHostPointer(result));
        uint32_t noise = 1;
        auto const next = [&noise] {
            noise = noise * 1664525u + 1013904223u;
            return static_cast<int8_t>(noise >> 24);
        };
        for (int i = 0; i < CHANNELS * HEIGHT * WIDTH; i++)
            tensor_host[i] = next();
        Weights weights;
        for (auto &filter : weights.values)
            for (auto &channel : filter)
                for (auto &row : channel)
                    for (int8_t &value : row)
                        value = next();

        Executable exec = Executable::Create(PVA_EXECUTABLE_DATA(convolution_dev),
                                             PVA_EXECUTABLE_SIZE(convolution_dev));
        CmdProgram prog = CmdProgram::Create(exec);
        prog["weights"] = weights;
        prog.addDataFlowHead<TensorDataFlow>()
            .handler(prog["input_handler"])
            .src(tensor, WIDTH, HEIGHT, CHANNELS)
            .tileBuffer(prog["input"].ptr<int8_t>())
            .tile(TILE_WIDTH, TILE_HEIGHT, TILE_CHANNELS)
            .halo(HALO, PadModeType::PAD_CONST, 0);
        prog.addDataFlowHead<TensorDataFlow>()
            .handler(prog["output_handler"])
            .dst(result, WIDTH, HEIGHT, FILTERS)
            .tileBuffer(prog["output"].ptr<int32_t>())
            .tile(TILE_WIDTH, TILE_HEIGHT);
        prog.compileDataFlows();

        SyncObj sync = SyncObj::Create();
        Fence fence{sync};
        CmdRequestFences rf{fence};
        CmdStatus status[2];
        Stream stream = Stream::Create();
        stream.submit({&prog, &rf}, status);
        fence.wait();
        if (CheckCommandStatus(status[0]) != Error::None) {
            std::cerr << "status " << static_cast<uint32_t>(CheckCommandStatus(status[0])) << "\n";
            return 1;
        }
        for (int f = 0; f < FILTERS; f++)
            for (int y = 0; y < HEIGHT; y++)
                for (int x = 0; x < WIDTH; x++) {
                    int32_t const found = result_host[(f * HEIGHT + y) * WIDTH + x];
                    int32_t const right = expected(tensor_host, weights, f, y, x);
                    if (found != right) {
                        std::cerr << "filter " << f << ", (" << x << ", " << y << "): " << found
                                  << ", expected " << right << "\n";
                        return 1;
                    }
                }
        mem::Free(tensor);
        mem::Free(result);
    } catch (Exception const &e) {
        std::cerr << "cuPVA: " << e.what() << "\n";
        return 1;
    }
    std::cout << "convolution: " << FILTERS << " x " << HEIGHT << " x " << WIDTH
              << " results, as expected\n";
}
