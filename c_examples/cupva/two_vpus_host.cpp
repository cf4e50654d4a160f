// Two programs at the same time on the two VPUs, a barrier, and a third one that needs the results
// of both: one submission, out of order.
#include <cupva_host.hpp>
#include <cupva_platform.h>

#include <iostream>

#include "two_vpus.h"

using namespace cupva;

PVA_DECLARE_EXECUTABLE(square_dev)
PVA_DECLARE_EXECUTABLE(add_dev)

static void vector(CmdProgram &prog, std::string const &name, int32_t *memory, bool const reads)
{
    RasterDataFlow &flow = prog.addDataFlowHead<RasterDataFlow>();
    flow.handler(prog[(name + "_handler").c_str()])
        .tileBuffer(prog[name.c_str()].ptr<int32_t>())
        .tile(TILE);
    reads ? flow.src(memory, HALF) : flow.dst(memory, HALF);
}

int main()
{
    try {
        auto *numbers = static_cast<int32_t *>(mem::Alloc(2 * HALF * sizeof(int32_t)));
        auto *squares = static_cast<int32_t *>(mem::Alloc(2 * HALF * sizeof(int32_t)));
        auto *sums = static_cast<int32_t *>(mem::Alloc(HALF * sizeof(int32_t)));
        auto *given = static_cast<int32_t *>(mem::GetHostPointer(numbers));
        auto *found = static_cast<int32_t *>(mem::GetHostPointer(sums));
        for (int32_t i = 0; i < 2 * HALF; i++)
            given[i] = i % 1000 - 500;

        Executable square =
            Executable::Create(PVA_EXECUTABLE_DATA(square_dev), PVA_EXECUTABLE_SIZE(square_dev));
        Executable add = Executable::Create(PVA_EXECUTABLE_DATA(add_dev), PVA_EXECUTABLE_SIZE(add_dev));
        CmdProgram halves[2] = {CmdProgram::Create(square), CmdProgram::Create(square)};
        for (int half = 0; half < 2; half++) {
            vector(halves[half], "input", numbers + half * HALF, true);
            vector(halves[half], "output", squares + half * HALF, false);
            halves[half].compileDataFlows();
        }
        CmdProgram both = CmdProgram::Create(add);
        vector(both, "first", squares, true);
        vector(both, "second", squares + HALF, true);
        vector(both, "sum", sums, false);
        both.compileDataFlows();

        SyncObj sync = SyncObj::Create();
        Fence fence{sync};
        CmdRequestFences rf{fence};
        CmdBarrier squared, added;
        CmdStatus status[6];
        Stream stream = Stream::Create(PVA0, VPU_ANY);
        // The last barrier: in any order, the fence could expire before the sums are there.
        stream.submit({&halves[0], &halves[1], &squared, &both, &added, &rf}, status, OUT_OF_ORDER);
        fence.wait();
        for (int i = 0; i < 6; i++)
            if (CheckCommandStatus(status[i]) != Error::None) {
                std::cerr << "command " << i << ": status "
                          << static_cast<uint32_t>(CheckCommandStatus(status[i])) << "\n";
                return 1;
            }
        for (int32_t i = 0; i < HALF; i++)
            if (found[i] != given[i] * given[i] + given[i + HALF] * given[i + HALF]) {
                std::cerr << "sum " << i << " is " << found[i] << "\n";
                return 1;
            }
        for (int32_t *memory : {numbers, squares, sums})
            mem::Free(memory);
    } catch (Exception const &e) {
        std::cerr << "cuPVA: " << e.what() << "\n";
        return 1;
    }
    std::cout << "two_vpus: " << HALF << " sums, as expected\n";
}
