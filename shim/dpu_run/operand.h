/* The operand in memory (or register) of an x86 instruction: its ModRM byte and what follows. */
#ifndef DPU_RUN_OPERAND_H
#define DPU_RUN_OPERAND_H

#include "rt.h"

/* Places in the registers of a signal's context, as Linux orders them. */
enum { R8, R9, R10, R11, R12, R13, R14, R15, RDI, RSI, RBP, RBX, RDX, RAX, RCX, RSP, RIP, FLAGS };

struct operand {
    uint8_t mod, reg;
    int8_t base, index; /* places of registers, -1: none; of a register operand: base */
    uint8_t scale;      /* a shift */
    bool relative;      /* to the next instruction */
    int32_t displacement;
    const uint8_t *end;
};

/* Extension bits of REX and VEX. */
enum { EXTENDS_BASE = 1, EXTENDS_INDEX = 2 };

static inline struct operand decode_operand(const uint8_t *p, uint8_t extension)
{
    static const int8_t place[16] = {RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12,
        R13, R14, R15};
    uint8_t modrm = *p++, rm = modrm & 7;
    uint8_t high_base = extension & EXTENDS_BASE ? 8 : 0;
    uint8_t high_index = extension & EXTENDS_INDEX ? 8 : 0;
    struct operand o = {.mod = modrm >> 6, .reg = (modrm >> 3) & 7, .base = place[rm | high_base],
        .index = -1};
    bool wide = o.mod == 2;
    if (o.mod != 3 && rm == 4) {
        uint8_t sib = *p++, index = ((sib >> 3) & 7) | high_index;
        o.base = place[(sib & 7) | high_base];
        o.index = index == 4 ? -1 : place[index];
        o.scale = sib >> 6;
        if ((sib & 7) == 5 && o.mod == 0) {
            o.base = -1;
            wide = true;
        }
    } else if (o.mod == 0 && rm == 5) {
        o.base = -1;
        o.relative = wide = true;
    }
    if (wide) {
        rt_copy(&o.displacement, p, 4);
        p += 4;
    } else if (o.mod == 1) {
        o.displacement = (int8_t)*p++;
    }
    o.end = p;
    return o;
}

#endif
