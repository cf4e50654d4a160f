/* The file that libdpu.c and runtime.c share: a head, then for each DPU its MRAM and its variables. */
#include <stdatomic.h>

#define SLOTS 4096
#define SLOT_MRAM (64l << 20)
#define SLOT_WRAM (1l << 20)
#define SLOT_STRIDE (SLOT_MRAM + SLOT_WRAM)

struct launch {
    atomic_int next, slots;
};
