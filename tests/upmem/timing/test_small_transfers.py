"""Loops of small transfers against published measurements.

The figures are milliseconds of one tasklet that copies 31 MiB from MRAM to MRAM on a DPU of 350
MHz, as the public benchmark pim-memcpy lists them (README, one tasklet). The loops are our own.
"""

from __future__ import annotations

import numpy as np
import pytest

from ..dpu_side.bench import Bench
from ..dpu_side.conftest import Build

PUBLISHED_BYTES = 31 << 20
BYTES = 1 << 15
HEAD = f"""
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <alloc.h>
#include <mram.h>
#include <mram_unaligned.h>
#include <perfcounter.h>
#define COUNT ({BYTES} / 4)
__host uint64_t cycles;
__mram_noinit int32_t input[COUNT], output[COUNT];
int main(void)
{{
    int32_t *heap = mem_alloc(2048 + 16);
    (void)heap;
    perfcounter_config(COUNT_CYCLES, true);
    {{}}
    cycles = perfcounter_get();
    return 0;
}}"""
LOOP = """
    {array}
    for (uint32_t i = 0; i < COUNT; i += {size} / 4) {{
        mram_read{kind}(&input[i], {cache}, {size});
        mram_write{kind}({cache}, &output[i], {size});
    }}"""


def milliseconds(bench: Bench, counted: Build, body: str) -> float:
    """For 31 MiB, of those for fewer bytes."""
    bench.load(counted(HEAD.replace("{}", body), 1, "-DSTACK_SIZE_DEFAULT=4096"))
    for name in ("input", "output"):
        bench.at(bench.program.symbols.get(name, (0x0800_0000, 0))[0], BYTES)
    bench.time()
    return float(bench.var("cycles", np.uint64)[0]) / 350e3 * PUBLISHED_BYTES / BYTES


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "heap", "stack", "unaligned"),
    [
        (8, 1919, 2185, 5295),
        (16, 994, 1135, 2697),
        (32, 554, 613, 1417),
        (64, 327, 356, 745),
        (256, 155, 165, 257),
        (2048, 108, 109, 117),
    ],
)
def test_copy_loops(
    size: int, heap: float, stack: float, unaligned: float, bench: Bench, counted: Build
) -> None:
    def found(cache: str, kind: str = "", array: str = "") -> float:
        text = LOOP.format(size=size, cache=cache, kind=kind, array=array)
        return milliseconds(bench, counted, text)

    assert found("heap") == pytest.approx(heap, rel=0.10)
    on_stack = found("cache", array="__dma_aligned int32_t cache[512];")
    assert on_stack == pytest.approx(stack, rel=0.10)
    assert found("heap", "_unaligned") == pytest.approx(unaligned, rel=0.10)


@pytest.mark.parametrize(
    "body",
    ["for (uint32_t i = 0; i < COUNT; i++) output[i] = input[i];",
     "memcpy(output, input, sizeof(output));"],
)  # fmt: skip
def test_copies_without_transfers_go_word_by_word(body: str, bench: Bench, counted: Build) -> None:
    """A loop over elements becomes memcpy; 31 MiB take 2185 ms."""
    assert milliseconds(bench, counted, body) == pytest.approx(2185, rel=0.10)


def test_a_variable_in_mram_takes_transfers(bench: Bench, counted: Build) -> None:
    """The back end reads a word for a load, and for a store below 8 bytes, which it writes back:
    5 instructions and a read of 66 + 4 cycles, 6 and a read and a write of 50 + 4; the transfers'
    instructions are in both."""
    bodies = {
        "load": "uint32_t sum = 0; for (uint32_t i = 0; i < COUNT; i += 2) sum += input[i];"
        " heap[0] = (int)sum;",
        "store": "for (uint32_t i = 0; i < COUNT; i += 2) output[i] = (int)(i * 4 + 1);",
        "none": "volatile uint32_t n = 0; (void)n;",
    }
    found = {name: milliseconds(bench, counted, body) for name, body in bodies.items()}
    rounds = PUBLISHED_BYTES / 8
    load = (found["load"] - found["none"]) * 350e3 / rounds
    store = (found["store"] - found["none"]) * 350e3 / rounds
    # beside the access: a sum, an index and the loop's end, or fewer
    assert 4 * 11 + 70 <= load <= 9 * 11 + 70
    assert 4 * 11 + 70 + 54 <= store <= 10 * 11 + 70 + 54


def test_unaligned_writes_of_part_of_a_word(bench: Bench, counted: Build) -> None:
    """A word that is written in part is read before, under a lock: two transfers, not one."""
    text = """
    for (uint32_t i = 0; i < COUNT; i += 2)
        mram_write_unaligned(heap + {at}, &output[i + {at}], {size});"""
    whole = milliseconds(bench, counted, text.format(at=0, size=8))
    part = milliseconds(bench, counted, text.format(at=1, size=4))
    more = (part - whole) * 350e3 / (PUBLISHED_BYTES / 8)
    assert 66 + 4 < more < 66 + 4 + 80 * 11


def test_copies_in_wram_cost_what_the_library_s_loop_costs(bench: Bench, counted: Build) -> None:
    """23 + 1.25 n instructions, counted in the vendor's routine."""
    text = """
    volatile uint32_t size = {size};
    memcpy(heap, (char *)heap + 1024, size);"""
    small, large = (milliseconds(bench, counted, text.format(size=n)) for n in (100, 900))
    rounds = PUBLISHED_BYTES / BYTES
    assert (large - small) * 350e3 / rounds == pytest.approx(800 * 1.25 * 11, rel=0.02)


def test_printf_takes_instructions_and_transfers_by_its_bytes(bench: Bench, counted: Build) -> None:
    """The library's loop: 16 instructions a byte, 17 for each word, which a transfer takes away."""
    text = 'printf("{}");'
    few, many = (
        milliseconds(bench, counted, text.format("x" * n)) * 350e3 * BYTES / PUBLISHED_BYTES
        for n in (80, 800)
    )
    assert many - few == pytest.approx(90 * (8 * 16 * 11 + 17 * 11 + 54 - 11), rel=0.02)
