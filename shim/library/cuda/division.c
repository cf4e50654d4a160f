/* The integer division that a thread of a kernel stopped at: what it divides, and how it goes on behind it. */
#define _GNU_SOURCE /* the registers' names */
#include "library/cuda/division.h"

#include <string.h>

#if defined(__x86_64__)

/* As the processor numbers them. */
static const int REGISTERS[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

static uint64_t low(uint64_t value, unsigned bits) { return bits == 64 ? value : value & ((1ull << bits) - 1); }

static int32_t word_at(const uint8_t *at)
{
    int32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* `div` and `idiv`, Intel's manual volume 2A, "Instruction format" and "DIV". */
int division_read(const mcontext_t *machine, struct division *out)
{
    const greg_t *registers = machine->gregs;
    const uint8_t *start = (const uint8_t *)registers[REG_RIP], *at = start;
    unsigned rex = 0;
    uint64_t segment = 0; /* of a thread's own variables, shared memory among them */
    out->bits = 32;
    for (; *at == 0x66 || *at == 0x64; at++) {
        if (*at == 0x66) {
            out->bits = 16;
        } else {
            __asm__("mov %%fs:0, %0" : "=r"(segment));
        }
    }
    if ((*at & 0xf0) == 0x40) { rex = *at++; }
    if ((rex & 8) != 0) { out->bits = 64; }
    if (*at == 0xf6) {
        out->bits = 8;
    } else if (*at != 0xf7) {
        return 0;
    }
    at++;
    unsigned mode = *at >> 6, kind = *at >> 3 & 7, place = *at & 7;
    at++;
    if (kind < 6) { return 0; }
    uint64_t divisor;
    if (mode == 3) {
        if (out->bits == 8 && rex == 0 && place >= 4) { /* ah, ch, dh, bh */
            divisor = (uint64_t)registers[REGISTERS[place - 4]] >> 8;
        } else {
            divisor = (uint64_t)registers[REGISTERS[place | (rex & 1) << 3]];
        }
    } else {
        uint64_t address = segment;
        int relative = mode == 0 && place == 5, wide = mode == 2 || relative;
        if (place == 4) {
            unsigned index = (*at >> 3 & 7) | (rex & 2) << 2, base = *at & 7, scale = *at >> 6;
            at++;
            if (index != 4) { address += (uint64_t)registers[REGISTERS[index]] << scale; }
            if (mode == 0 && base == 5) {
                wide = 1;
            } else {
                address += (uint64_t)registers[REGISTERS[base | (rex & 1) << 3]];
            }
        } else if (!relative) {
            address += (uint64_t)registers[REGISTERS[place | (rex & 1) << 3]];
        }
        if (wide) {
            address += (uint64_t)(int64_t)word_at(at);
            at += 4;
        } else if (mode == 1) {
            address += (uint64_t)(int64_t)(int8_t)*at++;
        }
        if (relative) { address += (uint64_t)(uintptr_t)at; }
        divisor = 0;
        memcpy(&divisor, (const void *)(uintptr_t)address, out->bits / 8); /* it was read to be divided by */
    }
    out->by_zero = low(divisor, out->bits) == 0;
    /* the upper half, rdx, is of the same number: C divides nothing wider */
    out->dividend = (uint64_t)registers[REG_RAX];
    if (out->bits < 64 && kind == 7) {
        unsigned unused = 64 - out->bits;
        out->dividend = (uint64_t)((int64_t)(out->dividend << unused) >> unused);
    } else {
        out->dividend = low(out->dividend, out->bits);
    }
    out->bytes = (size_t)(at - start);
    return 1;
}

void division_go_on(mcontext_t *machine, const struct division *of, uint64_t quotient, uint64_t remainder)
{
    greg_t *registers = machine->gregs;
    registers[REG_RIP] += (greg_t)of->bytes;
    if (of->bits == 8) { /* both in ax */
        uint64_t both = low(quotient, 8) | low(remainder, 8) << 8;
        registers[REG_RAX] = (greg_t)(((uint64_t)registers[REG_RAX] & ~0xffffull) | both);
        return;
    }
    const uint64_t results[] = {quotient, remainder};
    const int into[] = {REG_RAX, REG_RDX};
    for (int i = 0; i < 2; i++) {
        /* 16 bits leave the others, 32 clear them */
        uint64_t kept = of->bits == 16 ? (uint64_t)registers[into[i]] & ~0xffffull : 0;
        registers[into[i]] = (greg_t)(kept | low(results[i], of->bits));
    }
}

#else /* no trap: such processors give a number */

int division_read(const mcontext_t *machine, struct division *out)
{
    (void)machine;
    (void)out;
    return 0;
}

void division_go_on(mcontext_t *machine, const struct division *of, uint64_t quotient, uint64_t remainder)
{
    (void)machine;
    (void)of;
    (void)quotient;
    (void)remainder;
}

#endif
