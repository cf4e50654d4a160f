/* Marks the program file: `.note.cudla_sim_vpu`, version 2: the protocol's. */
#include "protocol.h"

__attribute__((section(".note.cudla_sim_vpu"), used, aligned(4))) static const struct {
    uint32_t name_size, size, type;
    char name[12];
    uint32_t version;
} note = {10, 4, 1, "cudla-sim", PVA_PROTOCOL_VERSION};
