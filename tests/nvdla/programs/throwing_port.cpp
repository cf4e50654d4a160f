/* A portability function that throws, below our firmware, below our NvDlaSubmit: the exception
   passes through C and arrives; afterwards everything works. */
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "cudla_sim.h"
#include "nvdla/IRuntime.h"
#include "nvdla/nvdla_interface.h"

static int writes_left = 40;

extern "C" void dla_reg_write(void *, uint32_t addr, uint32_t reg)
{
    if (writes_left > 0 && --writes_left == 0) {
        throw std::runtime_error("no bus");
    }
    simNvdlaWrite(0, addr, reg);
}

int main(int, char **argv)
{
    std::ifstream file(argv[1], std::ios::binary);
    std::vector<char> image((std::istreambuf_iterator<char>(file)),
                            std::istreambuf_iterator<char>());
    nvdla::IRuntime *runtime = nvdla::createRuntime();
    void *handles[2], *data[2];
    if (!runtime->load(reinterpret_cast<NvU8 *>(image.data()), 0) ||
        runtime->allocateSystemMemory(&handles[0], 2048, &data[0]) ||
        runtime->allocateSystemMemory(&handles[1], 32, &data[1]) ||
        !runtime->bindInputTensor(0, handles[0]) || !runtime->bindOutputTensor(0, handles[1])) {
        return 1;
    }
    for (int round = 1; round <= 2; ++round) {
        writes_left = 40 * round;
        try {
            runtime->submit();
        } catch (const std::runtime_error &) {
            std::printf("caught %d\n", round);
        }
    }
    writes_left = 0;
    std::printf("%s\n", runtime->submit() ? "submitted" : "failed");
    return 0;
}
