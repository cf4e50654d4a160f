"""What the DPU headers promise, seen by programs that check themselves."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cudla_sim.upmem.workers.checks import Checks

from .bench import Bench
from .conftest import Build

CHECK = """
#include <stdint.h>
__host uint32_t failed_line;
#define CHECK(x) do { if (!(x) && !failed_line) failed_line = __LINE__; } while (0)
"""
# fmt: off
HEADERS = [
    "defs.h", "alloc.h", "mram.h", "mram_unaligned.h", "barrier.h", "mutex.h", "mutex_pool.h",
    "vmutex.h", "sem.h", "handshake.h", "seqread.h", "perfcounter.h", "profiling.h",
    "built_ins.h", "atomic_bit.h", "attributes.h", "sysdef.h", "dpufault.h", "dpuruntime.h",
    "macro_utils.h", "dpu_characteristics.h", "dpuconst.h", "devprivate.h", "fsb_allocator.h",
    "buddy_alloc.h", "wramfifo.h", "soft_cache.h", "memmram_utils.h", "stdio.h", "stdlib.h",
    "string.h", "stdint.h", "stddef.h", "stdbool.h", "stdarg.h", "limits.h", "ctype.h",
    "errno.h", "assert.h", "inttypes.h", "iso646.h", "stdalign.h", "stdnoreturn.h", "float.h",
]
# fmt: on


def passes(bench: Bench, build: Build, body: str, tasklets: int = 1, *flags: str) -> None:
    program = build('#include <attributes.h>\n#line 1 "body.c"\n' + CHECK + body, tasklets, *flags)
    outcome = bench.run(program, Checks(race="off"))  # the programs count without locks
    assert (outcome.status, outcome.text, outcome.warnings) == ("done", "", [])
    line = int(bench.var("failed_line")[0])
    assert not line, (CHECK + body).splitlines()[line - 1]


def test_every_header_alone_and_together(bench: Bench, build: Build) -> None:
    alone = "".join(f"#include <{h}>\n" for h in HEADERS)
    passes(bench, build, alone + alone + "int main(void) { return 0; }")


def test_data_model(bench: Bench, build: Build, route: str) -> None:
    body = """
#include <limits.h>
#include <stddef.h>
#include <inttypes.h>
struct s { char c; uint64_t v; };
typedef unsigned
long int mixed_t;
int main(void) {
    CHECK(sizeof(long) == 8 && sizeof(long long) == 8 && sizeof(int) == 4 && sizeof(short) == 2);
    CHECK(sizeof(mixed_t) == 8 && (mixed_t)-1 > 0);
    CHECK(sizeof(1L) == 8 && sizeof(1ul) == 8 && 1L << 40 == 0x10000000000);
    CHECK(LONG_MAX == INT64_MAX && __LONG_MAX__ == LONG_MAX && __SIZEOF_LONG__ == 8);
    CHECK(sizeof(struct s) == 16 && offsetof(struct s, v) == 8);
    CHECK((char)-1 < 0);
    CHECK(sizeof "long 1L" == 8);
#ifdef SMALL_POINTERS
    CHECK(sizeof(void *) == 4 && sizeof(size_t) == 4 && sizeof(uintptr_t) == 4);
    CHECK(sizeof(ptrdiff_t) == 4 && sizeof(long double) == 8);
#endif
#if defined(__x86_64__) || defined(__linux__) || !defined(__dpu__)
#error "the host shows through"
#endif
    return 0;
}"""
    flags = ["-DSMALL_POINTERS"] if route.endswith("x32") else []
    passes(bench, build, body, 1, *flags)


def test_me_barrier_and_persistence_across_launches(bench: Bench, build: Build) -> None:
    program = build(
        """
#include <alloc.h>
#include <barrier.h>
#include <defs.h>
BARRIER_INIT(all, NR_TASKLETS)
__host uint32_t arrived[NR_TASKLETS], late, launches, heap_start, heap;
uint32_t counter;
int main(void) {
    arrived[me()]++;
    barrier_wait(&all);
    for (int i = 0; i < NR_TASKLETS; i++)
        late += arrived[i] != arrived[0];
    barrier_wait(&all);
    if (me() == 5) {
        launches = ++counter;
        heap = (uint32_t)(uintptr_t)mem_alloc(16);
        if (counter == 3)
            heap_start = (uint32_t)(uintptr_t)mem_reset();
    }
    return 0;
}""",
        24,
        "-DSTACK_SIZE_DEFAULT=512",
    )
    bench.load(program)
    heaps = []
    for _ in range(3):
        assert not bench.launch().faulted
        heaps.append(int(bench.var("heap")[0]))
    assert bench.var("arrived").tolist() == [3] * 24
    assert (bench.var("late")[0], bench.var("launches")[0]) == (0, 3)
    assert np.diff(heaps).tolist() == [16, 16]
    assert bench.var("heap_start")[0] == program.symbols["__sys_heap_pointer_reset"][0] <= heaps[0]


def test_mutexes(bench: Bench, build: Build) -> None:
    body = """
#include <barrier.h>
#include <defs.h>
#include <mram.h>
#include <mutex.h>
#include <mutex_pool.h>
#include <vmutex.h>
MUTEX_INIT(named);
MUTEX_POOL_INIT(pool, 8);
VMUTEX_INIT(virtual, 64, 4);
BARRIER_INIT(all, NR_TASKLETS);
mutex_id_t unset;
volatile int inside, total, pooled, virtually, nulls;
__mram_noinit uint64_t scratch[NR_TASKLETS];
static void elsewhere(void) {
    __dma_aligned uint64_t word = me();
    mram_write(&word, &scratch[me()], 8);
}
int main(void) {
    for (int i = 0; i < 50; i++) {
        mutex_lock(named);
        CHECK(inside == 0);
        inside = 1;
        elsewhere();
        CHECK(!mutex_trylock(named));
        total++;
        inside = 0;
        mutex_unlock(named);
        mutex_pool_lock(&pool, 3);
        int p = pooled;
        elsewhere();
        pooled = p + 1;
        mutex_pool_unlock(&pool, 3 + 8);
        vmutex_lock(&virtual, 61);
        int v = virtually;
        elsewhere();
        virtually = v + 1;
        vmutex_unlock(&virtual, 61);
        mutex_lock(unset);
        int n = nulls;
        elsewhere();
        nulls = n + 1;
        mutex_unlock(unset);
    }
    barrier_wait(&all);
    int wanted = 50 * NR_TASKLETS;
    CHECK(total == wanted && pooled == wanted && virtually == wanted && nulls == wanted);
    if (me() == 0) {
        CHECK(mutex_trylock(named));
        CHECK((uint8_t)(uintptr_t)MUTEX_GET(named) == ATOMIC_BIT_INDEX(named));
    }
    return 0; /* with the mutex taken: the next launch finds it free */
}"""
    passes(bench, build, body, 11)
    assert not bench.launch(slots=[0]).faulted


def test_semaphores_and_handshakes(bench: Bench, build: Build) -> None:
    body = """
#include <defs.h>
#include <errno.h>
#include <handshake.h>
#include <sem.h>
SEMAPHORE_INIT(two, 2);
SEMAPHORE_INIT(start, 0);
volatile int inside, order[NR_TASKLETS], placed;
int main(void) {
    int i = me();
    if (i != 0)
        CHECK(handshake_wait_for(i - 1) == 0);
    order[placed++] = i;
    if (i < NR_TASKLETS - 1)
        handshake_notify();
    if (i == NR_TASKLETS - 1)
        for (int k = 0; k < NR_TASKLETS; k++) {
            CHECK(order[k] == k);
            sem_give(&start);
        }
    sem_take(&start);
    sem_take(&two);
    CHECK(++inside <= 2);
    inside--;
    sem_give(&two);
    errno = i;
    sem_take(&two);
    CHECK(errno == i);
    sem_give(&two);
    return 0;
}"""
    passes(bench, build, body, 16)


def test_barrier_filled_by_hand(bench: Bench, build: Build) -> None:
    body = """
#include <atomic_bit.h>
#include <barrier.h>
#include <defs.h>
ATOMIC_BIT_INIT(bits)[2];
BARRIER_INIT(all, NR_TASKLETS);
barrier_t pair[2];
volatile int count[2];
int main(void) {
    if (me() == 0)
        for (int i = 0; i < 2; i++) {
            pair[i].wait_queue = 0xff;
            pair[i].count = pair[i].initial_count = NR_TASKLETS / 2;
            pair[i].lock = (uint8_t)(uintptr_t)&ATOMIC_BIT_GET(bits)[i];
        }
    barrier_wait(&all);
    for (int round = 1; round < 5; round++) {
        count[me() & 1]++;
        barrier_wait(&pair[me() & 1]);
        CHECK(count[me() & 1] == round * NR_TASKLETS / 2);
        barrier_wait(&pair[me() & 1]);
    }
    return 0;
}"""
    passes(bench, build, body, 8)


def test_mram_variables_and_addresses(bench: Bench, build: Build) -> None:
    body = """
#include <alloc.h>
#include <mram.h>
#include <string.h>
#include <memmram_utils.h>
__mram uint32_t table[4] = { 1, 2, 3, 4 };
__mram_noinit uint64_t big[1024];
const uint64_t constant[2] = { 7, 8 };
int main(void) {
    __dma_aligned uint64_t buffer[256];
    CHECK((uint32_t)(uintptr_t)DPU_MRAM_HEAP_POINTER == 0x08000000 + 16 + 8192);
    mram_read(table, buffer, 16);
    CHECK(((uint32_t *)buffer)[3] == 4);
    CHECK(table[2] == 3); /* by pointer */
    table[2] = 30;
    mram_read((__mram_ptr void const *)((uint32_t)(uintptr_t)table & 0x3ffffff), buffer, 16);
    CHECK(((uint32_t *)buffer)[2] == 30);
    mram_write(constant, &big[5], 16);
    CHECK(big[6] == 8);
    uint64_t *heap = mem_alloc(2048);
    memset(heap, 0x5a, 2048);
    mram_write(heap, DPU_MRAM_HEAP_POINTER, 2048);
    mram_read(DPU_MRAM_HEAP_POINTER, buffer, 2048);
    CHECK(memcmp(heap, buffer, 2048) == 0);
    return 0;
}"""
    passes(bench, build, body, 1, "-DSTACK_SIZE_DEFAULT=4096")


def test_heap_pointer_follows_the_print_buffer(build: Build) -> None:
    plain = build("#include <mram.h>\nint main(void) { return DPU_MRAM_HEAP_POINTER != 0; }")
    prints = build('#include <stdio.h>\nint main(void) { printf("x"); return 0; }')
    small = build(
        '#include <stdio.h>\nSTDOUT_BUFFER_INIT(4096)\nint main(void) { puts("x"); return 0; }'
    )
    ends = [p.symbols["__sys_used_mram_end"][0] for p in (plain, prints, small)]
    assert ends == [0x08000000, 0x08100000, 0x08001000]


def test_unaligned_mram(bench: Bench, build: Build) -> None:
    body = """
#include <barrier.h>
#include <defs.h>
#include <mram_unaligned.h>
__mram uint8_t bytes[32] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
__mram int counter = 0;
BARRIER_INIT(all, NR_TASKLETS);
static void add(int *value, void *args) { *value += *(int *)args; }
static void add_byte(uint8_t *value, void *args) { *value += *(uint8_t *)args; }
int main(void) {
    __dma_aligned uint8_t buffer[32];
    uint8_t *p = mram_read_unaligned(&bytes[3], buffer, 7);
    for (int i = 0; i < 7; i++)
        CHECK(p[i] == 3 + i);
    barrier_wait(&all);
    if (me() == 0) {
        p[0] = 33; p[1] = 44;
        mram_write_unaligned(p, &bytes[3], 2);
        CHECK(bytes[2] == 2 && bytes[3] == 33 && bytes[4] == 44 && bytes[5] == 5);
    }
    int step = 3;
    uint8_t small = 1;
    for (int i = 0; i < 20; i++) {
        mram_update_int_atomic(&counter, add, &step);
        mram_update_byte_atomic(&bytes[20], add_byte, &small);
    }
    mram_write_byte_atomic(&bytes[24 + me()], me());
    barrier_wait(&all);
    CHECK(counter == 60 * NR_TASKLETS && bytes[20] == 20 * NR_TASKLETS && bytes[27] == 3);
    barrier_wait(&all);
    if (me() == 0) {
        mram_write_int_atomic(&counter, -5);
        CHECK(counter == -5);
    }
    return 0;
}"""
    passes(bench, build, body, 8)


def test_counter_never_goes_back(bench: Bench, build: Build) -> None:
    body = """
#include <barrier.h>
#include <defs.h>
#include <perfcounter.h>
BARRIER_INIT(all, NR_TASKLETS);
int main(void) {
    uint64_t last = perfcounter_get();
    for (int i = 0; i < 200; i++) {
        if (me() == 1 && i % 50 == 0)
            perfcounter_config(COUNT_CYCLES, true);
        barrier_wait(&all);
        uint64_t now = perfcounter_get();
        CHECK((now & 15) == 0);
        if (me() != 1)
            CHECK(now > last);
        last = now;
    }
    CHECK(CLOCKS_PER_SEC == 350000000);
    barrier_wait(&all);
    perfcounter_config(COUNT_NOTHING, false);
    CHECK(perfcounter_get() == 0);
    return 0;
}"""
    passes(bench, build, body, 4)


def test_arithmetic_as_on_a_dpu(bench: Bench, build: Build) -> None:
    body = """
#include <limits.h>
#include <stdlib.h>
#include <built_ins.h>
volatile int minimum = INT_MIN, minus = -1;
volatile long long_minimum = LONG_MIN, long_minus = -1;
volatile float third = 3.0f;
volatile double zero = 0.0;
int main(void) {
    CHECK(minimum / minus == INT_MIN && minimum % minus == 0);
    CHECK(long_minimum / long_minus == LONG_MIN && long_minimum % long_minus == 0);
    CHECK(1.0f / third == 0x1.555556p-2f);
    CHECK(1.0 / zero > 1e308 && zero / zero != zero / zero);
    CHECK((float)16777217 == 16777216.0f);
    uint32_t r;
    __builtin_cmpb4_rrr(r, 0x11223344u, 0x11003344u);
    CHECK(r == 0x01000101);
    __builtin_cao_rr(r, 0xf0f0u);
    CHECK(r == 8);
    int s;
    __builtin_mul_sl_ul_rrr(s, 0xff, 0xff);
    CHECK(s == -255);
    __builtin_mul_sh_sh_rrr(s, 0x8000, 0x0200);
    CHECK(s == -256);
    div_t d = div(-7, 2);
    CHECK(d.quot == -3 && d.rem == -1 && abs(-4) == 4);
    CHECK(atoi(" -42x") == -42 && atol("1234567890123") == 1234567890123L);
    return 0;
}"""
    passes(bench, build, body)


def test_strings(bench: Bench, build: Build) -> None:
    body = r"""
#include <ctype.h>
#include <string.h>
int main(void) {
    char text[32] = "One,two;three", *state, *rest = text;
    CHECK(strlen(text) == 13 && strchr(text, ',') == text + 3 && !strchr(text, 'z'));
    CHECK(strcmp("abc", "abd") < 0 && strncmp("abc", "abd", 2) == 0);
    CHECK(strstr(text, "thr") == text + 8 && strrchr(text, 'e') == text + 12);
    CHECK(!strcmp(strtok_r(text, ",;", &state), "One"));
    CHECK(!strcmp(strtok_r(0, ",;", &state), "two"));
    CHECK(!strcmp(strtok_r(0, ",;", &state), "three") && !strtok_r(0, ",;", &state));
    strcpy(text, "a--b");
    CHECK(!strcmp(strsep(&rest, "-"), "a") && !strcmp(strsep(&rest, "-"), ""));
    CHECK(!strcmp(strsep(&rest, "-"), "b") && rest == 0);
    strcpy(text, "MiXed");
    CHECK(!strcmp(strlwr(text), "mixed") && !strcmp(strupr(text), "MIXED"));
    CHECK(!strcmp(strrev(text), "DEXIM") && toupper('q') == 'Q' && isdigit('7') && !isalpha('7'));
    memmove(text + 1, text, 5);
    CHECK(!memcmp(text, "DDEXIM", 6) && memchr(text, 'X', 6) == text + 3);
    strncpy(text, "abc", 6);
    strncat(text, "defg", 2);
    CHECK(!strcmp(text, "abcde") && strspn("aab", "a") == 2 && strcspn("aab", "b") == 2);
    return 0;
}"""
    passes(bench, build, body)


def test_allocators(bench: Bench, build: Build) -> None:
    body = """
#include <alloc.h>
#include <errno.h>
int main(void) {
    fsb_allocator_t blocks = fsb_alloc(12, 3);
    char *a = fsb_get(blocks), *b = fsb_get(blocks), *c = fsb_get(blocks);
    CHECK(a && b - a == 16 && c - b == 16 && !fsb_get(blocks));
    fsb_free(blocks, b);
    CHECK(fsb_get(blocks) == b);
    buddy_init(4096);
    char *p = buddy_alloc(100), *q = buddy_alloc(1);
    CHECK(p && q && ((uintptr_t)p & 7) == 0 && q - p == 128);
    p[99] = 'x';
    char *moved = buddy_realloc(p, 200);
    CHECK(moved != p && moved[99] == 'x');
    errno = 0;
    CHECK(!buddy_alloc(5000) && errno == ENOMEM);
    CHECK(!buddy_alloc(0) && errno == EINVAL);
    buddy_free(moved);
    buddy_free(q);
    CHECK(buddy_alloc(4096) && !buddy_alloc(1));
    buddy_reset();
    CHECK(buddy_alloc(2048) && buddy_alloc(2048) && !buddy_alloc(16));
    char *unaligned = mem_alloc(3);
    CHECK(mem_alloc(0) == unaligned + 3);
    return 0;
}"""
    passes(bench, build, body)


def test_asm_of_the_dpu(bench: Bench, build: Build, route: str) -> None:
    body = """
#include <defs.h>
volatile uint32_t lock_word, counter, stopped;
int main(void) {
    if (me() == 0) {
        stopped = 1;
        __asm__ volatile("stop true, 0");
        CHECK(stopped == 2);
    } else if (me() == 1) {
        while (!stopped)
            ;
        stopped = 2;
        uint32_t first = 0;
        __asm__ volatile("resume %[t], 0, nz, ." : : [t] "r"(first));
    }
    for (int i = 0; i < 10; i++) {
        __asm__ volatile("acquire %[p], 0, nz, ." : : [p] "r"(&lock_word));
        counter++;
        __asm__ volatile("release %[p], 0, nz, .+1" : : [p] "r"(&lock_word));
    }
    return 0;
}"""
    passes(bench, build, body, 4)
    assert bench.var("counter")[0] == 40


def test_a_spinning_tasklet_lets_the_others_run(bench: Bench, build: Build) -> None:
    body = """
#include <defs.h>
volatile int turn;
int main(void) {
    while (turn != (int)me())
        ;
    turn++;
    return 0;
}"""
    passes(bench, build, body, 4)


def test_programs_of_24_tasklets_with_every_stack_size(bench: Bench, build: Build) -> None:
    sizes = [f"-DSTACK_SIZE_TASKLET_{k}={256 + 64 * k}" for k in range(24)]
    program = build("int main(void) { return 0; }", 24, *sizes)
    assert bench.run(program).status == "done"
    start = program.elf.get_section_by_name(".stacks")
    assert start["sh_size"] == sum(256 + 64 * k for k in range(24))
    assert program.symbols["STACK_SIZE_TASKLET_23"][0] == 256 + 64 * 23
    assert program.symbols["NR_TASKLETS"][0] == 24


def test_exit_and_abort_end_one_tasklet(bench: Bench, build: Build) -> None:
    body = """
#include <defs.h>
#include <stdlib.h>
__host uint32_t reached[4];
static void deep(void) { if (me() == 1) exit(3); else if (me() == 2) abort(); }
int main(void) {
    deep();
    reached[me()] = 1;
    return 0;
}"""
    passes(bench, build, body, 4)
    assert bench.var("reached").tolist() == [1, 0, 0, 1]


FIFO = """
#include <defs.h>
#include <wramfifo.h>
INPUT_FIFO_INIT(in, 3, 8);
OUTPUT_FIFO_INIT(out, 4, 8);
BARRIER_INIT(together, NR_TASKLETS);
MUTEX_INIT(lock);
__host volatile uint64_t active = 0;
volatile uint64_t part[NR_TASKLETS];
static void each(uint8_t *input, uint8_t *output)
{
    *(uint64_t *)output = *(uint64_t *)input * 2 + 1;
}
static void share(uint8_t *input, void *context)
{
    part[me()] = *(uint64_t *)input + *(uint64_t *)context;
}
static void sum(uint8_t *input, uint8_t *output, void *context)
{
    uint64_t total = *(uint64_t *)context + 100 * *(uint64_t *)input;
    for (int i = 0; i < NR_TASKLETS; i++)
        total += part[i];
    *(uint64_t *)output = total;
}
int main(void) {
    uint64_t context = 1;
    RUN;
    return 0;
}"""


def test_fifos(bench: Bench, build: Build) -> None:
    modes = {
        "process_inputs_each_tasklet(&in, &out, each, lock, &active)": [7, 9, 11, 13, 15],
        "process_inputs_all_tasklets(&in, &out, share, sum, &context, &together, &active)": [
            100 * n + 4 * (n + 1) + 1 for n in (3, 4, 5, 6, 7)
        ],
    }
    for call, wanted in modes.items():
        bench.load(build(FIFO.replace("RUN", call), 4, "-Wno-unused"))
        bench.var("__in_data", np.uint64)[:5] = [3, 4, 5, 6, 7]
        bench.var("in", np.uint64)[1] = 5  # read position, write position
        assert not bench.launch(Checks(race="off"), [0]).faulted
        assert bench.var("in", np.uint64)[:2].tolist() == [5, 5]
        assert bench.var("out", np.uint64)[:2].tolist() == [0, 5]
        assert sorted(bench.var("__out_data", np.uint64)[:5].tolist()) == wanted


def test_counting_both_needs_v1b(bench: Bench, build: Build) -> None:
    source = """
#include <perfcounter.h>
#include <attributes.h>
__host uint64_t cycles, instructions;
int main(void) {
    perfcounter_config(COUNT_ENABLE_BOTH, true);
    for (volatile int i = 0; i < 1000; i++)
        ;
    perfcounter_pair_t both = perfcounter_get_both(false);
    cycles = both.cycles;
    instructions = both.instr;
    return 0;
}"""
    outcome = bench.run(build(source))
    assert (outcome.status, outcome.code) == ("fault", 9)
    assert bench.run(build(source, 1, "-mcpu=v1B")).status == "done"
    assert bench.var("cycles", np.uint64)[0] > bench.var("instructions", np.uint64)[0] >= 0


OVERLAP = """
#include <attributes.h>
#include <stdint.h>
#include <string.h>
__host uint8_t buffer[256];
__host volatile uint32_t to, from, size;
int main(void) { memcpy(buffer + to, buffer + from, size); return 0; }
"""


@given(
    to=st.integers(0, 128),
    distance=st.integers(-100, 100),
    size=st.integers(0, 128),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_memcpy_copies_forward_also_onto_itself(
    to: int, distance: int, size: int, bench: Bench, build: Build
) -> None:
    """LZ decoders repeat a pattern by a copy to a little behind its source."""
    source = min(max(to - distance, 0), 128)
    bench.load(build(OVERLAP))
    expected = np.arange(256, dtype=np.uint8)
    bench.var("buffer", np.uint8)[:] = expected
    for name, value in (("to", to), ("from", source), ("size", size)):
        bench.var(name)[0] = value
    assert not bench.launch(slots=[0]).faulted
    for i in range(size):
        expected[to + i] = expected[source + i]
    assert bench.var("buffer", np.uint8).tolist() == expected.tolist()


HEAP_END = """
#include <alloc.h>
#include <attributes.h>
#include <stdint.h>
__host uint32_t left, given;
int main(void)
{
    mem_reset();
    uint32_t used = ((uintptr_t)mem_alloc(8) & 0xffff) + 8;
    left = 0x10000 - used;
    given = mem_alloc(left) != 0;
    return 0;
}"""


def test_the_heap_gives_its_last_byte(bench: Bench, build: Build) -> None:
    """All of the 64 KiB of WRAM behind the program's data."""
    outcome = bench.run(build(HEAP_END), Checks(heap_on_stacks="off"))
    assert outcome.status == "done", outcome.text
    assert bench.var("given")[0] == 1
    assert bench.var("left")[0] > 1000
