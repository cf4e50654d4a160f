/*
 * Prints "name value": shares of a memcpy's bandwidth, microseconds of an empty program, and of what
 * bounds it: an empty call into Python and a round trip between two processes. The least of many runs
 * each: what others do on the machine adds to all of them. The kernels print for themselves.
 */
#include <cupva_host.hpp>
#include <cupva_platform.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

using namespace cupva;

PVA_DECLARE_EXECUTABLE(empty)
PVA_DECLARE_EXECUTABLE(raster)
PVA_DECLARE_EXECUTABLE(tensor)
PVA_DECLARE_EXECUTABLE(kernels)

namespace {

const int REPEATS = 41;

double now_us()
{
    auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::micro>(since).count();
}

template <typename F> double least_us(F const &work)
{
    std::vector<double> times;
    for (int i = 0; i < REPEATS; i++) {
        double begin = now_us();
        work();
        times.push_back(now_us() - begin);
    }
    return *std::min_element(times.begin(), times.end());
}

void run(Stream &stream, CmdProgram &program, SyncObj &sync)
{
    Fence fence{sync};
    CmdRequestFences request{fence};
    CmdStatus status[2] = {nullptr, nullptr};
    stream.submit({&program, &request}, status);
    fence.wait();
    if (CheckCommandStatus(status[0]) != Error::None) {
        std::printf("failed\n");
        std::exit(1);
    }
}

double memcpy_us(size_t bytes)
{
    std::vector<uint8_t> from(bytes, 1), to(bytes, 2);
    return least_us([&] { std::memcpy(to.data(), from.data(), bytes); });
}

/* A word to another process and back, through pipes. */
double pipe_us()
{
    int there[2], back[2];
    char word = 0;
    if (pipe(there) != 0 || pipe(back) != 0)
        return 0;
    pid_t child = fork();
    if (child == 0) {
        close(there[1]);
        while (read(there[0], &word, 1) == 1 && write(back[1], &word, 1) == 1)
            ;
        _exit(0);
    }
    double least = least_us([&] {
        if (write(there[1], &word, 1) != 1 || read(back[0], &word, 1) != 1)
            std::exit(1);
    });
    for (int end : {there[0], there[1], back[0], back[1]})
        close(end);
    waitpid(child, nullptr, 0);
    return least;
}

} // namespace

int main()
{
    std::printf("pipe_us %.2f\n", pipe_us());
    Stream stream = Stream::Create(PVA0, VPU0);
    SyncObj sync = SyncObj::Create();

    Executable nothing = Executable::Create(PVA_EXECUTABLE_DATA(empty), PVA_EXECUTABLE_SIZE(empty));
    CmdProgram none = CmdProgram::Create(nothing);
    run(stream, none, sync);
    Fence fence{sync};
    CmdRequestFences request{fence};
    std::printf("empty_us %.1f\n", least_us([&] {
                    stream.submit({&none, &request});
                    fence.wait();
                }));
    uint32_t version;
    std::printf("call_us %.2f\n", least_us([&] {
                    for (int i = 0; i < 100; i++)
                        CupvaGetDriverVersion(&version);
                }) / 100);

    Executable loops = Executable::Create(PVA_EXECUTABLE_DATA(kernels), PVA_EXECUTABLE_SIZE(kernels));
    CmdProgram vectors = CmdProgram::Create(loops);
    run(stream, vectors, sync);

    const int W = 1920, H = 1080, ACROSS = 30, DOWN = 34;
    uint8_t *image = static_cast<uint8_t *>(mem::Alloc(W * H));
    uint8_t *result = static_cast<uint8_t *>(mem::Alloc(W * H));
    std::memset(mem::GetHostPointer(image), 1, W * H);
    std::memset(mem::GetHostPointer(result), 2, W * H);
    Executable pictures = Executable::Create(PVA_EXECUTABLE_DATA(raster), PVA_EXECUTABLE_SIZE(raster));
    CmdProgram picture = CmdProgram::Create(pictures);
    picture["tiles"] = ACROSS * DOWN;
    picture.addDataFlowHead<RasterDataFlow>()
        .handler(picture["in_handler"])
        .src(image, W, H, W)
        .tileBuffer(picture["in_buffer"].ptr<uint8_t>())
        .tile(64, 32)
        .halo(2);
    picture.addDataFlowHead<RasterDataFlow>()
        .handler(picture["out_handler"])
        .dst(result, W, H, W)
        .tileBuffer(picture["out_buffer"].ptr<uint8_t>())
        .tile(64, 32);
    picture.compileDataFlows();
    run(stream, picture, sync);
    size_t moved = static_cast<size_t>(ACROSS * DOWN) * 68 * 36 + static_cast<size_t>(W * H);
    std::printf("raster %.3f\n", memcpy_us(moved) / least_us([&] { run(stream, picture, sync); }));

    const int SIDE = 256, DEPTH = 64;
    uint8_t *source = static_cast<uint8_t *>(mem::Alloc(SIDE * SIDE * DEPTH));
    uint8_t *target = static_cast<uint8_t *>(mem::Alloc(SIDE * SIDE * DEPTH));
    std::memset(mem::GetHostPointer(source), 1, SIDE * SIDE * DEPTH);
    std::memset(mem::GetHostPointer(target), 2, SIDE * SIDE * DEPTH);
    Executable tensors = Executable::Create(PVA_EXECUTABLE_DATA(tensor), PVA_EXECUTABLE_SIZE(tensor));
    CmdProgram volume = CmdProgram::Create(tensors);
    volume.addDataFlowHead<TensorDataFlow>()
        .handler(volume["in_handler"])
        .src(source, SIDE, SIDE, DEPTH)
        .tileBuffer(volume["in_buffer"].ptr<uint8_t>())
        .tile(32, 32, 16)
        .halo(1);
    volume.addDataFlowHead<TensorDataFlow>()
        .handler(volume["out_handler"])
        .dst(target, SIDE, SIDE, DEPTH)
        .tileBuffer(volume["out_buffer"].ptr<uint8_t>())
        .tile(32, 32, 16);
    volume.compileDataFlows();
    run(stream, volume, sync);
    moved = static_cast<size_t>(256) * 16 * 34 * 34 + static_cast<size_t>(SIDE * SIDE * DEPTH);
    std::printf("tensor %.3f\n", memcpy_us(moved) / least_us([&] { run(stream, volume, sync); }));
    return 0;
}
