"""DPU instructions in asm statements."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .bench import Bench, dpu_cc
from .conftest import Build

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


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ('__asm__("hash %0, %1, 3" : "=r"(x) : "r"(x));', "hash"),
        ('__asm__("jump there");', "jump"),
        ('__asm__("add %0, %1, 3, z, .Lend" : "=r"(x) : "r"(x));', "add"),
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


def test_a_file_in_dpu_assembly_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "a.S").write_text("    .text\nf:\n    lsl_add r0, r1, r2, 3\n    jump r23\n")
    (tmp_path / "b.c").write_text("int main(void) { return 0; }\n")
    done = dpu_cc("-O2", "a.S", "b.c", "-o", "a", cwd=tmp_path)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("a.S:3: error: DPU instruction 'lsl_add'")
