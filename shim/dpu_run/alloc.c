/*
 * Allocators in WRAM: the growing heap, blocks of one size, and buddies.
 *
 * The heap starts after the program's data and the declared stacks and ends with WRAM (and, with the
 * check heap_on_stacks at "warn" or "off", goes on in the place of the stacks, which lie elsewhere). Its pointer is
 * in WRAM, so it persists from one launch to the next until mem_reset().
 * Source: UPMEM SDK 2025.1, user manual, "Memory management".
 */
#include "times.h"

#include <alloc.h>
#include <buddy_alloc.h>
#include <errno.h>
#include <fsb_allocator.h>

extern char __sys_heap_pointer_reset[] __attribute__((visibility("default")));
extern volatile uintptr_t __sys_heap_pointer;

extern char __rt_stacks_start[];

/* In hardware time: instructions of the library's routine, and the mutex that it holds. */
#define ALLOC_OUTSIDE 7u
#define ALLOC_INSIDE 10u
#define HEAP_BIT 1u

static uintptr_t heap_start(void)
{
    return (uintptr_t)__sys_heap_pointer_reset;
}

/*
 * The heap is full. The declared stacks are accounted for in WRAM, but lie elsewhere: programs that
 * count on a little more than a DPU has go on there, with a warning.
 */
static uintptr_t instead_of_stacks(uintptr_t start, size_t size, uint64_t pc)
{
    uintptr_t first = ((uintptr_t)__rt_stacks_start + 7) & ~(uintptr_t)7;
    uint32_t left = start > WRAM_BASE + WRAM_SIZE ? 0 : (uint32_t)(WRAM_BASE + WRAM_SIZE - start);
    if (start < heap_start() || rt_check(CHECK_HEAP_ON_STACKS) == CHECK_FAULT
        || size > heap_start() - first)
        rt_fault(FAULT_PROGRAM, 1, pc, start - WRAM_BASE, size);
    if (rt_check(CHECK_HEAP_ON_STACKS) == CHECK_WARN)
        rt_warn(FAULT_HEAP, pc, start - WRAM_BASE, size, left, 0);
    return first;
}

static void *take(size_t size, uint64_t pc)
{
    uintptr_t start = __sys_heap_pointer;
    if (size != 0)
        start = (start + 7) & ~(uintptr_t)7;
    uintptr_t end = start < heap_start() ? heap_start() : WRAM_BASE + WRAM_SIZE;
    if (start > end || size > end - start)
        start = instead_of_stacks(start, size, pc);
    __sys_heap_pointer = start + size;
    return (void *)start;
}

static void *allocate(size_t size, uint64_t pc)
{
    if (rt_timed) {
        rt_time_add(ALLOC_OUTSIDE);
        rt_time_take(HEAP_BIT, pc);
        rt_time_add(ALLOC_INSIDE);
        if (rt_race_on) {
            rt_race_acquire(HEAP_BIT);
            rt_race_release(HEAP_BIT);
        }
        rt_time_free(HEAP_BIT);
    } else { /* a program may hold it around calls of mem_alloc_nolock */
        __rt_acquire(HEAP_BIT);
        __rt_release(HEAP_BIT);
    }
    return take(size, pc);
}

API void *mem_alloc(size_t size)
{
    return allocate(size, CALLER);
}

/* For programs that hold the atomic bit __heap_pointer themselves. */
API void *mem_alloc_nolock(size_t size)
{
    if (rt_timed)
        rt_time_add(ALLOC_INSIDE);
    return take(size, CALLER);
}

API void *mem_reset(void)
{
    __sys_heap_pointer = (uintptr_t)__sys_heap_pointer_reset;
    return (void *)__sys_heap_pointer;
}

/* ---- blocks of one size: a list of the free ones, linked through their first word ---- */

API fsb_allocator_t fsb_alloc(unsigned int block_size, unsigned int nb_of_blocks)
{
    block_size = (block_size + 7) & ~7u;
    if (block_size == 0)
        block_size = 8;
    if ((uint64_t)block_size * nb_of_blocks > WRAM_SIZE)
        rt_fault(FAULT_PROGRAM, 1, CALLER, __sys_heap_pointer - WRAM_BASE,
            (uint64_t)block_size * nb_of_blocks);
    fsb_allocator_t allocator = allocate(sizeof(void *), CALLER);
    uint8_t *blocks = allocate(block_size * nb_of_blocks, CALLER);
    *allocator = nb_of_blocks ? blocks : NULL;
    for (unsigned int i = 0; i < nb_of_blocks; i++)
        *(void **)(blocks + i * block_size)
            = i + 1 < nb_of_blocks ? blocks + (i + 1) * block_size : NULL;
    return allocator;
}

API void *fsb_get(fsb_allocator_t allocator)
{
    void *block = *allocator;
    if (block != NULL)
        *allocator = *(void **)block;
    return block;
}

API void fsb_free(fsb_allocator_t allocator, void *block)
{
    if (block == NULL)
        return;
    *(void **)block = *allocator;
    *allocator = block;
}

/*
 * ---- buddies ----
 * A binary tree over the area, node 1 the whole, nodes 2n and 2n+1 the halves of n, leaves 16 bytes;
 * two bits a node.
 */
#define BUDDY_MIN 16u
enum { FREE = 0, SPLIT = 1, USED = 2 };

IN_WRAM("buddy") static uint8_t *buddy_area = NULL;
IN_WRAM("buddy") static uint8_t *buddy_nodes = NULL;
IN_WRAM("buddy") static uint32_t buddy_size = 0;

static uint32_t node_state(uint32_t node)
{
    return (buddy_nodes[node >> 2] >> (2 * (node & 3))) & 3u;
}

static void set_node(uint32_t node, uint32_t state)
{
    uint8_t *byte = &buddy_nodes[node >> 2];
    uint32_t shift = 2 * (node & 3);
    *byte = (uint8_t)((*byte & ~(3u << shift)) | (state << shift));
}

API void buddy_init(size_t size)
{
    uint32_t rounded = BUDDY_MIN;
    while (rounded < size && rounded < WRAM_SIZE)
        rounded *= 2;
    buddy_size = rounded;
    buddy_area = allocate(rounded, CALLER);
    buddy_nodes = allocate(rounded / BUDDY_MIN / 2, CALLER);
    buddy_reset();
}

API void buddy_reset(void)
{
    for (uint32_t i = 0; i < buddy_size / BUDDY_MIN / 2; i++)
        buddy_nodes[i] = 0;
}

/* First free part of `wanted` bytes below `node`; 0 when there is none. */
static uint32_t take_node(uint32_t node, uint32_t size, uint32_t wanted)
{
    uint32_t state = node_state(node);
    if (state == USED || size < wanted)
        return 0;
    if (size == wanted) {
        if (state != FREE)
            return 0;
        set_node(node, USED);
        return node;
    }
    if (state == FREE)
        set_node(node, SPLIT);
    uint32_t found = take_node(2 * node, size / 2, wanted);
    return found ? found : take_node(2 * node + 1, size / 2, wanted);
}

API void *buddy_alloc(size_t size)
{
    uint32_t wanted = BUDDY_MIN;
    if (size == 0 || size > buddy_size) {
        errno = size > buddy_size ? ENOMEM : EINVAL;
        return NULL;
    }
    while (wanted < size)
        wanted *= 2;
    uint32_t node = take_node(1, buddy_size, wanted);
    if (node == 0) {
        errno = ENOMEM;
        return NULL;
    }
    uint32_t level = 31 - (uint32_t)__builtin_clz(node);
    return buddy_area + (node - (1u << level)) * (buddy_size >> level);
}

/* The used node that starts at `pointer` and its size; 0 when it is none of ours. */
static uint32_t find_node(const void *pointer, uint32_t *size)
{
    uintptr_t offset = (uintptr_t)pointer - (uintptr_t)buddy_area;
    if (buddy_size == 0 || offset >= buddy_size)
        return 0;
    uint32_t node = 1, start = 0;
    *size = buddy_size;
    while (node_state(node) == SPLIT && *size > BUDDY_MIN) {
        *size /= 2;
        node *= 2;
        if (offset >= start + *size) {
            start += *size;
            node++;
        }
    }
    return node_state(node) == USED && start == offset ? node : 0;
}

API void buddy_free(void *pointer)
{
    uint32_t size, node = find_node(pointer, &size);
    if (node == 0) {
        if (pointer != NULL)
            errno = EINVAL;
        return;
    }
    set_node(node, FREE);
    while (node > 1 && node_state(node ^ 1) == FREE) {
        node /= 2;
        set_node(node, FREE);
    }
}

API void *buddy_realloc(void *pointer, size_t size)
{
    if (pointer == NULL)
        return buddy_alloc(size);
    uint32_t old;
    if (find_node(pointer, &old) == 0) {
        errno = EINVAL;
        return NULL;
    }
    if (size == 0) {
        buddy_free(pointer);
        return NULL;
    }
    if (size <= old && (size > old / 2 || old == BUDDY_MIN))
        return pointer;
    void *moved = buddy_alloc(size);
    if (moved == NULL)
        return NULL;
    rt_copy(moved, pointer, (uint32_t)(size < old ? size : old));
    buddy_free(pointer);
    return moved;
}
