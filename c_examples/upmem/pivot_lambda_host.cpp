// The pivot sample in C++, with lambdas for the blocks; see pivot_host.c.
#include <dpu>

#include <array>
#include <cstdint>
#include <iostream>
#include <random>
#include <vector>

#include "pivot_check.h"

static constexpr size_t NR_DPUS = 8;
static constexpr size_t ELEMENTS = NR_DPUS * ELEMENTS_PER_DPU;

auto main(int argc, char **argv) -> int
{
    if (argc != 2) {
        std::cerr << "usage: " << argv[0] << " dpu-program\n";
        return 2;
    }
    std::mt19937 random(4);
    std::vector<int32_t> before(ELEMENTS), after(ELEMENTS);
    for (int32_t &element : before)
        element = random() % 1000000;
    std::vector<std::vector<uint64_t>> metadata(NR_DPUS, std::vector<uint64_t>(NB_BLOCKS));
    const unsigned bytes = ELEMENTS_PER_DPU * sizeof(int32_t);
    size_t left = 0;

    try {
        auto set = dpu::DpuSet::allocate(NR_DPUS, "sgXferEnable=true");
        set.load(argv[1]);

        // one half from the front of the buffer, one from its end
        set.copyScatterGather(
            "buffer",
            [&](struct sg_block_info *out, uint32_t d, uint32_t block) {
                if (block >= 2)
                    return false;
                const size_t half = ELEMENTS_PER_DPU / 2;
                const size_t at = block == 0 ? d * half : ELEMENTS - (d + 1) * half;
                out->addr = reinterpret_cast<uint8_t *>(&before[at]);
                out->length = half * sizeof(int32_t);
                return true;
            },
            bytes);
        set.exec();
        set.copy(metadata, "metadata");

        std::vector<std::array<size_t, NB_BLOCKS>> begin(NR_DPUS);
        size_t next = 0;
        for (int block = 0; block < NB_BLOCKS; block++)
            for (size_t d = 0; d < NR_DPUS; d++) {
                begin[d][block] = next;
                next += metadata[d][block];
            }
        left = begin[0][1];
        set.copyScatterGather(
            [&](struct sg_block_info *out, uint32_t d, uint32_t block) {
                if (block >= NB_BLOCKS)
                    return false;
                out->addr = reinterpret_cast<uint8_t *>(after.data() + begin[d][block]);
                out->length = metadata[d][block] * sizeof(int32_t);
                return true;
            },
            bytes, "buffer");
    } catch (const dpu::DpuError &error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return pivot_check("pivot (C++, lambda)", before.data(), after.data(), ELEMENTS, left);
}
