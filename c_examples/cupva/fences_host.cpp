// Two streams. The second one waits, on the device, for a fence of the first one; time stamps show
// that it did.
#include <cupva_host.hpp>
#include <cupva_platform.h>

#include <iostream>

using namespace cupva;

PVA_DECLARE_EXECUTABLE(fences_dev)

int main()
{
    try {
        Executable exec =
            Executable::Create(PVA_EXECUTABLE_DATA(fences_dev), PVA_EXECUTABLE_SIZE(fences_dev));
        CmdProgram longer = CmdProgram::Create(exec), shorter = CmdProgram::Create(exec);
        longer["rounds"] = int32_t{5000000};
        shorter["rounds"] = int32_t{1};

        // A SyncObj for each stream: one that several streams write to would be a race.
        SyncObj sync0 = SyncObj::Create(true), sync1 = SyncObj::Create(true);
        Fence first{sync0}, second{sync1};
        CmdRequestFences request0{first}, request1{second};
        Stream stream0 = Stream::Create(PVA0, VPU0), stream1 = Stream::Create(PVA0, VPU1);

        stream0.submit({&longer, &request0});
        CmdWaitOnFences wait{first}; // has its meaning since the submission above
        CmdStatus status[3];
        stream1.submit({&wait, &shorter, &request1}, status);

        if (!second.wait(10 * 1000 * 1000)) {
            std::cerr << "the second fence did not expire in ten seconds\n";
            return 1;
        }
        if (CheckCommandStatus(status[1]) != Error::None) {
            std::cerr << "the program behind the fence failed\n";
            return 1;
        }
        if (second.getTimestamp() < first.getTimestamp()) {
            std::cerr << "the second stream did not wait for the first one\n";
            return 1;
        }
    } catch (Exception const &e) {
        std::cerr << "cuPVA: " << e.what() << "\n";
        return 1;
    }
    std::cout << "fences (C++): the second stream went on after the first one\n";
}
