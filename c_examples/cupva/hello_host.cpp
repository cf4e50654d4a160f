// Runs a VPU program that prints a line.
#include <cupva_host.hpp>
#include <cupva_host_nonsafety.hpp>
#include <cupva_platform.h>

#include <iostream>

using namespace cupva;

PVA_DECLARE_EXECUTABLE(hello_dev)

int main()
{
    try {
        Executable exec =
            Executable::Create(PVA_EXECUTABLE_DATA(hello_dev), PVA_EXECUTABLE_SIZE(hello_dev));
        CmdProgram prog = CmdProgram::Create(exec);
        SetVPUPrintBufferSize(64 * 1024);

        SyncObj sync = SyncObj::Create();
        Fence fence{sync};
        CmdRequestFences rf{fence};
        CmdStatus status[2];
        Stream stream = Stream::Create(PVA0, VPU0);
        stream.submit({&prog, &rf}, status);
        fence.wait();
        if (CheckCommandStatus(status[0]) != Error::None) {
            std::cerr << "the VPU program failed\n";
            return 1;
        }
    } catch (Exception const &e) {
        std::cerr << "cuPVA: " << e.what() << "\n";
        return 1;
    }
    std::cout << "hello: done\n";
}
