// Values for a VPU program's variables, several programs in one submission, and the status of each.
#include <cupva_host.hpp>
#include <cupva_platform.h>

#include <iostream>

#include "scalars.h"

using namespace cupva;

PVA_DECLARE_EXECUTABLE(scalars_dev)

static CmdProgram program(Executable const &exec, Order const &order, int32_t const count)
{
    CmdProgram prog = CmdProgram::Create(exec);
    prog["order"].set(&order, sizeof(order));
    prog["count"] = count;
    prog["scale"] = 0.5F;
    return prog;
}

int main()
{
    try {
        Executable exec =
            Executable::Create(PVA_EXECUTABLE_DATA(scalars_dev), PVA_EXECUTABLE_SIZE(scalars_dev));
        CmdProgram right = program(exec, {{2, 3, 5, 7}, 105}, 4);
        CmdProgram wrong = program(exec, {{2, 3, 5, 7}, 105}, 3); // 15: its VPU code returns 1
        CmdProgram again = program(exec, {{2, 9, 1, 1}, 9}, 2);

        SyncObj sync = SyncObj::Create();
        Fence fence{sync};
        CmdRequestFences rf{fence};
        CmdStatus status[4];
        Stream stream = Stream::Create();
        stream.submit({&right, &wrong, &again, &rf}, status);
        fence.wait();

        Error const expected[] = {Error::None, Error::VpuApplicationError, Error::None, Error::None};
        for (int i = 0; i < 4; i++) {
            Error const found = CheckCommandStatus(status[i]);
            std::cout << "command " << i << ": status " << static_cast<uint32_t>(found) << "\n";
            if (found != expected[i])
                return 1;
        }
    } catch (Exception const &e) {
        std::cerr << "cuPVA: " << e.what() << "\n";
        return 1;
    }
    std::cout << "scalars: the second program failed as it should, and no other\n";
}
