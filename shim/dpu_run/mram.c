/*
 * DMA between MRAM and WRAM.
 *
 * MRAM addresses count modulo 64 MiB: 0x80 and 0x08000080 are the same word. The hardware moves 8 to
 * 2048 bytes, multiples of 8, between addresses that are multiples of 8 and ignores the low bits of
 * what it is given; strict checks report it. The WRAM side may also be a stack, which lies outside
 * WRAM here. Every transfer lets the next tasklet run, as the wait for the DMA engine does.
 * Source: UPMEM SDK 2025.1, user manual, "Memory management", "MRAM management".
 */
#include "race.h"
#include "times.h"
#include "written.h"

#include <mram.h>
#include <mram_unaligned.h>
#include <seqread.h>

void rt_mram_load(uint32_t from, void *to, uint32_t size);
void rt_mram_store(const void *from, uint32_t to, uint32_t size);

static bool in_wram(uint64_t address, uint32_t size)
{
    return (address >= WRAM_BASE && address + size <= WRAM_BASE + WRAM_SIZE)
        || (address >= STACKS_BASE && address + size <= STACKS_END);
}

/*
 * One word at an address inside it is an idiom (PrIM's TRNS reads bit arrays so): the hardware moves
 * the word that holds the address. It is worth a warning; everything else moves the wrong bytes.
 */
static void misaligned(uint32_t mram, uintptr_t wram, uint32_t size, uint64_t pc)
{
    if (size == 8 && (wram & 7) == 0 && rt_check(CHECK_MRAM_ALIGNMENT) == CHECK_FAULT)
        rt_warn(FAULT_MRAM_ALIGN, pc, mram, size, wram, 0);
    else
        rt_report(CHECK_MRAM_ALIGNMENT, FAULT_MRAM_ALIGN, pc, mram, size, wram);
}

struct transfer {
    uint32_t offset, size;
    uintptr_t wram;
};

/* Applies the checks, then what the hardware does with what they let pass. False: nothing to move. */
static bool prepare(struct transfer *t, uint32_t mram, uintptr_t wram, uint32_t size, uint64_t pc)
{
    uint32_t offset = mram & (MRAM_SIZE - 1);
    bool known = mram < MRAM_SIZE || (mram >= MRAM_BASE && mram < MRAM_BASE + MRAM_SIZE);
    if (((mram | wram | size) & 7) == 0 && size - 1 < 2048 && known && offset + size <= MRAM_SIZE
        && in_wram(wram, size)) {
        *t = (struct transfer){offset, size, wram};
        return true;
    }
    if ((mram | wram) & 7)
        misaligned(mram, wram, size, pc);
    if ((size & 7) || size - 1 >= 2048)
        rt_report(CHECK_DMA_SIZE, FAULT_DMA_SIZE, pc, mram, size, wram);
    if (!known || offset + size > MRAM_SIZE)
        rt_report(CHECK_MRAM_BOUNDS, FAULT_MRAM_BOUNDS, pc, mram, size, wram);
    offset &= ~7u;
    wram &= ~(uintptr_t)7;
    size = ((((size >> 3) - 1) & 0xff) + 1) << 3; /* the field of the instruction */
    if (offset + size > MRAM_SIZE)
        size = MRAM_SIZE - offset;
    if (!in_wram(wram, size)) {
        rt_report(CHECK_WRAM_BOUNDS, FAULT_DMA_WRAM, pc, wram, size, mram);
        return false;
    }
    *t = (struct transfer){offset, size, wram};
    return true;
}

static void end_of_transfer(uint32_t offset, uint32_t size, bool write)
{
    rt_dma_cycles += (write ? 61 : 77) + size / 2;
    if (rt_timed)
        rt_time_dma(offset, size, write);
}

API void mram_read(const __mram_ptr void *from, void *to, unsigned int size)
{
    struct transfer t;
    uint32_t mram = (uint32_t)(uintptr_t)from;
    rt_time_event(0);
    if (prepare(&t, mram, (uintptr_t)to, size, CALLER)) {
        rt_written_read(t.offset, t.wram, t.size, CALLER);
        race_watch((void *)t.wram, t.size, true, CALLER);
        rt_copy((void *)t.wram, (const void *)(uintptr_t)(MRAM_BASE + t.offset), t.size);
        rt_pages_used(t.offset, t.size);
        end_of_transfer(t.offset, t.size, false);
    }
    rt_yield();
}

API void mram_write(const void *from, __mram_ptr void *to, unsigned int size)
{
    struct transfer t;
    rt_time_event(0);
    if (prepare(&t, (uint32_t)(uintptr_t)to, (uintptr_t)from, size, CALLER)) {
        race_watch((const void *)t.wram, t.size, false, CALLER);
        rt_copy((void *)(uintptr_t)(MRAM_BASE + t.offset), (const void *)t.wram, t.size);
        if (rt_unwritten)
            rt_unwritten->stored(t.wram, t.offset, t.size);
        else
            rt_mark_written(t.offset, t.size);
        rt_pages_used(t.offset, t.size);
        end_of_transfer(t.offset, t.size, true);
    }
    rt_yield();
}

/*
 * ldma and sdma of an asm statement: bits 31-24 of the WRAM operand hold words less one, added to the
 * immediate. A WRAM address needs those bits itself here: they are 0x07, and 0x10 or 0x11 in a stack.
 */
static uint32_t unpack(uint32_t wram, uint32_t immediate, uintptr_t *address)
{
    uint32_t page = (wram & 0x00ff0000u) == (WRAM_BASE & 0x00ff0000u)
        ? WRAM_BASE >> 24
        : (STACKS_BASE + __rt_me * STACK_STRIDE) >> 24;
    *address = (uintptr_t)((wram & 0x00ffffffu) | page << 24);
    return ((((wram >> 24) - page + immediate) & 0xff) + 1) << 3;
}

API void __rt_asm_ldma(uint32_t wram, uint32_t mram, uint32_t immediate)
{
    uintptr_t to;
    uint32_t size = unpack(wram, immediate, &to);
    mram_read((const __mram_ptr void *)(uintptr_t)mram, (void *)to, size);
}

API void __rt_asm_sdma(uint32_t wram, uint32_t mram, uint32_t immediate)
{
    uintptr_t from;
    uint32_t size = unpack(wram, immediate, &from);
    mram_write((const void *)from, (__mram_ptr void *)(uintptr_t)mram, size);
}

/* ---- without the check of alignment; no yield. Unwritten words are looked for where accesses are told. */

void rt_mram_load(uint32_t from, void *to, uint32_t size)
{
    uint32_t offset = from & (MRAM_SIZE - 1);
    rt_time_event(0);
    uint32_t part = size < MRAM_SIZE - offset ? size : MRAM_SIZE - offset;
    rt_copy(to, (const void *)(uintptr_t)(MRAM_BASE + offset), part);
    if (part < size)
        rt_copy((uint8_t *)to + part, (const void *)(uintptr_t)MRAM_BASE, size - part);
    if (rt_unwritten)
        rt_unwritten->loaded(offset, (uintptr_t)to, part);
    rt_pages_used(offset, size);
    end_of_transfer(offset, size, false);
}

static void store(const void *from, uint32_t to, uint32_t size)
{
    uint32_t offset = to & (MRAM_SIZE - 1);
    if (size > MRAM_SIZE - offset)
        size = MRAM_SIZE - offset;
    rt_time_event(0);
    rt_copy((void *)(uintptr_t)(MRAM_BASE + offset), from, size);
    rt_mark_written(offset & ~7u, ((offset & 7) + size + 7) & ~7u);
    rt_pages_used(offset, size);
    rt_dma_cycles += 61 + size / 2;
}

void rt_mram_store(const void *from, uint32_t to, uint32_t size)
{
    store(from, to, size);
    if (rt_timed)
        rt_time_dma(to & (MRAM_SIZE - 1), size, true);
}

/* ---- mram_unaligned.h ---- */

static bool unaligned_known(uint32_t mram, uint32_t size, uint64_t pc)
{
    bool known = mram < MRAM_SIZE || (mram >= MRAM_BASE && mram < MRAM_BASE + MRAM_SIZE);
    if (known && (uint64_t)(mram & (MRAM_SIZE - 1)) + size <= MRAM_SIZE)
        return true;
    rt_report(CHECK_MRAM_BOUNDS, FAULT_MRAM_BOUNDS, pc, mram, size, 0);
    return false;
}

/* Instructions of the library's routines, for launches in hardware time: the source of them, and
 * published times of their loops, which leave 16 for the two that move whole words. */
#define READ_UNALIGNED 11u
#define WRITE_ALIGNED 7u
#define WRITE_UNALIGNED 20u
#define WRITE_PART 30u /* a word that is written in part: lock, read, write, unlock */
#define WRITE_BYTE 5u

/* The word at an end of what is written: read, changed and written under a lock. */
static void timed_part(uint32_t mram, uint32_t bytes)
{
    uint32_t offset = mram & (MRAM_SIZE - 8);
    rt_time_event(WRITE_PART / 2);
    rt_time_dma(offset, 8, false);
    rt_time_event(WRITE_PART / 2 + WRITE_BYTE * bytes);
    rt_time_dma(offset, 8, true);
}

static void timed_write(uint32_t mram, uint32_t size)
{
    uint32_t before = -mram & 7;
    if (((mram | size) & 7) == 0) {
        rt_time_event(WRITE_ALIGNED);
        rt_time_dma(mram & (MRAM_SIZE - 1), size, true);
        return;
    }
    rt_time_add(WRITE_UNALIGNED);
    if (before) {
        before = before < size ? before : size;
        timed_part(mram, before);
    }
    uint32_t whole = (size - before) & ~7u, after = (size - before) & 7;
    if (whole) {
        rt_time_event(1);
        rt_time_dma((mram + before) & (MRAM_SIZE - 1), whole, true);
    }
    if (after)
        timed_part(mram + before + whole, after);
}

API void *mram_read_unaligned(const __mram_ptr void *from, void *buffer, unsigned int size)
{
    uint32_t mram = (uint32_t)(uintptr_t)from, shift = mram & 7;
    if (!unaligned_known(mram, size, CALLER))
        return buffer;
    rt_time_add(READ_UNALIGNED);
    rt_mram_load(mram - shift, buffer, (shift + size + 7) & ~7u);
    rt_yield();
    return (uint8_t *)buffer + shift;
}

API void mram_write_unaligned(const void *from, __mram_ptr void *dest, unsigned int size)
{
    uint32_t mram = (uint32_t)(uintptr_t)dest;
    if ((mram ^ (uint32_t)(uintptr_t)from) & 7)
        rt_fault(FAULT_PROGRAM, 8, CALLER, mram, size);
    if (unaligned_known(mram, size, CALLER)) {
        store(from, mram, size);
        if (rt_timed)
            timed_write(mram, size);
    }
    rt_yield();
}

static uint32_t held_word[MAX_TASKLETS]; /* MRAM word + 1 that a tasklet updates */

static void hold_word(uint32_t mram, uint64_t pc)
{
    uint32_t word = (mram & (MRAM_SIZE - 1) & ~7u) + 1;
    if (rt_timed)
        rt_time_settle_release();
    for (uint32_t i = 0; i < MAX_TASKLETS; i++)
        if (held_word[i] == word && rt_wait[i].kind != WAIT_ENDED && i != __rt_me) {
            rt_block(WAIT_VMUTEX, word, pc);
            i = (uint32_t)-1;
        }
    held_word[__rt_me] = word;
}

static void release_word(void)
{
    uint32_t word = held_word[__rt_me];
    held_word[__rt_me] = 0;
    rt_wake_one(WAIT_VMUTEX, word);
}

API void mram_update_int_atomic(__mram_ptr int *dest, void (*update)(int *, void *), void *args)
{
    uint32_t mram = (uint32_t)(uintptr_t)dest;
    int value;
    if (!unaligned_known(mram, 4, CALLER))
        return;
    hold_word(mram, CALLER);
    rt_mram_load(mram, &value, 4);
    update(&value, args);
    rt_mram_store(&value, mram, 4);
    release_word();
    rt_yield();
}

API void mram_write_int_atomic(__mram_ptr int *dest, int value)
{
    uint32_t mram = (uint32_t)(uintptr_t)dest;
    if (!unaligned_known(mram, 4, CALLER))
        return;
    hold_word(mram, CALLER);
    rt_mram_store(&value, mram, 4);
    release_word();
    rt_yield();
}

API void mram_update_byte_atomic(
    __mram_ptr uint8_t *dest, void (*update)(uint8_t *, void *), void *args)
{
    uint32_t mram = (uint32_t)(uintptr_t)dest;
    uint8_t value;
    if (!unaligned_known(mram, 1, CALLER))
        return;
    hold_word(mram, CALLER);
    rt_mram_load(mram, &value, 1);
    update(&value, args);
    rt_mram_store(&value, mram, 1);
    release_word();
    rt_yield();
}

API void mram_write_byte_atomic(__mram_ptr uint8_t *dest, uint8_t value)
{
    uint32_t mram = (uint32_t)(uintptr_t)dest;
    if (!unaligned_known(mram, 1, CALLER))
        return;
    hold_word(mram, CALLER);
    rt_mram_store(&value, mram, 1);
    release_word();
    rt_yield();
}
