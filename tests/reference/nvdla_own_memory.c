/* The bridge DMA of an engine copies lines between places in memory that the program brought. */
#include <cudla_sim.h>
#include <nvdla/nvdla_interface.h>
#include <nvdla/opendla.h>

#include <sys/mman.h>

#include "check.h"

enum { LINE = 64, LINES = 8, PITCH = 256, SIZE = 1 << 16, TARGET = 1 << 15 };

/* LINES lines of LINE bytes, PITCH bytes apart, become one piece. */
static void pack(void *core, uint64_t from, uint64_t to)
{
    const uint32_t settings[][2] = {
        {BDMA_CFG_SRC_ADDR_LOW_0, (uint32_t)from},
        {BDMA_CFG_SRC_ADDR_HIGH_0, (uint32_t)(from >> 32)},
        {BDMA_CFG_DST_ADDR_LOW_0, (uint32_t)to},
        {BDMA_CFG_DST_ADDR_HIGH_0, (uint32_t)(to >> 32)},
        {BDMA_CFG_LINE_0, LINE / 32 - 1}, /* a unit is 32 bytes */
        {BDMA_CFG_CMD_0, 3},              /* both are DRAM */
        {BDMA_CFG_LINE_REPEAT_0, LINES - 1},
        {BDMA_CFG_SRC_LINE_0, PITCH},
        {BDMA_CFG_DST_LINE_0, LINE},
        {BDMA_CFG_SURF_REPEAT_0, 0},
        {GLB_S_INTR_MASK_0, 0},
        {BDMA_CFG_OP_0, 1},
        {BDMA_CFG_LAUNCH0_0, 1},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        dla_reg_write(core, settings[i][0], settings[i][1]);
    }
}

int main(void)
{
    int protection = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS;
    simStatus status;
    uint8_t *memory = mmap(NULL, SIZE, protection, kind, -1, 0);
    CHECK(memory != MAP_FAILED);
    for (int i = 0; i < LINES * PITCH; i++) {
        memory[i] = (uint8_t)(i * 7 + i / PITCH);
    }

    /* Bus addresses are those of the program, as soon as the engine may use them. */
    status = simNvdlaMemory(memory, SIZE);
    CHECK(status == simSuccess);
    CHECK(simNvdlaMemory(memory, SIZE) == simErrorInvalidParam);

    pack(simNvdlaContext(0), (uintptr_t)memory, (uintptr_t)memory + TARGET);
    int moved = 1, interrupt = 0;
    while (moved && !interrupt) {
        CHECK(simNvdlaStep(0, &moved, &interrupt) == simSuccess);
    }
    uint32_t done = dla_reg_read(simNvdlaContext(0), GLB_S_INTR_STATUS_0);
    CHECK(interrupt && done == GLB_S_INTR_STATUS_0_BDMA_DONE_STATUS0_FIELD);
    for (int i = 0; i < LINES * LINE; i++) {
        CHECK(memory[TARGET + i] == memory[i / LINE * PITCH + i % LINE]);
    }
    CHECK(memory[TARGET + LINES * LINE] == 0);

    /* It must not be used any more before it is given back to the system. */
    CHECK(simNvdlaMemory(memory, 0) == simSuccess);
    CHECK(simNvdlaMemory(memory, 0) == simErrorInvalidParam);
    CHECK(munmap(memory, SIZE) == 0);
    puts("ok");
    return 0;
}
