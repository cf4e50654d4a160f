// The pivot sample in C++, with a function and a context for the blocks; see pivot_host.c.
#include <dpu>

#include <cstdint>
#include <iostream>
#include <random>
#include <vector>

#include "pivot_check.h"

static constexpr size_t NR_DPUS = 8;
static constexpr size_t ELEMENTS = NR_DPUS * ELEMENTS_PER_DPU;

// What get_block needs; the transfer copies it.
struct sg_xfer_context {
    std::vector<std::vector<uint64_t>> *metadata; // elements of each block of each DPU
    std::vector<std::vector<int32_t *>> *block_addresses; // where they lie
};

static bool get_block(struct sg_block_info *out, uint32_t dpu_index, uint32_t block_index,
                      void *args)
{
    auto *context = static_cast<sg_xfer_context *>(args);
    if (block_index >= NB_BLOCKS)
        return false;
    out->addr = reinterpret_cast<uint8_t *>((*context->block_addresses)[dpu_index][block_index]);
    out->length = (*context->metadata)[dpu_index][block_index] * sizeof(int32_t);
    return true;
}

auto main(int argc, char **argv) -> int
{
    if (argc != 2) {
        std::cerr << "usage: " << argv[0] << " dpu-program\n";
        return 2;
    }
    std::mt19937 random(3);
    std::vector<int32_t> before(ELEMENTS), after(ELEMENTS);
    for (int32_t &element : before)
        element = random() % 1000000;
    std::vector<std::vector<uint64_t>> metadata(NR_DPUS, std::vector<uint64_t>(NB_BLOCKS));
    std::vector<std::vector<int32_t *>> block_addresses(NR_DPUS,
                                                        std::vector<int32_t *>(NB_BLOCKS));
    sg_xfer_context context{&metadata, &block_addresses};
    get_block_t blocks{get_block, &context, sizeof(context)};
    const unsigned bytes = ELEMENTS_PER_DPU * sizeof(int32_t);

    try {
        auto set = dpu::DpuSet::allocate(NR_DPUS, "sgXferEnable=true");
        set.load(argv[1]);
        for (size_t d = 0; d < NR_DPUS; d++) {
            metadata[d] = {ELEMENTS_PER_DPU / 2, ELEMENTS_PER_DPU / 2};
            block_addresses[d] = {&before[d * ELEMENTS_PER_DPU / 2],
                                  &before[ELEMENTS - (d + 1) * ELEMENTS_PER_DPU / 2]};
        }
        set.copyScatterGather("buffer", blocks, bytes);
        set.exec();
        set.copy(metadata, "metadata");
        int32_t *next = after.data();
        for (int block = 0; block < NB_BLOCKS; block++)
            for (size_t d = 0; d < NR_DPUS; d++) {
                block_addresses[d][block] = next;
                next += metadata[d][block];
            }
        set.copyScatterGather(blocks, bytes, "buffer");
    } catch (const dpu::DpuError &error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return pivot_check("pivot (C++)", before.data(), after.data(), ELEMENTS,
                       block_addresses[0][1] - after.data());
}
