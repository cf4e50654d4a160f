"""MRAM that nobody wrote: a hint where it is used, not where a block of it is moved."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.constants.dpu_protocol import FaultKind
from cudla_sim.upmem.workers.checks import Checks
from cudla_sim.workers.switches import MODES

from .bench import Bench
from .conftest import Build

pytestmark = pytest.mark.slow

HEAD = """
#include <defs.h>
#include <mram.h>
#include <mram_unaligned.h>
#include <seqread.h>
#include <stdint.h>
#include <string.h>
struct pair { uint32_t low, high; };
__mram_noinit uint32_t data[16384];
__dma_aligned uint32_t wram[512], copy[512];
__dma_aligned struct pair pair;
__host uint32_t sum, n = 16;
void add(const uint32_t *from, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++)
        sum += from[i];
}
"""
FIRST = 0x08000000  # of `data`

# Statements -> what is used that was not written: the line of its use, what holds it, where it was.
# `data` begins with 64 bytes that were written.
UNUSED = {
    "a block of which a part was written": "mram_read(data, wram, 2048); add(wram, 0, n);",
    "on a stack": "uint32_t block[512]; mram_read(data, block, 2048); add(block, 0, n);",
    "the next block": "mram_read(data + 512, wram, 2048);",
    "written afterwards": "mram_read(data + 512, wram, 2048); wram[3] = 0; add(wram, 3, 1);",
    "set after the transfer": (
        "mram_read(data + 512, wram, 2048); memset(wram, 0, 8 * n); add(wram, 0, 2 * n);"
    ),
    "copied": "mram_read(data, wram, 2048); memcpy(copy, wram, 128 * n); add(copy, 0, n);",
    "written over by a copy": (
        "mram_read(data + 512, wram, 64); memmove(wram, copy, 4 * n); add(wram, 0, n);"
    ),
    "written over by a transfer": (
        "mram_read(data + 512, wram, 2048); mram_read(data, wram, 64); add(wram, 0, n);"
    ),
    "stored through a pointer": "data[600] = 0; mram_read(data + 600, wram, 8); add(wram, 0, 1);",
    "moved on": (
        "mram_read(data, wram, 2048); mram_write(wram, data + 1024, 2048); "
        "mram_read(data + 1024, copy, 2048); add(copy, 0, n);"
    ),
    "the bytes around those that are asked for": (
        "mram_write(wram, data + 702, 8); "
        "uint32_t *at = mram_read_unaligned(data + 703, wram, 4); add(at, 0, 1);"
    ),
}  # fmt: skip
USED = {
    "behind the part that was written": (
        "mram_read(data, wram, 2048);\nsum += wram[n];", "(wram + 64)", 64
    ),
    "on a stack": (
        "uint32_t block[512]; mram_read(data, block, 2048);\nsum += block[n]; add(block, 0, n);",
        "the stack of tasklet 0", 64
    ),
    "a structure": (
        "struct pair own; mram_read(data + n, &own, 8);\nsum += own.high;",
        "the stack of tasklet 0", 68
    ),
    "one word": ("uint64_t own; mram_read(data + n, &own, 8);\nsum += own;", "the stack", 64),
    "a copy": (
        "mram_read(data, wram, 2048); memcpy(copy, wram, 128 * n);\nsum += copy[n + 1];",
        "(copy + 68)", 68
    ),
    "moved on": (
        "mram_read(data, wram, 2048); mram_write(wram, data + 1024, 2048); "
        "mram_read(data + 1024, copy, 2048);\nsum += copy[n];", "(copy + 64)", 4096 + 64
    ),
    "an unaligned transfer": (
        "uint32_t *at = mram_read_unaligned(data + n + 1, wram, 4);\nsum += at[0];",
        "(wram + 4)", 68
    ),
    "a reader": (
        "seqreader_t reader; uint32_t *at = seqread_init(seqread_alloc(), data, &reader);\n"
        "sum += at[n];", "", 64
    ),
    "a variable": ("\nsum += data[n + 1];", None, 68),
}  # fmt: skip


def _program(statements: str) -> str:
    return HEAD + f"int main(void) {{ mram_write(wram, data, 64);\n{statements}\nreturn 0; }}"


@pytest.mark.slow
@pytest.mark.parametrize("flag", ["-O0", "-O2"])
@pytest.mark.parametrize("name", UNUSED)
def test_what_is_only_moved_is_no_mistake(name: str, flag: str, bench: Bench, told: Build) -> None:
    program = told(_program(UNUSED[name]), 1, flag)
    assert bench.run(program, Checks(mram_unwritten="fault")).status == "done"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", USED)
def test_a_use_is_told_with_its_place(name: str, mode: str, bench: Bench, told: Build) -> None:
    statements, holder, offset = USED[name]
    source = _program(statements)
    program = told(source)
    assert program.symbols["data"][0] == FIRST
    outcome = bench.run(program, Checks(mram_unwritten=mode))
    if mode == "off":
        assert (outcome.status, outcome.warnings) == ("done", [])
        return
    (text,) = [outcome.text] if mode == "fault" else outcome.warnings
    assert f"MRAM address {FIRST + offset:#x}, which neither host nor DPU has written" in text
    line = next(n for n, x in enumerate(source.split("\n"), 1) if x.startswith("sum += "))
    assert f".c:{line})" in text
    assert holder in text if holder is not None else "used at MRAM address" in text
    assert outcome.fault == (FaultKind.UNWRITTEN if mode == "fault" else None)


ANY = HEAD + """
__host uint32_t store_at, stores, load_at, loads, copy_at, copied, use_at, uses;
int main(void)
{
    if (stores)
        mram_write(copy, data + store_at, stores);
    mram_read(data + load_at, wram, loads);
    memmove((uint8_t *)wram + copy_at, wram, copied);
    add(wram, use_at, uses);
    return 0;
}
"""  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.data())
def _compare(bench: Bench, data: st.DataObject) -> None:
    """Against sets of bytes. All numbers are zeros, so that nothing else tells them apart."""
    words = st.integers(0, 31)
    store_at, load_at = (2 * data.draw(words) for _ in range(2))
    stores = 8 * data.draw(words)
    loads = 8 * data.draw(st.integers(1, 32))
    copy_at, copied = data.draw(st.integers(0, 100)), data.draw(st.integers(0, 200))
    use_at = data.draw(st.integers(0, 63))
    uses = data.draw(st.integers(0, 64 - use_at))

    written = set(range(4 * store_at, 4 * store_at + stores))
    wram = [4 * load_at + i not in written if i < loads else False for i in range(512)]
    wram[copy_at : copy_at + copied] = wram[:copied]
    expected = any(wram[4 * use_at : 4 * (use_at + uses)])

    bench.load(bench.program)
    address, size = bench.program.symbols["data"]
    bench.unwritten(address, size)
    for name, number in (
        ("store_at", store_at), ("stores", stores), ("load_at", load_at), ("loads", loads),
        ("copy_at", copy_at), ("copied", copied), ("use_at", use_at), ("uses", uses),
    ):  # fmt: skip
        bench.var(name)[0] = number
    found = bench.launch(Checks(mram_unwritten="fault"), [0]).faulted
    assert [o.fault for o in found] == [FaultKind.UNWRITTEN] * expected


def test_any_transfers_and_copies(bench: Bench, told: Build) -> None:
    bench.load(told(ANY))
    _compare(bench)


def test_what_another_launch_brought_is_not_known(bench: Bench, told: Build) -> None:
    source = HEAD + (
        "__host uint32_t turn; int main(void) { if (turn++) sum += wram[4]; "
        "else mram_read(data, wram, 64); return 0; }"
    )
    bench.load(told(source))
    for _ in range(2):
        assert not bench.launch(Checks(mram_unwritten="fault"), [0]).faulted


def test_in_hardware_time_it_is_the_same(bench: Bench, told: Build) -> None:
    bench.load(told(_program("mram_read(data, wram, 2048); sum += wram[n];"), 1, "-DCOUNTED"))
    (outcome,) = bench.launch(Checks(mram_unwritten="warn"), [0], timed=True).faulted
    assert ["are used; a DMA brought them" in text for text in outcome.warnings] == [True]


# Programs that do not tell their accesses. Statements -> whether there is a hint.
TRANSFERS = {
    "a part was written": ("mram_read(data, wram, 2048);", False),
    "nothing was": ("mram_read(data + 512, wram, 2048);", True),
    "one block too many": (
        "for (uint32_t i = 0; i < n; i += 8) mram_read(data + 2 * i, wram, 64);", False
    ),
    "nothing was, in a loop": (
        "for (uint32_t i = 0; i < n; i += 8) mram_read(data + 512 + 2 * i, wram, 64);", True
    ),
    "nothing was, at one of two places": (
        "mram_read(data, wram, 64);\nmram_read(data + 64, wram, 64);", True
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TRANSFERS)
def test_without_told_accesses_all_of_a_place_must_be_unwritten(
    name: str, bench: Bench, build: Build
) -> None:
    statements, hint = TRANSFERS[name]
    outcome = bench.run(build(_program(statements)))
    assert outcome.status == "done"
    found = ["mram_unwritten=warn the program says where it uses them" in w
             for w in outcome.warnings]  # fmt: skip
    assert found == [True] * hint


def test_without_told_accesses_a_fault_comes_at_the_transfer(bench: Bench, build: Build) -> None:
    statements, _ = TRANSFERS["one block too many"]
    source = _program(statements)
    outcome = bench.run(build(source), Checks(mram_unwritten="fault"))
    assert outcome.fault == FaultKind.UNWRITTEN
    assert f"read of 64 bytes at MRAM address {FIRST + 64:#x}" in outcome.text


def test_a_fault_that_follows_is_told_with_the_hint(bench: Bench, build: Build) -> None:
    statements = "mram_read(data + 512, wram, 64); sum = 7 / wram[n - 1];"
    outcome = bench.run(build(_program(statements)))
    assert "division by zero" in outcome.text
    assert ["has written" in text for text in outcome.warnings] == [True]
