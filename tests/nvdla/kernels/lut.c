/* Look-up tables: the loops for each kind of instructions against integers, one value at a time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native/cpu.h"
#include "native/int_lut.h"
#include "native/native.h"

static uint64_t state = 4711;

static int64_t number(int64_t low, int64_t high)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return low + (int64_t)((state >> 20) % (uint64_t)(high - low + 1));
}

/* What the registers say. */
struct registers {
    int cdp, linear, under, over, hybrid, offset, select[2], shift[2][2];
    int64_t start[2], origin[2][2], scale[2][2];
    int table[322];
};

static int64_t power(int shift)
{
    return (int64_t)1 << shift;
}

static __int128 shifted(__int128 value, int shift)
{
    if (shift <= 0)
        return value * power(-shift);
    __int128 half = power(shift - 1);
    return value < 0 ? -((-value + half) >> shift) : (value + half) >> shift;
}

static __int128 cut(__int128 value, int bits)
{
    __int128 limit = power(bits - 1);
    return value < -limit ? -limit : value >= limit ? limit - 1 : value;
}

enum { HIT, UNDER, OVER };

/* Entry, and the fraction in 35 bits. */
static int find(const struct registers *r, int which, int64_t distance, int *entry, int64_t *part)
{
    int last = which ? 256 : 64;
    if (distance <= 0)
        return UNDER;
    if (!which && !r->linear) {
        int exponent = 63 - __builtin_clzll((uint64_t)distance);
        if (exponent < r->offset)
            return UNDER;
        if (exponent - r->offset >= last)
            return OVER;
        *entry = exponent - r->offset;
        __int128 wide = (__int128)(distance - power(exponent)) << 35;
        *part = (int64_t)(wide >> exponent);
        return HIT;
    }
    int select = r->select[which];
    __int128 steps = select >= 0 ? distance >> select : (__int128)distance << -select;
    if (steps >= last)
        return OVER;
    *entry = (int)steps;
    *part = select <= 0 ? 0 : (int64_t)(((__int128)(distance & (power(select) - 1)) << 35) >> select);
    return HIT;
}

static int64_t value_of(const struct registers *r, int which, int64_t value, int kind, int entry,
                        int64_t part)
{
    const int *table = r->table + (which ? 65 : 0);
    int bits = r->cdp ? 16 : 32, side = kind == OVER;
    if (kind == HIT) {
        __int128 low = table[entry], step = table[entry + 1] - table[entry];
        if (r->cdp)
            return (int64_t)cut(low + shifted(step * (part >> 19), 16), bits);
        return (int64_t)cut(shifted(low * power(35) + step * part, 35), bits);
    }
    __int128 step = shifted((__int128)(value - r->origin[which][side]) * r->scale[which][side],
                            r->shift[which][side]);
    return (int64_t)cut(cut(step, 32) + table[side ? (which ? 256 : 64) : 0], bits);
}

static int64_t expected(const struct registers *r, int64_t value, struct sim_lut_counts *counts)
{
    int kinds[2], entries[2], chosen = r->hybrid;
    int64_t parts[2];
    for (int which = 0; which < 2; which++)
        kinds[which] = find(r, which, value - r->start[which], &entries[which], &parts[which]);
    if (kinds[0] == UNDER && kinds[1] == UNDER)
        chosen = r->under;
    else if (kinds[0] == OVER && kinds[1] == OVER)
        chosen = r->over;
    else if ((kinds[0] == HIT) != (kinds[1] == HIT))
        chosen = kinds[1] == HIT;
    counts->all++;
    if (r->cdp) {
        counts->le += kinds[0] == HIT && kinds[1] != HIT;
        counts->lo += kinds[1] == HIT && kinds[0] != HIT;
        counts->under += kinds[0] == UNDER && kinds[1] == UNDER;
        counts->over += kinds[0] == OVER && kinds[1] == OVER;
    } else {
        counts->le += kinds[0] == HIT;
        counts->lo += kinds[1] == HIT;
        counts->under += kinds[chosen] == UNDER;
        counts->over += kinds[chosen] == OVER;
    }
    return value_of(r, chosen, value, kinds[chosen], entries[chosen], parts[chosen]);
}

static void settings(struct registers *r, struct sim_lut *lut)
{
    memset(lut, 0, sizeof *lut);
    int wide = (int)number(0, 1), flat = (int)number(0, 1);
    int64_t reach = wide ? power(30) : 400;
    r->cdp = (int)number(0, 1);
    r->linear = (int)number(0, 1);
    r->under = (int)number(0, 1);
    r->over = (int)number(0, 1);
    r->hybrid = (int)number(0, 1);
    r->offset = (int)number(-4, 12);
    for (int i = 0; i < 322; i++)
        r->table[i] = (int)(flat ? number(-16383, 16383) : number(-32768, 32767));
    for (int which = 0; which < 2; which++) {
        r->select[which] = (int)(wide ? number(15, 31) : number(-3, 6));
        r->start[which] = number(-reach, reach);
        for (int side = 0; side < 2; side++) {
            r->origin[which][side] = number(-reach, reach);
            r->scale[which][side] = number(-32768, 32767);
            r->shift[which][side] = (int)number(-16, 15);
            lut->origin[which][side] = (double)r->origin[which][side];
            lut->slope[which][side] =
                __builtin_ldexp((double)r->scale[which][side], -r->shift[which][side]);
        }
        lut->start[which] = (double)r->start[which];
        lut->scale[which] = __builtin_ldexp(1.0, -r->select[which]);
    }
    lut->cdp = r->cdp, lut->linear = r->linear, lut->exponent = r->offset;
    lut->under = r->under, lut->over = r->over, lut->hybrid = r->hybrid;
    lut->limit = r->cdp ? 32768.0 : 2147483648.0;
    for (int i = 0; i < 322; i++) {
        lut->entries[i] = r->table[i];
        lut->steps[i] = i == 64 || i == 321 ? 0.0 : r->table[i + 1] - r->table[i];
    }
}

static int differs(void)
{
    for (int run = 0; run < 300; run++) {
        struct registers r;
        struct sim_lut lut;
        struct sim_lut_counts found = {0}, right = {0};
        settings(&r, &lut);
        int count = (int)number(1, 70);
        int64_t *inputs = malloc(sizeof *inputs * (size_t)count);
        double *values = malloc(sizeof *values * (size_t)count);
        int64_t reach = run % 2 ? power(31) - 1 : 1000;
        for (int i = 0; i < count; i++)
            values[i] = (double)(inputs[i] = number(-reach, reach));
        sim_lut_apply(&lut, values, count, &found);
        int wrong = 0;
        for (int i = 0; i < count; i++)
            wrong |= values[i] != (double)expected(&r, inputs[i], &right);
        free(inputs);
        free(values);
        if (wrong || memcmp(&found, &right, sizeof found) != 0)
            return 1;
    }
    return 0;
}

/* What is looked up in 32 bits, most of it where LO has it. */
static int brief_differs(void)
{
    int used = 0, narrow = 0;
    for (int run = 0; run < 2000; run++) {
        struct registers r;
        struct sim_lut lut;
        struct sim_lut_brief brief;
        struct sim_lut_counts found = {0}, found_32 = {0}, right = {0};
        settings(&r, &lut);
        if (run % 3 == 0) /* LE is far away, or everywhere */
            lut.start[0] = (double)(r.start[0] = number(-1, 1) * (power(37) - 1));
        if (!sim_lut_brief(&lut, &brief))
            continue;
        enum { MOST = 200 };
        double values[MOST];
        int32_t values_32[MOST], results[MOST], results_32[MOST];
        int count = (int)number(1, MOST), strays = (int)number(0, 30), select = r.select[1];
        int64_t last = select < 0 ? 256 >> -select : (int64_t)256 << select;
        for (int i = 0; i < count; i++) {
            int64_t value = r.start[1] + number(1, last);
            if (number(0, 99) < strays)
                value = r.start[1] + number(-10, 10) + number(0, 1) * last;
            value = value > power(28) - 1 ? power(28) - 1 : value < -power(28) + 1 ? -power(28) + 1 : value;
            values[i] = values_32[i] = (int32_t)value;
        }
        sim_lut_look_up(&brief, values, results, count, &found);
        for (int i = 0; i < count; i++)
            if (results[i] != expected(&r, values_32[i], &right))
                return 1;
        if (memcmp(&found, &right, sizeof found) != 0)
            return 1;
        used++;
        if (!brief.narrow)
            continue;
        narrow++;
        sim_lut_look_up_32(&brief, values_32, results_32, count, &found_32);
        if (memcmp(results, results_32, sizeof *results * (size_t)count) != 0 ||
            memcmp(&found, &found_32, sizeof found) != 0)
            return 1;
    }
    return used < 100 || narrow < 50;
}

static int check(const char *level)
{
    sim_isa(level);
    int wrong = differs() | brief_differs();
    printf("%s %s\n", level, wrong ? "is wrong" : "is right");
    return wrong;
}

int main(int count, char **words)
{
    if (count > 1)
        sim_isa(words[1]);
    int there = sim_cpu(), wrong = check("portable");
    if (there & SIM_CPU_AVX2)
        wrong |= check("avx2");
    if (there & SIM_CPU_AVX512)
        wrong |= check("avx512");
    return wrong;
}
