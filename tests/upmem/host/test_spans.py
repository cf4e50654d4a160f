"""Which copies are right: one rule, asked by C where it copies without Python and by Python."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cudla_sim
from cudla_sim.capi.prototypes import dpu_set_t, dpu_symbol_t
from cudla_sim.native.dpu_memory import DpuCopies
from cudla_sim.upmem import transfer
from cudla_sim.upmem.spans import span
from cudla_sim.upmem.symbols import Symbol

from .hosting import MRAM, Host, pointer, status
from .kernels import Kernel

PROGRAM = """
#include <mram.h>
#include <stdint.h>
__host uint8_t odd[3];
__host __dma_aligned uint8_t words[40];
__mram_noinit uint8_t block[4096];
int main(void) { return block[odd[0]] + words[0]; }"""
NAMES = ("odd", "words", "block", "too_long_wram", "too_long_mram", "__sys_used_mram_end")
MEMORIES = {"wram": (64 << 10, 4, "WRAM"), "mram": (64 << 20, 8, "MRAM")}
MOST = 1 << 13


def expected(symbol: Symbol, offset: int, length: int) -> int:
    """The status by the words of the SDK's manual."""
    if length > symbol.size - offset:
        return status("INVALID_SYMBOL_ACCESS")
    size, unit, name = MEMORIES[symbol.memory]
    at = symbol.address % 0x0800_0000 + offset
    right = not at % unit and not length % unit and at + length <= size
    return 0 if right else status(f"INVALID_{name}_ACCESS")


@pytest.fixture
def loaded(host: Host, kernel: Kernel) -> Iterator[dpu_set_t]:
    """One DPU; two of its symbols end past their memories, as a broken file may say."""
    with host.alloc(1) as made:
        host.ok(host.api.dpu_load(made, str(kernel(PROGRAM)).encode(), None))
        symbols = cudla_sim.upmem.sets[0].dpus[0].program.symbols
        symbols["too_long_wram"] = Symbol((64 << 10) - 64, 1 << 20)
        symbols["too_long_mram"] = Symbol(MRAM.address + (64 << 20) - 64, 1 << 30)
        data = np.zeros(MOST, np.uint8)
        for name in NAMES:  # from here on C knows them, but the one of 3 bytes
            host.api.dpu_copy_to(made, name.encode(), 0, pointer(data), 8)
        yield made


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    name=st.sampled_from(NAMES),
    offset=st.one_of(st.integers(0, 80), st.integers(0, 5000), st.integers(0, (1 << 32) - 1)),
    length=st.one_of(st.integers(1, 80), st.integers(1, MOST)),
    from_end=st.booleans(),
)
def test_both_ways_answer_the_same(
    host: Host, loaded: dpu_set_t, name: str, offset: int, length: int, from_end: bool
) -> None:
    symbol = cudla_sim.upmem.sets[0].dpus[0].program.symbols[name]
    if from_end:
        offset = max(0, symbol.size - offset) & 0xFFFF_FFFF
    data, api = np.zeros(MOST, np.uint8), host.api
    found = dpu_symbol_t(symbol.address, symbol.size)
    wanted = expected(symbol, offset, length)
    assert api.dpu_copy_to_symbol(loaded, found, offset, pointer(data), length) == wanted
    for _ in range(2):
        assert api.dpu_copy_to(loaded, name.encode(), offset, pointer(data), length) == wanted
    host.ok(api.dpu_prepare_xfer(loaded, pointer(data)))
    assert api.dpu_push_xfer(loaded, 0, name.encode(), offset, length, 0) == wanted
    host.ok(api.dpu_prepare_xfer(loaded, None))


def test_what_is_right_needs_no_python(
    host: Host, loaded: dpu_set_t, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(transfer, "broadcast", lambda *words: asked.append(words))
    data = np.zeros(MOST, np.uint8)
    for name, offset, length, in_c in (
        (b"words", 0, 40, True), (b"words", 36, 4, True), (b"words", 36, 8, False),
        (b"words", 2, 4, False), (b"words", 0, 2, False), (b"words", 0, 0, False),
        (b"block", 8, 4088, True), (b"block", 4, 8, False), (b"block", 4096, 8, False),
        (b"too_long_wram", 0, 64, True), (b"too_long_wram", 0, 68, False),
        (b"too_long_mram", 56, 8, True), (b"too_long_mram", 64, 8, False),
    ):  # fmt: skip
        # C has one place for names of the same hash
        host.ok(host.api.dpu_copy_to(loaded, name, 0, pointer(data), 8))
        asked.clear()
        assert host.api.dpu_copy_to(loaded, name, offset, pointer(data), length) == 0
        assert bool(asked) is not in_c, (name, offset, length)


@given(
    symbol=st.builds(
        Symbol,
        st.one_of(st.integers(0, 1 << 17), st.integers(0x0800_0000, 0x0C00_0010)),
        st.one_of(st.integers(0, 300), st.integers(0, 1 << 33)),
    ),
    offset=st.one_of(st.integers(0, 64), st.integers(0, (1 << 32) - 1)),
    length=st.one_of(st.integers(0, 64), st.integers(0, (1 << 64) - 1)),
)
def test_the_rule(symbol: Symbol, offset: int, length: int) -> None:
    allowed = span(symbol)
    right = allowed is not None and DpuCopies.keeps_to(
        allowed.end, allowed.unit, allowed.first + offset, length
    )
    if symbol.memory == "mram" and symbol.address & ~0x0800_0000 >= 0x0400_0000:
        assert not right or not length
    else:
        assert right is (expected(symbol, offset, length) == 0)


def test_code_has_no_span() -> None:
    assert span(Symbol(0x8000_0000, 64)) is None
    assert span(Symbol(1 << 17, 8)) is None
