// A 5x5 unsharp mask with RasterDataFlows, checked by a plain loop.
//
//     unsharp_host [in.pgm [out.pgm]]
//
// Without a picture it draws one.
#include <cupva_host.hpp>
#include <cupva_platform.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>
#include <vector>

#include "unsharp.h"

using namespace cupva;

PVA_DECLARE_EXECUTABLE(unsharp_dev)

struct Picture {
    int width, height;
    std::vector<uint8_t> pixels;
};

// Rings that grow finer from the middle, on a slope of grey.
static Picture drawn()
{
    Picture made{301, 203, {}};
    for (int y = 0; y < made.height; y++)
        for (int x = 0; x < made.width; x++) {
            int const dx = x - made.width / 2, dy = y - made.height / 2;
            int const phase = (dx * dx + dy * dy) / 64 % 32;
            made.pixels.push_back(static_cast<uint8_t>((phase < 16 ? phase : 31 - phase) * 8 + x / 3));
        }
    return made;
}

// A binary grey map (P5) of 8 bits.
static Picture read(char const *path)
{
    std::ifstream file(path, std::ios::binary);
    std::string kind;
    int most = 0;
    Picture found{0, 0, {}};
    file >> kind >> found.width >> found.height >> most;
    file.get();
    if (!file || kind != "P5" || most != 255 || found.width < TILE_WIDTH
        || found.height < TILE_HEIGHT)
        throw Exception(Error::InvalidArgument, std::string(path) + ": no P5 picture of at least "
                                                                    "one tile");
    found.pixels.resize(static_cast<size_t>(found.width) * found.height);
    file.read(reinterpret_cast<char *>(found.pixels.data()),
              static_cast<std::streamsize>(found.pixels.size()));
    if (!file)
        throw Exception(Error::InvalidArgument, std::string(path) + ": ends early");
    return found;
}

// The picture with its edge pixels repeated RADIUS times all around.
static Picture framed(Picture const &picture)
{
    Picture made{picture.width + 2 * RADIUS, picture.height + 2 * RADIUS, {}};
    for (int y = -RADIUS; y < picture.height + RADIUS; y++)
        for (int x = -RADIUS; x < picture.width + RADIUS; x++)
            made.pixels.push_back(
                picture.pixels[std::min(std::max(y, 0), picture.height - 1) * picture.width
                               + std::min(std::max(x, 0), picture.width - 1)]);
    return made;
}

static int check(Picture const &picture, uint8_t const *found)
{
    Picture const around = framed(picture);
    for (int y = 0; y < picture.height; y++)
        for (int x = 0; x < picture.width; x++) {
            uint8_t const *centre = &around.pixels[(y + RADIUS) * around.width + x + RADIUS];
            int const expected = sharpened(centre, around.width);
            if (found[y * picture.width + x] != expected) {
                std::cerr << "(" << x << ", " << y << "): " << int{found[y * picture.width + x]}
                          << ", expected " << expected << "\n";
                return 1;
            }
        }
    return 0;
}

int main(int argc, char **argv)
{
    try {
        Picture const picture = argc > 1 ? read(argv[1]) : drawn();
        int const width = picture.width, height = picture.height;
        int64_t const size = static_cast<int64_t>(width) * height;
        auto *before = static_cast<uint8_t *>(mem::Alloc(size));
        auto *after = static_cast<uint8_t *>(mem::Alloc(size));
        auto *result = static_cast<uint8_t *>(mem::GetHostPointer(after));
        std::memcpy(mem::GetHostPointer(before), picture.pixels.data(), picture.pixels.size());

        Executable exec =
            Executable::Create(PVA_EXECUTABLE_DATA(unsharp_dev), PVA_EXECUTABLE_SIZE(unsharp_dev));
        CmdProgram prog = CmdProgram::Create(exec);
        prog["tiles"] = int32_t{((width + TILE_WIDTH - 1) / TILE_WIDTH)
                                * ((height + TILE_HEIGHT - 1) / TILE_HEIGHT)};
        prog.addDataFlowHead<RasterDataFlow>()
            .handler(prog["input_handler"])
            .src(before, width, height, width)
            .tileBuffer(prog["input"].ptr<uint8_t>())
            .tile(TILE_WIDTH, TILE_HEIGHT)
            .halo(RADIUS, PadModeType::PAD_BPE);
        prog.addDataFlowHead<RasterDataFlow>()
            .handler(prog["output_handler"])
            .dst(after, width, height, width)
            .tileBuffer(prog["output"].ptr<uint8_t>())
            .tile(TILE_WIDTH, TILE_HEIGHT);
        prog.compileDataFlows();

        SyncObj sync = SyncObj::Create();
        Fence fence{sync};
        CmdRequestFences rf{fence};
        CmdStatus status[2];
        Stream stream = Stream::Create(PVA0, VPU1);
        stream.submit({&prog, &rf}, status);
        fence.wait();
        if (CheckCommandStatus(status[0]) != Error::None) {
            std::cerr << "status " << static_cast<uint32_t>(CheckCommandStatus(status[0])) << "\n";
            return 1;
        }
        if (check(picture, result))
            return 1;
        if (argc > 2) {
            std::ofstream file(argv[2], std::ios::binary);
            file << "P5\n" << width << " " << height << "\n255\n";
            file.write(reinterpret_cast<char *>(result), size);
        }
        std::cout << "unsharp: " << width << " x " << height << " pixels, as expected\n";
        mem::Free(before);
        mem::Free(after);
    } catch (Exception const &e) {
        std::cerr << "cuPVA: " << e.what() << "\n";
        return 1;
    }
}
