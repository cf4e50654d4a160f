"""DPU instructions in asm statements."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .bench import Bench, dpu_cc
from .conftest import Build

pytestmark = pytest.mark.slow

M = 0xFFFF_FFFF
words = st.one_of(st.integers(0, M), st.sampled_from([0, 1, 0x7F, 0x80, 0xFF, 0x7FFF_FFFF, M]))

KERNEL = """
#include <attributes.h>
#include <stdint.h>
__host uint32_t a, b, out[32];
#define TWO(i, name) \\
    __asm__ volatile(name " %[d], %[x], %[y]" : [d] "=r"(out[i]) : [x] "r"(a), [y] "r"(b))
int main(void) {
    uint32_t low, high;
    TWO(0, "add"); TWO(1, "sub"); TWO(2, "and"); TWO(3, "andn"); TWO(4, "nxor"); TWO(5, "rsub");
    TWO(6, "lsl"); TWO(7, "asr"); TWO(8, "ror"); TWO(9, "cmpb4");
    TWO(10, "mul_sl_sl"); TWO(11, "mul_ul_uh"); TWO(12, "mul_sh_ul"); TWO(13, "mul_uh_uh");
    __asm__("lsl_add %0, %1, %2, 4" : "=r"(out[14]) : "r"(a), "r"(b));
    asm volatile("lsr_add %0, %1, %2, 31" : "=r"(out[15]) : "r"(a), "r"(b));
    __asm volatile("add %[l], %[x], %[y]\\n\\t"
                   "addc %[h], %[x], zero // the carry\\n"
                   : [l] "=r"(low), [h] "=&r"(high)
                   : [x] "r"(a), [y] "r"(b));
    out[16] = low;
    out[17] = high;
    __asm__("cao %0, %2; clz %1, %2" : "=r"(out[18]), "=r"(out[19]) : "r"(b));
    __asm__("cls %0, %1" : "=r"(out[21]) : "r"(a));
    out[20] = a;
    __asm__("add %0, %0, -7" : "+r"(out[20]));
    __asm__ volatile("nop");
    __asm__ volatile("" ::: "memory");
    out[22] = a;
    if (b == 0x5eed) __asm__ volatile("nop\\n nop // wait"); else out[22] += 0;
    for (int i = 0; i < 3; i++) __asm__("add %0, %0, %1\\n nop" : "+r"(out[22]) : "r"(b));
    return 0;
}"""


def signed(byte: int) -> int:
    return byte - 256 if byte & 0x80 else byte


def model(a: int, b: int) -> dict[int, int]:
    s = b & 31
    equal = sum(1 << n for n in (0, 8, 16, 24) if a >> n & 255 == b >> n & 255)
    number = a - (1 << 32) if a >> 31 else a
    return {
        0: a + b, 1: a - b, 2: a & b, 3: ~a & b, 4: ~(a ^ b), 5: b - a,
        6: a << s, 7: number >> s, 8: a >> s | a << (32 - s), 9: equal,
        10: signed(a & 255) * signed(b & 255), 11: (a & 255) * (b >> 8 & 255),
        12: signed(a >> 8 & 255) * (b & 255), 13: (a >> 8 & 255) * (b >> 8 & 255),
        14: a + (b << 4), 15: a + (b >> 31), 16: a + b, 17: a + (a + b > M),
        18: b.bit_count(), 19: 32 - b.bit_length(), 20: a - 7,
        22: a + 3 * b,
        21: 32 - (a ^ (M if a >> 31 else 0)).bit_length(),
    }  # fmt: skip


@given(a=words, b=words)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_single_instructions(a: int, b: int, bench: Bench, build: Build) -> None:
    bench.load(build(KERNEL))
    bench.var("a")[0], bench.var("b")[0] = a, b
    assert not bench.launch(slots=[0]).faulted
    out = bench.var("out").tolist()
    for index, value in model(a, b).items():
        assert out[index] == value & M, index


SIGNED = {"lts": lambda x, y: x < y, "ges": lambda x, y: x >= y, "les": lambda x, y: x <= y,
          "gts": lambda x, y: x > y}  # fmt: skip
UNSIGNED = {"ltu": lambda x, y: x < y, "geu": lambda x, y: x >= y, "leu": lambda x, y: x <= y,
            "gtu": lambda x, y: x > y}  # fmt: skip


def integer(word: int) -> int:
    """The number that 32 bits are with a sign."""
    return word - (1 << 32) if word >> 31 else word


def conditions(a: int, b: int) -> dict[tuple[str, str], bool]:
    """What holds for two operands, from the instruction set's table."""
    x, y = integer(a), integer(b)
    total, difference = (a + b) & M, (a - b) & M
    found = {("sub", name): rule(x, y) for name, rule in SIGNED.items()}
    found |= {("sub", name): rule(a, b) for name, rule in UNSIGNED.items()}
    for name, result in (("add", total), ("sub", difference), ("and", a & b)):
        found[name, "z"], found[name, "nz"] = result == 0, result != 0
        found[name, "mi"], found[name, "pl"] = bool(result >> 31), not result >> 31
        found[name, "sz"], found[name, "snz"] = a == 0, a != 0
        found[name, "smi"], found[name, "spl"] = x < 0, x >= 0
        found[name, "true"], found[name, "false"] = True, False
    found["add", "c"], found["add", "nc"] = a + b > M, a + b <= M
    found["add", "ov"] = not -(1 << 31) <= x + y < 1 << 31
    found["sub", "ov"] = not -(1 << 31) <= x - y < 1 << 31
    for n in (5, 8, 14):
        found["add", f"nc{n}"] = a % (1 << n) + b % (1 << n) < 1 << n
    found["lsl", "so"], found["lsl", "sh32"] = bool(a & 1), bool(b & 32)
    found["lsr", "e"] = not (a >> (b & 31)) & 1
    found["mul_ul_ul", "small"] = not (a | b) & 0xFF00
    return found


BRANCHES = list(conditions(0, 0))
SET = [("sub", "ltu"), ("sub", "les"), ("add", "z"), ("xor", "nz"), ("lsl", "z")]
JUMPING = (
    "#include <stdint.h>\n#include <attributes.h>\n"
    f"__host uint32_t a, b, out[{len(BRANCHES)}], set[{len(SET)}], looped, wide, scratch;\n"
    "int main(void) {\n"
    + "".join(
        f'asm volatile("move %0, 1\\n{op} zero, %1, %2, {name}, 1f\\nmove %0, 0\\n1:"'
        f' : "=&r"(out[{i}]) : "r"(a), "r"(b));\n'
        for i, (op, name) in enumerate(BRANCHES)
    )
    + "".join(
        f'asm("{op} %0, %1, %2, {name}" : "=r"(set[{i}]) : "r"(a), "r"(b));\n'
        for i, (op, name) in enumerate(SET)
    )
    + """
    uint32_t n = a & 15;
    asm volatile("move %[sum], 0; jz %[n], .Ldone%=\\n"
                 ".Lagain%=: add %[sum], %[sum], %[n]; sub %[n], %[n], 1, nz, .Lagain%=\\n"
                 ".Ldone%=:"
                 : [sum] "=&r"(looped), [n] "+r"(n));
    asm("sub zero, %1, %2; subc zero, %3, %4, xz, 3f; move %0, 0; jump 4f; 3: move %0, 1; 4: nop"
        : "=&r"(wide) : "r"(a), "r"(b), "r"(b), "r"(a));
    asm("move r5, %1 // a register of its own\\n add %0, r5, r5" : "=r"(scratch) : "0"(a) : "r5");
    return 0;
}"""
)


@given(a=words, b=words)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_conditions_and_jumps(a: int, b: int, bench: Bench, build: Build) -> None:
    bench.load(build(JUMPING))
    bench.var("a")[0], bench.var("b")[0] = a, b
    assert not bench.launch(slots=[0]).faulted
    expected = conditions(a, b)
    found = dict(zip(BRANCHES, bench.var("out").tolist(), strict=True))
    assert {key for key, value in found.items() if value} == {k for k, v in expected.items() if v}
    shifted = (a << (b & 31)) & M
    assert bench.var("set").tolist() == [
        a < b, integer(a) <= integer(b), (a + b) & M == 0, a != b, shifted == 0
    ]  # fmt: skip
    n = a & 15
    assert bench.var("looped")[0] == n * (n + 1) // 2
    assert bench.var("wide")[0] == (a == b)
    assert bench.var("scratch")[0] == 2 * a & M


LOCKED = """
#include <attributes.h>
__host unsigned counter, wrong;
int main(void) {
    for (int i = 0; i < 50; i++) {
        unsigned now;
        __asm__ volatile("1: acquire zero, 5, nz, 1b" ::: "memory");
        unsigned seen = *(volatile unsigned *)&counter;
        for (int n = 0; n < 3; n++) __asm__ volatile("nop");
        *(volatile unsigned *)&counter = seen + 1;
        __asm__ volatile("lw %0, %1, 0; release zero, 5, nz, .+1"
                         : "=r"(now) : "r"(&counter) : "memory");
        if (now != seen + 1) wrong++;
    }
    return 0;
}"""


def test_instructions_that_synchronise_need_no_header(bench: Bench, build: Build) -> None:
    """The DPU's assembler knows acquire and release in any file."""
    bench.load(build(LOCKED, 8))
    assert not bench.launch(slots=[0]).faulted
    assert (bench.var("counter")[0], bench.var("wrong")[0]) == (400, 0)


DMA = """
#include <mram.h>
#include <stdint.h>
__mram_noinit uint8_t data[256];
__dma_aligned uint8_t buffer[64];
__host uint32_t sum;
int main(void) {
    __dma_aligned uint8_t local[64];
    uint32_t packed;
    for (int i = 0; i < 64; i++)
        buffer[i] = (uint8_t)i;
    __asm__ volatile("sdma %0, %1, 7" : : "r"(buffer), "r"(data));
    __asm__ volatile("lsl_add %0, %1, %2, 24" : "=r"(packed) : "r"(local), "r"(3));
    __asm__ volatile("ldma %0, %1, 0" : : "r"(packed), "r"(data + 8));
    for (int i = 0; i < 32; i++)
        sum += local[i];
    return 0;
}"""


def test_dma_takes_its_size_from_the_address(bench: Bench, build: Build) -> None:
    outcome = bench.run(build(DMA))
    assert (outcome.status, outcome.warnings) == ("done", [])
    assert bench.var("sum")[0] == sum(range(8, 40))
    assert bench.var("data", np.uint8)[:65].tolist() == [*range(64), 0]


TIMER = """
#include <attributes.h>
#include <perfcounter.h>
#include <stdint.h>
__host uint32_t before, after, kept;
__host uint64_t by_function;
perfcounter_t perfcounter_get(void) { /* as in UPMEM's library */
    uint32_t value;
    __asm__ volatile("time %[r]" : [r] "=r"(value));
    return (perfcounter_t)value << 4;
}
int main(void) {
    uint32_t how = COUNT_CYCLES << 1 | 1;
    __asm__ volatile("time_cfg %0, %1" : "=r"(kept) : "r"(how));
    __asm__ volatile("time %0" : "=r"(before));
    for (volatile int i = 0; i < 100000; i++)
        ;
    by_function = perfcounter_get();
    __asm__ volatile("time %[t]" : [t] "=r"(after));
    return 0;
}"""


def test_the_counter_is_an_instruction(bench: Bench, build: Build) -> None:
    outcome = bench.run(build(TIMER))
    assert outcome.status == "done"
    before, after = (int(bench.var(name)[0]) for name in ("before", "after"))
    between = int(bench.var("by_function", np.uint64)[0])
    # It counts 16 cycles; a loop of 100000 turns takes a thousand on any machine.
    assert before << 4 <= between <= after << 4
    assert (after - before) << 4 > 1_000
    assert between % 16 == 0


READER = """
#include <macro_utils.h>
#include <memmram_utils.h>
#include <mram.h>
#include <stdint.h>
#define PAGE 256
#define LOG_OF_ITEM 2
_Static_assert(DMA_ALIGNED(9) == 16 && DMA_OFF_MASK == 7, "what a transfer needs");
__mram_noinit uint32_t data[512];
__dma_aligned uint32_t page[PAGE / 4 * 2];
__host uint32_t sum, last;
static void __attribute__((unused)) nobody(int *first) {
    (void)first;
    __asm__("add %[i], %[i], 4\\n jump r23" : : [i] "r"(first));
}
int main(void) {
    uintptr_t from = (uintptr_t)data;
    uint32_t *window = (uint32_t *)(((uintptr_t)page + PAGE - 1) & -PAGE), *next = window;
    for (int i = 0; i < 512; i++) {
        __dma_aligned uint32_t pair[2] = { i, i + 1 };
        if (i % 2 == 0) mram_write(pair, &data[i], 8);
    }
    mram_read(data, window, PAGE);
    for (int i = 0; i < 512; i++) {
        sum += *next;
        last = *next;
        if (i == 511) break;
        __asm__ volatile("add %[p], %[p], 1 << " __STR(LOG_OF_ITEM) ", nc8, .+4\\n"
                         "add %[m], %[m], 256\\n"
                         "ldma %[w], %[m], 256/8 - 1\\n"
                         "add %[p], %[p], -256"
                         : "+r"(next), "+r"(from)
                         : [p] "r"(next), [m] "r"(from), [w] "r"(window));
    }
    return 0;
}"""


def test_a_reader_that_reloads_when_a_page_ends(bench: Bench, build: Build, route: str) -> None:
    """Jumps that count instructions, operands that are computed, an input that is written to
    because it is an output as well; a function nobody calls may hold anything."""
    if "gcc" in route:
        pytest.skip("gcc keeps functions that nobody calls")
    outcome = bench.run(build(READER))
    assert outcome.status == "done"
    assert bench.var("sum")[0] == sum(range(512))
    assert bench.var("last")[0] == 511


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ('__asm__("hash %0, %1, 3" : "=r"(x) : "r"(x));', "hash"),
        ('__asm__("jump there");', "jump ... there"),
        ('__asm__("add %0, %1, 3, z, .Lend" : "=r"(x) : "r"(x));', "add ... .Lend"),
        ('__asm__("add %0, %1, 3, gtu, 1f; 1:" : "=r"(x) : "r"(x));', "add ... gtu"),
        ('__asm__("acquire %0, 0, nz, 1f; 1:" : : "r"(x));', "acquire ... nz"),
        ('__asm__("add %0, r3, 3" : "=r"(x));', "r3"),
    ],
)
def test_what_is_not_understood_is_one_error(statement: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(
        f"int x;\nint main(void) {{\n    {statement}\n    return 0;\n}}\n"
    )
    done = dpu_cc("-O2", "a.c", "-o", "a", cwd=tmp_path)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("a.c:3: error: asm statement with the DPU instruction")
    assert f"'{what}'" in done.stderr


SYMBOLS = """
#include <attributes.h>
#include <defs.h>
#include <stdint.h>
uint32_t table[4] = {5, 6, 7, 8};
__host uint32_t out[NR_TASKLETS], numbers[NR_TASKLETS], third;
int main(void) {
    uint32_t value, number, at;
    __asm__ volatile("lsl %[at], %[i], 2\\n lw %[v], %[at], table\\n"
                     "move %[n], id4\\n sw %[n], out, %[v]\\n add %[n], id, 1"
                     : [v] "=r"(value), [n] "=r"(number), [at] "=r"(at) : [i] "r"(me()));
    numbers[me()] = number;
    __asm__ volatile("lw %0, zero, table + 8" : "=r"(third));
    return 0;
}"""


def test_names_of_variables_and_the_tasklets_number(bench: Bench, build: Build) -> None:
    bench.load(build(SYMBOLS, 4))
    assert not bench.launch(slots=[0]).faulted
    assert list(bench.var("out")) == [5, 6, 7, 8]
    assert list(bench.var("numbers")) == [1, 2, 3, 4]
    assert bench.var("third")[0] == 7
