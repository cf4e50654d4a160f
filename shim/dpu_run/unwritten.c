/*
 * Where a program uses MRAM that nobody wrote. It tells its accesses (race_watch.c).
 *
 * Each word of WRAM and of the stacks knows which of its bytes a transfer brought from a word of MRAM that
 * nobody wrote, and from where. Reading such a byte is the mistake; writing it, by the program or a later
 * transfer, ends it. memcpy and memmove hand it on, and so does a transfer back to MRAM, as long as all of
 * a word is unwritten: what is only moved is not used. What writes without telling (string functions,
 * arguments in memory) leaves zeros at worst, the value that unwritten MRAM has: another one is taken for
 * written.
 */
#include "written.h"

#define ALL 0xffu /* bytes of a word: the low eight bits; above them the word of MRAM */

static struct shadow {
    uint32_t wram[WRAM_SIZE / 8];
    uint32_t stacks[(STACKS_END - STACKS_BASE) / 8];
} *shadow;
static bool marked; /* some byte, in this launch */

static uint32_t *shadow_of(uintptr_t address)
{
    if (address - WRAM_BASE < WRAM_SIZE)
        return &shadow->wram[(address - WRAM_BASE) / 8];
    if (address - STACKS_BASE < STACKS_END - STACKS_BASE)
        return &shadow->stacks[(address - STACKS_BASE) / 8];
    return NULL;
}

/* The bytes of the word that holds `address` from there on, at most `size`. */
static uint32_t part_of_word(uintptr_t address, uint32_t size, uint32_t *bytes)
{
    uint32_t first = address & 7, count = 8 - first < size ? 8 - first : size;
    *bytes = ((1u << count) - 1) << first;
    return count;
}

static void put(uintptr_t to, uint32_t size, uint32_t offset, bool never)
{
    for (uint32_t bytes, part; size; size -= part, to += part) {
        part = part_of_word(to, size, &bytes);
        uint32_t *word = shadow_of(to);
        if (word && never)
            *word = (offset >> 3) << 8 | (*word & ALL) | bytes;
        else if (word)
            *word &= ~bytes;
    }
}

static void wrote(uintptr_t address, uint32_t size)
{
    if (marked)
        put(address, size, 0, false);
}

static void loaded(uint32_t offset, uintptr_t to, uint32_t size)
{
    for (uint32_t bytes, part; size; size -= part, to += part, offset += part) {
        part = part_of_word(offset, size, &bytes);
        bool never = rt_never_written(offset & ~7u, 8);
        marked = marked || never;
        if (marked)
            put(to, part, offset, never);
    }
}

static void stored(uintptr_t from, uint32_t offset, uint32_t size)
{
    for (uint32_t i = 0; i < size && marked; i += 8) {
        const uint32_t *word = shadow_of(from + i);
        if (!word || (*word & ALL) != ALL)
            rt_mark_written(offset + i, 8);
    }
    if (!marked)
        rt_mark_written(offset, size);
}

static void copied(uintptr_t to, uintptr_t from, uint32_t size, bool backwards)
{
    for (uint32_t n = 0; n < size && marked; n++) {
        uint32_t i = backwards ? size - 1 - n : n;
        const uint32_t *word = shadow_of(from + i);
        bool never = word && *word >> ((from + i) & 7) & 1;
        put(to + i, 1, never ? *word >> 8 << 3 : 0, never);
    }
}

static bool anything_in(uintptr_t word, uint32_t bytes)
{
    for (uint32_t i = 0; i < 8; i++)
        if (bytes >> i & 1 && ((const volatile uint8_t *)word)[i])
            return true;
    return false;
}

static void used(uint32_t code, uint64_t pc, uint32_t offset, uint32_t size, uintptr_t address)
{
    if (rt_check(CHECK_MRAM_UNWRITTEN) == CHECK_FAULT) {
        rt_side.fault.other = address;
        rt_fault(FAULT_UNWRITTEN, code, pc, offset, size);
    }
    struct dpu_event event;
    rt_describe(&event, FAULT_UNWRITTEN, pc, offset, size, address);
    event.code = code;
    rt_warn_event(&event);
}

static void read(uintptr_t address, uint32_t size, uint64_t pc)
{
    uint32_t left = size;
    for (uint32_t bytes, part; left; left -= part, address += part) {
        part = part_of_word(address, left, &bytes);
        uint32_t *word = shadow_of(address);
        if (!word || !(*word & bytes))
            continue;
        if (anything_in(address & ~(uintptr_t)7, *word & bytes)) {
            *word &= ~bytes;
            continue;
        }
        uint32_t first = (uint32_t)__builtin_ctz(*word & bytes);
        used(UNWRITTEN_USED, pc, (*word >> 8 << 3) + first, size, (address & ~(uintptr_t)7) + first);
        return;
    }
}

/* A variable in MRAM, or a pointer there. */
static void direct(uint32_t offset, uint32_t size, bool write, uint64_t pc)
{
    uint32_t word = offset & ~7u, words = (offset - word + size + 7) & ~7u;
    if (offset + size > MRAM_SIZE)
        return;
    if (write)
        rt_mark_written(word, words);
    else if (rt_never_written(word, words))
        used(UNWRITTEN_DIRECT, pc, offset, size, 0);
}

void rt_unwritten_access(uintptr_t address, uint32_t size, bool write, uint64_t pc)
{
    if (!rt_unwritten)
        return;
    if (address - MRAM_BASE < MRAM_SIZE)
        direct((uint32_t)(address - MRAM_BASE), size, write, pc);
    else if (write)
        wrote(address, size);
    else if (marked)
        read(address, size, pc);
}

static const struct unwritten self = {loaded, stored, copied, wrote};

/* The first function of a launch that tells something begins it: before, nothing was moved. */
void rt_unwritten_function(void)
{
    if (rt_unwritten || rt_check(CHECK_MRAM_UNWRITTEN) == CHECK_OFF)
        return;
    if (!shadow)
        shadow = (struct shadow *)(uintptr_t)rt_syscall(9 /* mmap */, 0, sizeof(*shadow), 3,
            0x4062 /* PRIVATE | ANONYMOUS | 32BIT | NORESERVE */, (uint64_t)-1, 0);
    else if (marked)
        rt_syscall(28 /* madvise */, (uintptr_t)shadow, sizeof(*shadow), 4 /* DONTNEED */, 0, 0, 0);
    marked = false;
    rt_unwritten = &self;
}
