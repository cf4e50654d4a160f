/*
 * Accesses through a NULL pointer. A DPU keeps 16 bytes at WRAM address 0 for them
 * (__sys_null_pointer), and public programs lock and count there. No process has memory at address 0,
 * so the instruction is executed with its base register moved to where WRAM lies, as a single step.
 */
#include "null_pointer.h"
#include "operand.h"

#define SINGLE_STEP 0x100u

static struct {
    int8_t place; /* of the register, -1: no step is under way */
    uint64_t before, moved;
} step = {.place = -1};

/* Behind prefixes and opcode, where the ModRM byte stands; NULL for encodings that have none. */
static const uint8_t *behind_opcode(const uint8_t *p, uint8_t *extension)
{
    *extension = 0;
    while (*p == 0x66 || *p == 0x67 || *p == 0xf2 || *p == 0xf3 || *p == 0xf0)
        p++;
    if (*p == 0xc5) /* VEX, which extends neither base nor index */
        return p + 3;
    if (*p == 0xc4) { /* VEX of three bytes: R, X, B inverted in bits 7 to 5 */
        *extension = (p[1] & 0x20 ? 0 : EXTENDS_BASE) | (p[1] & 0x40 ? 0 : EXTENDS_INDEX);
        return p + 4;
    }
    if ((*p & 0xf0) == 0x40)
        *extension = *p++ & 3;
    if (*p == 0x0f)
        return p[1] == 0x38 || p[1] == 0x3a ? p + 3 : p + 2;
    bool implied = (*p >= 0xa0 && *p <= 0xaf) || (*p >= 0x50 && *p <= 0x62) || *p >= 0xe0;
    return implied && *p != 0xf6 && *p != 0xf7 && *p != 0xfe && *p != 0xff ? NULL : p + 1;
}

bool rt_null_begin(uint64_t *registers, uint64_t address)
{
    uint8_t extension;
    const uint8_t *modrm = behind_opcode((const uint8_t *)(uintptr_t)registers[RIP], &extension);
    if (address >= NULL_BYTES || modrm == NULL)
        return false;
    struct operand o = decode_operand(modrm, extension);
    uint64_t offset = WRAM_BASE;
    if (o.mod == 3 || o.relative)
        return false;
    if (o.base < 0)
        offset >>= o.scale; /* only an index: WRAM_BASE is a multiple of 8 */
    step.place = o.base >= 0 ? o.base : o.index;
    if (step.place < 0)
        return false;
    step.before = registers[step.place];
    step.moved = registers[step.place] += offset;
    registers[FLAGS] |= SINGLE_STEP;
    return true;
}

bool rt_null_pending(void)
{
    return step.place >= 0;
}

void rt_null_end(uint64_t *registers)
{
    if (registers[step.place] == step.moved) /* otherwise the instruction loaded it */
        registers[step.place] = step.before;
    registers[FLAGS] &= ~(uint64_t)SINGLE_STEP;
    step.place = -1;
}
