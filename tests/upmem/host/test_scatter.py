"""Scatter/gather transfers against a naive model, and the rules of the document."""

from __future__ import annotations

import contextlib
import ctypes
import io
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cudla_sim
from cudla_sim.capi import load
from cudla_sim.capi.prototypes import dpu_set_t, get_block_t, sg_block_info
from cudla_sim.native.dpu_memory import DpuCopies, SgResult

from .hosting import ASYNC, FROM_DPU, MRAM, TO_DPU, WRAM, Host, pointer, status
from .kernels import Kernel

DISABLE_LENGTH_CHECK = 4
ON = "sgXferEnable=true,sgXferMaxBlocksPerDpu=100"
_GET_BLOCK = ctypes.CFUNCTYPE(
    ctypes.c_bool,
    ctypes.POINTER(sg_block_info),
    ctypes.c_uint32,
    ctypes.c_uint32,
    ctypes.c_void_p,
)


class Blocks:
    """A get_block function over tables of (address, length), one a DPU."""

    def __init__(self, tables: Sequence[Sequence[tuple[int, int]]]) -> None:
        self.calls: list[tuple[int, int]] = []

        def get_block(out: object, dpu: int, block: int, _: object) -> bool:
            self.calls.append((dpu, block))
            if block >= len(tables[dpu]):
                return False
            out[0].addr, out[0].length = tables[dpu][block]  # type: ignore[index]
            return True

        self.function = _GET_BLOCK(get_block)
        self.info = get_block_t(ctypes.cast(self.function, ctypes.c_void_p), None, 0)


# Blocks of one DPU as (start, length) in a host buffer of 4 KiB.
blocks_of_dpu = st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 96)), max_size=8)


@given(
    tables=st.lists(blocks_of_dpu, min_size=1, max_size=5),
    words=st.integers(0, 60),
    offset=st.integers(0, 5).map(lambda n: 8 * n),
)
def test_gather(tables: list[list[tuple[int, int]]], words: int, offset: int) -> None:
    """To the DPU without a length check: joined, cut at length, filled with zeros."""
    cudla_sim.reset()
    host = Host(load())
    source = np.random.default_rng(3).integers(1, 256, 4096, np.uint8)
    base, length = source.ctypes.data, 8 * words
    blocks = Blocks([[(base + s, n) for s, n in t] for t in tables])
    with host.alloc(len(tables), ON) as made:
        host.ok(
            host.api.dpu_push_sg_xfer_symbol(
                made, TO_DPU, MRAM, offset, length, ctypes.byref(blocks.info), DISABLE_LENGTH_CHECK
            )
        )
        for dpu, table in zip(cudla_sim.upmem.sets[0].dpus, tables, strict=True):
            joined = b"".join(source[s : s + n].tobytes() for s, n in table)
            expected = joined[:length].ljust(length, b"\0")
            assert dpu.mram[offset : offset + length].tobytes() == expected
            assert not dpu.mram[offset + length : offset + length + 64].any()


@given(
    tables=st.lists(st.lists(st.integers(0, 64), max_size=8), min_size=1, max_size=5),
    words=st.integers(0, 60),
)
def test_scatter(tables: list[list[int]], words: int) -> None:
    """From the DPU without a length check: cut at length, early end; blocks do not overlap."""
    cudla_sim.reset()
    host = Host(load())
    length = 8 * words
    target = np.full(sum(map(sum, tables)) + 1, 0xEE, np.uint8)
    expected = target.copy()
    place = 0
    placed = []
    for table in tables:
        placed.append([])
        for size in table:
            placed[-1].append((target.ctypes.data + place, size))
            place += size
    blocks = Blocks(placed)
    with host.alloc(len(tables), ON) as made:
        place = 0
        for number, (dpu, table) in enumerate(
            zip(cudla_sim.upmem.sets[0].dpus, tables, strict=True)
        ):
            content = np.random.default_rng(number).integers(0, 256, max(length, 1), np.uint8)
            dpu.mram[: len(content)] = content
            taken = min(sum(table), length)
            expected[place : place + taken] = content[:taken]
            place += sum(table)
        host.ok(
            host.api.dpu_push_sg_xfer_symbol(
                made, FROM_DPU, MRAM, 0, length, ctypes.byref(blocks.info), DISABLE_LENGTH_CHECK
            )
        )
    assert (target == expected).all()


@given(
    starts=st.lists(
        st.lists(st.integers(0, 300), min_size=40, max_size=40), min_size=3, max_size=3
    ),
    kind=st.sampled_from(["anywhere", "interleaved", "one after the other"]),
)
def test_bytes_of_several_blocks_are_those_of_the_last(starts: list[list[int]], kind: str) -> None:
    """Blocks count first, then DPUs: the last one that has a byte decides what it holds."""
    cudla_sim.reset()
    host = Host(load())
    size, count, dpus = 8, 40, len(starts)
    if kind == "interleaved":
        starts = [[size * (n * dpus + d) for n in range(count)] for d in range(dpus)]
    elif kind == "one after the other":
        starts = [[size * (d * count + n) for n in range(count)] for d in range(dpus)]
    target = np.full(size * count * dpus, 0xEE, np.uint8)
    expected = target.copy()
    base = target.ctypes.data
    blocks = Blocks([[(base + s, size) for s in table] for table in starts])
    content = np.random.default_rng(5).integers(0, 256, (dpus, count * size), np.uint8)
    with host.alloc(dpus, ON) as made:
        for dpu, row in zip(cudla_sim.upmem.sets[0].dpus, content, strict=True):
            dpu.mram[: count * size] = row
        for n in range(count):
            for d in range(dpus):
                part = content[d, n * size : (n + 1) * size]
                expected[starts[d][n] : starts[d][n] + size] = part
        info = ctypes.byref(blocks.info)
        host.ok(host.api.dpu_push_sg_xfer_symbol(made, FROM_DPU, MRAM, 0, count * size, info, 0))
    assert (target == expected).all()


@given(
    tables=st.lists(
        st.lists(st.tuples(st.integers(0, 200), st.sampled_from([0, 8, 16])), max_size=8),
        min_size=1,
        max_size=3,
    ),
    mode=st.sampled_from(["off", "warn", "fault"]),
)
def test_blocks_that_share_bytes_are_told(tables: list[list[tuple[int, int]]], mode: str) -> None:
    """A naive model counts how many blocks have each byte."""
    cudla_sim.reset()
    host = Host(load())
    cudla_sim.configure(upmem_checks=f"sg_overlap={mode}")
    target = np.full(256, 0xEE, np.uint8)
    owners = np.zeros(256, int)
    for table in tables:
        for start, length in table:
            owners[start : start + length] += 1
    shared = bool((owners > 1).any())
    blocks = Blocks([[(target.ctypes.data + s, n) for s, n in table] for table in tables])
    told = io.StringIO()
    with host.alloc(len(tables), ON) as made, contextlib.redirect_stderr(told):
        answer = host.api.dpu_push_sg_xfer_symbol(
            made, FROM_DPU, MRAM, 0, 128, ctypes.byref(blocks.info), DISABLE_LENGTH_CHECK
        )
    stopped = shared and mode == "fault"
    assert answer == (status("INVALID_MEMORY_TRANSFER") if stopped else 0)
    assert ("shares bytes" in told.getvalue()) == (shared and mode == "warn")
    assert (target == np.where((owners > 0) & (not stopped), 0, 0xEE)).all()


def test_blocks_are_numbered_from_zero_and_false_ends_them(host: Host) -> None:
    data = np.zeros(64, np.uint8)
    blocks = Blocks([[(data.ctypes.data, 16), (data.ctypes.data, 16)]] * 3)
    with host.alloc(3, ON) as made:
        info = ctypes.byref(blocks.info)
        host.ok(host.api.dpu_push_sg_xfer_symbol(made, TO_DPU, MRAM, 0, 32, info, 0))
    assert sorted(blocks.calls) == [(d, b) for d in range(3) for b in range(3)]


@pytest.mark.parametrize("sizes", [[16], [16, 8], [16, 16, 8], []])
@pytest.mark.parametrize("direction", [TO_DPU, FROM_DPU])
def test_the_sum_of_the_blocks_must_be_the_length(
    host: Host, sizes: list[int], direction: int
) -> None:
    data = np.full(64, 7, np.uint8)
    good = [(data.ctypes.data, 16), (data.ctypes.data + 16, 16)]
    blocks = Blocks([good, [(data.ctypes.data, n) for n in sizes]])
    with host.alloc(2, ON) as made:
        answer = host.api.dpu_push_sg_xfer_symbol(
            made, direction, MRAM, 0, 32, ctypes.byref(blocks.info), 0
        )
        assert answer == status("SG_LENGTH_MISMATCH")
        assert "DPU 1 of the allocated set" in cudla_sim.last_explanation()
        # nothing was copied, for no DPU
        assert not cudla_sim.upmem.sets[0].dpus[0].mram[:32].any()
    assert (data == 7).all()


def test_the_transfer_must_be_enabled(host: Host) -> None:
    blocks = Blocks([[]])
    with host.alloc(1) as made:
        answer = host.api.dpu_push_sg_xfer_symbol(
            made, TO_DPU, MRAM, 0, 0, ctypes.byref(blocks.info), 0
        )
        assert answer == status("SG_NOT_ACTIVATED")
        assert "sgXferEnable=true" in cudla_sim.last_explanation()


@pytest.mark.parametrize(("profile", "limit"), [("sgXferEnable=true", 3), (ON, 100)])
def test_the_number_of_blocks_is_limited(host: Host, profile: str, limit: int) -> None:
    """By default to the number of DPUs in the set."""
    data = np.zeros(8, np.uint8)
    for count in (limit, limit + 1):
        one = [(data.ctypes.data, 8)] * count
        blocks = Blocks([one] * 3)
        with host.alloc(3, profile) as made:
            answer = host.api.dpu_push_sg_xfer_symbol(
                made, TO_DPU, MRAM, 0, 8 * count, ctypes.byref(blocks.info), 0
            )
            assert answer == (0 if count == limit else status("SG_TOO_MANY_BLOCKS"))


@pytest.mark.parametrize("flags", [0, DISABLE_LENGTH_CHECK])
def test_a_get_block_that_never_ends(host: Host, flags: int) -> None:
    data = np.zeros(8, np.uint8)
    endless = _GET_BLOCK(lambda out, *_: out[0].__init__(data.ctypes.data, 0) is None)
    info = get_block_t(ctypes.cast(endless, ctypes.c_void_p), None, 0)
    with host.alloc(1, ON) as made:
        answer = host.api.dpu_push_sg_xfer_symbol(
            made, TO_DPU, MRAM, 0, 64, ctypes.byref(info), flags
        )
        assert answer == status("SG_TOO_MANY_BLOCKS")


def test_wrong_symbols_sets_and_arguments(host: Host) -> None:
    data = np.zeros(64, np.uint8)
    blocks = Blocks([[(data.ctypes.data, 8)]] * 2)
    info = ctypes.byref(blocks.info)
    push = host.api.dpu_push_sg_xfer_symbol
    invalid = status("INVALID_MEMORY_TRANSFER")
    with host.alloc(2, ON) as made:
        assert push(made, TO_DPU, WRAM, 0, 8, info, 0) == status("SG_NOT_MRAM_SYMBOL")
        assert push(made, TO_DPU, MRAM, 4, 8, info, 0) == status("INVALID_MRAM_ACCESS")
        assert push(made, TO_DPU, MRAM, 0, 8, info, 1) == invalid
        assert push(made, 3, MRAM, 0, 8, info, 0) == invalid
        assert push(made, TO_DPU, MRAM, 0, 8, None, 0) == invalid
        nothing = get_block_t(None, None, 0)
        assert push(made, TO_DPU, MRAM, 0, 8, ctypes.byref(nothing), 0) == invalid
        one = host.dpus(made)[0]
        assert push(one, TO_DPU, MRAM, 0, 8, info, 0) == status("INTERNAL")
        without_size = get_block_t(blocks.info.f, data.ctypes.data, 0)
        answer = push(made, TO_DPU, MRAM, 0, 8, ctypes.byref(without_size), 0)
        assert answer == status("INVALID_BUFFER_SIZE")
        dangling = get_block_t(blocks.info.f, 0x10_0000_0000, 8)
        assert push(made, TO_DPU, MRAM, 0, 8, ctypes.byref(dangling), 0) == invalid
        for bad in (0, 0x10_0000_0000):
            broken = Blocks([[(data.ctypes.data, 8)], [(bad, 8)]])
            assert push(made, TO_DPU, MRAM, 0, 8, ctypes.byref(broken.info), 0) == invalid
            assert "block 0 of DPU 1" in cudla_sim.last_explanation()
        host.ok(push(made, TO_DPU, MRAM, 0, 8, info, 0))


@pytest.mark.parametrize("flags", [0, ASYNC])
@pytest.mark.parametrize(("count", "profile"), [(192, ON), (130, ON), (70, f"{ON},disabledMask=6")])
def test_ranks_of_a_set_count_their_dpus_in_the_allocated_set(
    host: Host, count: int, profile: str, flags: int
) -> None:
    """DPUs that are not enabled do not count; the block limit is that of the whole set."""
    data = np.random.default_rng(8).integers(0, 1 << 60, count, np.uint64)
    out = np.zeros(count, np.uint64)
    there = Blocks([[(data.ctypes.data + 8 * n, 8)] for n in range(count)])
    back = Blocks([[(out.ctypes.data + 8 * n, 8)] for n in range(count)])
    push = host.api.dpu_push_sg_xfer_symbol
    with host.alloc(count, profile) as made:
        for rank in reversed(host.ranks(made)):
            host.ok(push(rank, TO_DPU, MRAM, 0, 8, ctypes.byref(there.info), flags))
        host.ok(host.api.dpu_sync(made))
        dpus = cudla_sim.upmem.sets[0].dpus
        assert [int(d.mram[:8].view(np.uint64)[0]) for d in dpus] == data.tolist()
        for rank in host.ranks(made):
            host.ok(push(rank, FROM_DPU, MRAM, 0, 8, ctypes.byref(back.info), flags))
        host.ok(host.api.dpu_sync(made))
    assert (out == data).all()
    wanted = sorted((n, b) for n in range(count) for b in (0, 1))
    assert sorted(there.calls) == wanted
    assert sorted(back.calls) == wanted


def test_some_ranks_of_a_set_begin_where_the_first_of_them_does(host: Host) -> None:
    data = np.zeros(8, np.uint8)
    blocks = Blocks([[(data.ctypes.data, 8)]] * 192)
    push = host.api.dpu_push_sg_xfer_symbol
    with host.alloc(192, ON) as made:
        part = dpu_set_t.from_buffer_copy(host.ranks(made)[1])
        part.list.nr_ranks = 2
        host.ok(push(part, TO_DPU, MRAM, 0, 8, ctypes.byref(blocks.info), 0))
    assert sorted({dpu for dpu, _ in blocks.calls}) == list(range(64, 192))


def test_the_block_limit_of_a_rank_is_that_of_the_allocated_set(host: Host) -> None:
    data = np.zeros(8, np.uint8)
    push = host.api.dpu_push_sg_xfer_symbol
    for count, answer in ((70, 0), (71, status("SG_TOO_MANY_BLOCKS"))):
        blocks = Blocks([[(data.ctypes.data, 0)] * (count - 1) + [(data.ctypes.data, 8)]] * 70)
        with host.alloc(70, "sgXferEnable=true") as made:
            rank = host.ranks(made)[1]
            assert push(rank, TO_DPU, MRAM, 0, 8, ctypes.byref(blocks.info), 0) == answer


@pytest.mark.parametrize("flags", [0, DISABLE_LENGTH_CHECK])
def test_blocks_beyond_the_length_count_too(host: Host, flags: int) -> None:
    """get_block is asked until it answers false; without a check what is too much is not copied."""
    source = np.arange(64, dtype=np.uint8)
    push = host.api.dpu_push_sg_xfer_symbol
    profile = "sgXferEnable=true,sgXferMaxBlocksPerDpu=4"
    too_many = status("SG_TOO_MANY_BLOCKS")
    for count in (4, 5):
        blocks = Blocks([[(source.ctypes.data, 12)] * 2 + [(source.ctypes.data, 0)] * (count - 2)])
        with host.alloc(1, profile) as made:
            answer = push(made, TO_DPU, MRAM, 0, 16, ctypes.byref(blocks.info), flags)
            wanted = 0 if flags else status("SG_LENGTH_MISMATCH")
            assert answer == (wanted if count == 4 else too_many)
            if not answer:
                got = cudla_sim.upmem.sets[0].dpus[0].mram[:24].tolist()
                assert got == [*range(12), *range(4), *[0] * 8]
        assert len(blocks.calls) == 5


def test_a_set_of_one_dpu_is_refused_as_the_library_does(
    host: Host, kernel: Kernel, capfd: pytest.CaptureFixture[str]
) -> None:
    """By name the program and the symbol are looked for first."""
    data = np.zeros(8, np.uint8)
    blocks = Blocks([[(data.ctypes.data, 8)]])
    info = ctypes.byref(blocks.info)
    by_name = host.api.dpu_push_sg_xfer
    line = "scattered xfer to one DPU is not supported "
    with host.alloc(1, ON) as made:
        one = host.dpus(made)[0]
        assert by_name(one, TO_DPU, b"block", 0, 8, info, 0) == status("NO_PROGRAM_LOADED")
        text = (
            "#include <mram.h>\n__mram_noinit char block[64]; int main(void) { return block[0]; }"
        )
        host.ok(host.api.dpu_load(made, str(kernel(text)).encode(), None))
        assert by_name(one, TO_DPU, b"blocks", 0, 8, info, 0) == status("UNKNOWN_SYMBOL")
        assert line not in capfd.readouterr().err
        assert by_name(one, TO_DPU, b"block", 0, 8, info, 0) == status("INTERNAL")
        assert line in capfd.readouterr().err.splitlines()
        assert host.api.dpu_push_sg_xfer_symbol(one, TO_DPU, WRAM, 0, 8, info, ASYNC) == status(
            "INTERNAL"
        )
        assert capfd.readouterr().err.splitlines() == [line]
        host.ok(by_name(made, TO_DPU, b"block", 0, 8, info, 0))


def test_get_block_may_use_the_ranks_of_the_transfer(host: Host) -> None:
    """As a callback of these ranks may."""
    data, seen = np.full(8, 5, np.uint8), np.zeros(8, np.uint8)
    with host.alloc(1, ON) as made:
        one = host.dpus(made)[0]

        def get_block(out: object, dpu: int, block: int, _: object) -> bool:
            if block == 0:
                out[0].addr, out[0].length = data.ctypes.data, 8  # type: ignore[index]
                host.ok(host.api.dpu_copy_from_symbol(one, MRAM, 64, pointer(seen), 8))
            return block == 0

        function = _GET_BLOCK(get_block)
        info = get_block_t(ctypes.cast(function, ctypes.c_void_p), None, 0)
        host.ok(host.api.dpu_copy_to_symbol(made, MRAM, 64, pointer(data), 8))
        push = host.api.dpu_push_sg_xfer_symbol
        host.ok(push(made, TO_DPU, MRAM, 0, 8, ctypes.byref(info), 0))
    assert (seen == 5).all()


def test_asynchronous_transfers_copy_their_arguments(host: Host) -> None:
    data = np.arange(256, dtype=np.uint8)
    out = np.zeros(128, np.uint8)
    seen = []

    def get_block(info: object, dpu: int, block: int, args: int) -> bool:
        if block:
            return False
        start = ctypes.c_uint64.from_address(args).value
        seen.append(start)
        info[0].addr, info[0].length = start + 8 * dpu, 8  # type: ignore[index]
        return True

    function = _GET_BLOCK(get_block)
    push = host.api.dpu_push_sg_xfer_symbol
    with host.alloc(70, ON) as made:
        start = ctypes.c_uint64(data.ctypes.data)
        info = get_block_t(ctypes.cast(function, ctypes.c_void_p), ctypes.addressof(start), 8)
        host.ok(push(made, TO_DPU, MRAM, 0, 8, ctypes.byref(info), ASYNC))
        start.value = 0  # the copy counts
        host.ok(host.api.dpu_sync(made))
        assert set(seen) == {data.ctypes.data}
        dpus = cudla_sim.upmem.sets[0].dpus
        for number in (0, 1, 31):  # indexes go on over the ranks of the set
            assert (dpus[number].mram[:8] == data[8 * number : 8 * number + 8]).all()
        # an error in one rank's job comes out at dpu_sync
        start.value = 0
        host.ok(push(made, FROM_DPU, MRAM, 0, 8, ctypes.byref(info), ASYNC))
        assert host.api.dpu_sync(made) & 0xFFFF == status("INVALID_MEMORY_TRANSFER")
        assert not out.any()
    assert pointer(out)


def test_without_memory_for_the_lists_no_dpu_is_blamed(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in the second rank, whose DPUs do not count from 0."""
    failed = staticmethod(lambda *_: SgResult("memory"))
    monkeypatch.setattr(DpuCopies, "scatter_gather", failed)
    buffer = np.zeros(8, np.uint8)
    info = ctypes.byref(Blocks([[(buffer.ctypes.data, 8)]] * 70).info)
    with host.alloc(70, ON) as made:
        push = host.api.dpu_push_sg_xfer_symbol
        assert push(made, TO_DPU, MRAM, 0, 8, info, 0) == status("SYSTEM")
        assert "no memory for the blocks of 70 DPUs" in cudla_sim.last_explanation()
        second = host.ranks(made)[1]
        host.ok(push(made, TO_DPU, MRAM, 0, 8, info, ASYNC))
        assert host.api.dpu_sync(second) & 0xFFFF == status("SYSTEM")
        assert host.api.dpu_sync(made) & 0xFFFF == status("SYSTEM")
