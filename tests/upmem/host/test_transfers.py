"""Copies against numpy, and every rule that refuses one."""

from __future__ import annotations

import ctypes
import mmap
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cudla_sim
from cudla_sim.capi import load
from cudla_sim.capi.prototypes import dpu_incbin_t, dpu_program_t, dpu_set_t, dpu_symbol_t
from cudla_sim.upmem.machine import machine
from cudla_sim.upmem.toolchain.cli import choose_route

from .hosting import ASYNC, FROM_DPU, MRAM, TO_DPU, WRAM, Host, pointer, status
from .kernels import Kernel
from .test_jobs import callback


def _random(size: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, size, np.uint8)


def test_broadcast_reaches_every_dpu(host: Host) -> None:
    data = _random(4096)
    with host.alloc(70) as made:
        host.ok(host.api.dpu_broadcast_to_symbol(made, MRAM, 64, pointer(data), 4096, 0))
        host.ok(host.api.dpu_copy_to_symbol(made, WRAM, 128, pointer(data), 256))
        for dpu in cudla_sim.upmem.sets[0].dpus:
            assert (dpu.mram[64 : 64 + 4096] == data).all()
            assert not dpu.mram[:64].any()
            assert (dpu.wram[128 : 128 + 256] == data[:256]).all()


@pytest.mark.parametrize("flags", [0, ASYNC])
@pytest.mark.parametrize("symbol", [MRAM, WRAM])
def test_push_gives_each_dpu_its_own(host: Host, symbol: dpu_symbol_t, flags: int) -> None:
    data = _random(70 * 1024).reshape(70, 1024)
    back = np.zeros_like(data)
    api = host.api
    with host.alloc(70) as made:
        for one, row in zip(host.dpus(made), data, strict=True):
            host.ok(api.dpu_prepare_xfer(one, pointer(row)))
        host.ok(api.dpu_push_xfer_symbol(made, TO_DPU, symbol, 8, 1024, flags))
        for one, row in zip(host.dpus(made), back, strict=True):
            host.ok(api.dpu_prepare_xfer(one, pointer(row)))
        host.ok(api.dpu_push_xfer_symbol(made, FROM_DPU, symbol, 8, 1024, flags))
        host.ok(api.dpu_sync(made))
    assert (back == data).all()


POINTER = """
#include <alloc.h>
#include <stdint.h>
__host uint32_t place;
int main(void)
{
    uint32_t *made = mem_alloc(16);
    for (uint32_t i = 0; i < 4; i++)
        made[i] = 10 + i;
    place = (uint32_t)(uintptr_t)made;
    return 0;
}"""


@pytest.mark.parametrize("whole", [True, False])
def test_a_pointer_of_a_program_is_a_place_in_wram(host: Host, kernel: Kernel, whole: bool) -> None:
    """On hardware WRAM begins at 0; programs hand addresses over as offsets in all of it."""
    api = host.api
    place, found = np.zeros(1, np.uint32), np.zeros(4, np.uint32)
    with host.alloc(1) as made:
        host.ok(api.dpu_load(made, str(kernel(POINTER)).encode(), None))
        host.ok(api.dpu_launch(made, 1))
        host.ok(api.dpu_copy_from(made, b"place", 0, pointer(place), 4))
        at = int(place[0])
        symbol, offset = (WRAM, at) if whole else (dpu_symbol_t(at, 16), 0)
        host.ok(api.dpu_copy_from_symbol(made, symbol, offset, pointer(found), 16))
        assert found.tolist() == [10, 11, 12, 13]
        longer = symbol.size - offset % 0x0010_0000 + 4
        beyond = api.dpu_copy_from_symbol(made, symbol, offset, pointer(found), longer)
        assert beyond == status("INVALID_SYMBOL_ACCESS")


@pytest.mark.parametrize("flags", [0, ASYNC])
def test_a_callback_prepares_beside_the_program(host: Host, flags: int) -> None:
    """What the program prepared for the push behind it stays."""
    mine, its = _random(8, 1), _random(8, 2)
    api = host.api
    answers: list[int] = []
    prepared = threading.Event()

    def copy(part: dpu_set_t, number: int, argument: int) -> int:
        prepared.wait(60)
        answers.append(api.dpu_prepare_xfer(part, pointer(its)))
        answers.append(api.dpu_push_xfer_symbol(part, TO_DPU, MRAM, 0, 8, 0))
        return 0

    function = callback(copy)
    with host.alloc(1) as made:
        if not flags:
            host.ok(api.dpu_prepare_xfer(made, pointer(mine)))
            prepared.set()
        host.ok(api.dpu_callback(made, function, None, 1 if flags else 0))  # asynchronous or not
        if flags:
            host.ok(api.dpu_prepare_xfer(made, pointer(mine)))
            prepared.set()
        host.ok(api.dpu_push_xfer_symbol(made, TO_DPU, MRAM, 8, 8, flags))
        host.ok(api.dpu_sync(made))
        assert answers == [0, 0]
        mram = cudla_sim.upmem.sets[0].dpus[0].mram
        assert (mram[:8] == its).all()
        assert (mram[8:16] == mine).all()


def test_a_partial_push_leaves_the_others_alone(host: Host) -> None:
    data = _random(512)
    with host.alloc(5) as made:
        host.ok(host.api.dpu_prepare_xfer(host.dpus(made)[3], pointer(data)))
        host.ok(host.api.dpu_push_xfer_symbol(made, TO_DPU, MRAM, 0, 512, 0))
        found = [bool(d.mram[:512].any()) for d in cudla_sim.upmem.sets[0].dpus]
        assert found == [False, False, False, True, False]


def test_buffers_are_used_up_unless_no_reset(host: Host) -> None:
    data = _random(8)
    api = host.api
    with host.alloc(1) as made:
        host.ok(api.dpu_prepare_xfer(made, pointer(data)))
        host.ok(api.dpu_push_xfer_symbol(made, TO_DPU, MRAM, 0, 8, 1))  # NO_RESET
        host.ok(api.dpu_push_xfer_symbol(made, TO_DPU, MRAM, 8, 8, 0))
        host.ok(api.dpu_push_xfer_symbol(made, TO_DPU, MRAM, 16, 8, 0))  # nothing is prepared
        mram = cudla_sim.upmem.sets[0].dpus[0].mram
        assert (mram[:8] == data).all()
        assert (mram[8:16] == data).all()
        assert not mram[16:24].any()


@pytest.mark.parametrize("check", ["fault", "warn", "off"])
def test_preparing_twice_replaces_the_buffer(
    host: Host, check: str, capfd: pytest.CaptureFixture[str]
) -> None:
    one, two = _random(8, 1), _random(8, 2)
    api = host.api
    if check != "fault":  # which it is
        cudla_sim.configure(upmem_checks=f"prepared_twice={check}")
    with host.alloc(1) as made:
        host.ok(api.dpu_prepare_xfer(made, pointer(one)))
        found = api.dpu_prepare_xfer(made, pointer(two))
        assert found == (status("TRANSFER_ALREADY_SET") if check == "fault" else 0)
        assert ("DPU 0.0.0 had a buffer already" in capfd.readouterr().err) == (check == "warn")
        host.ok(api.dpu_push_xfer_symbol(made, TO_DPU, MRAM, 0, 8, 0))
        assert (cudla_sim.upmem.sets[0].dpus[0].mram[:8] == two).all()
        host.ok(api.dpu_prepare_xfer(made, pointer(one)))
        host.ok(api.dpu_prepare_xfer(made, None))
        host.ok(api.dpu_push_xfer_symbol(made, TO_DPU, MRAM, 0, 8, 0))
        assert (cudla_sim.upmem.sets[0].dpus[0].mram[:8] == two).all()  # nothing was prepared


def test_copy_from_is_for_one_dpu(host: Host) -> None:
    out = np.zeros(8, np.uint8)
    api = host.api
    with host.alloc(2) as made:
        answer = api.dpu_copy_from_symbol(made, MRAM, 0, pointer(out), 8)
        assert answer == status("INVALID_DPU_SET")
        host.ok(api.dpu_copy_from_symbol(host.dpus(made)[0], MRAM, 0, pointer(out), 8))


REFUSED = [
    (MRAM, 4, 8, "INVALID_MRAM_ACCESS"),
    (MRAM, 8, 12, "INVALID_MRAM_ACCESS"),
    (MRAM, (64 << 20) - 8, 16, "INVALID_SYMBOL_ACCESS"),
    (dpu_symbol_t(0x0800_0000 + (64 << 20) - 8, 64), 0, 16, "INVALID_MRAM_ACCESS"),
    (WRAM, 2, 4, "INVALID_WRAM_ACCESS"),
    (WRAM, 4, 6, "INVALID_WRAM_ACCESS"),
    (dpu_symbol_t(65532, 64), 0, 8, "INVALID_WRAM_ACCESS"),
    (dpu_symbol_t(0, 16), 8, 12, "INVALID_SYMBOL_ACCESS"),
    (dpu_symbol_t(0x8000_0000, 64), 0, 8, "INVALID_IRAM_ACCESS"),
]


@pytest.mark.parametrize(("symbol", "offset", "length", "name"), REFUSED)
def test_ranges_are_checked(
    host: Host, symbol: dpu_symbol_t, offset: int, length: int, name: str
) -> None:
    data = _random(64)
    api = host.api
    with host.alloc(1) as made:
        host.ok(api.dpu_prepare_xfer(made, pointer(data)))
        where = (symbol, offset)
        for answer in (
            api.dpu_copy_to_symbol(made, *where, pointer(data), length),
            api.dpu_copy_from_symbol(made, *where, pointer(data), length),
            api.dpu_push_xfer_symbol(made, TO_DPU, *where, length, 0),
            api.dpu_push_xfer_symbol(made, FROM_DPU, *where, length, ASYNC),
        ):
            assert answer == status(name)
        host.ok(api.dpu_sync(made))


def test_bad_flags_direction_and_buffers(host: Host) -> None:
    data = _random(64)
    api = host.api
    dangling = ctypes.c_void_p(0x10_0000_0000)
    with host.alloc(1) as made:
        invalid = status("INVALID_MEMORY_TRANSFER")
        host.ok(api.dpu_prepare_xfer(made, pointer(data)))
        assert api.dpu_push_xfer_symbol(made, 2, MRAM, 0, 8, 0) == invalid
        assert api.dpu_push_xfer_symbol(made, TO_DPU, MRAM, 0, 8, 8) == invalid
        parallel = api.dpu_push_xfer_symbol(made, TO_DPU, MRAM, 0, 8, 4)
        assert parallel == status("INVALID_PARALLEL_MEMORY_TRANSFER")
        host.ok(api.dpu_push_xfer_symbol(made, TO_DPU, WRAM, 0, 8, 4))
        for bad in (None, dangling):
            assert api.dpu_copy_to_symbol(made, MRAM, 0, bad, 8) == invalid
            assert api.dpu_copy_from_symbol(made, MRAM, 0, bad, 8) == invalid
            assert api.dpu_broadcast_to_symbol(made, MRAM, 0, bad, 8, ASYNC) == invalid
        host.ok(api.dpu_prepare_xfer(made, dangling))
        assert api.dpu_push_xfer_symbol(made, TO_DPU, MRAM, 0, 8, 0) == invalid
        host.ok(api.dpu_prepare_xfer(made, dangling))
        host.ok(api.dpu_push_xfer_symbol(made, TO_DPU, MRAM, 0, 8, ASYNC))
        assert api.dpu_sync(made) & 0xFFFF_FFFF == 0x8009_0015
        host.ok(api.dpu_sync(made))  # reported once


def test_a_bad_buffer_of_one_dpu_copies_nothing(host: Host) -> None:
    data = _random(64)
    api = host.api
    with host.alloc(3) as made:
        one, two, _ = host.dpus(made)
        host.ok(api.dpu_prepare_xfer(one, pointer(data)))
        host.ok(api.dpu_prepare_xfer(two, ctypes.c_void_p(8)))
        answer = api.dpu_push_xfer_symbol(made, TO_DPU, MRAM, 0, 64, 0)
        assert answer == status("INVALID_MEMORY_TRANSFER")
        assert not any(d.mram[:64].any() for d in cudla_sim.upmem.sets[0].dpus)


def test_a_program_is_needed_for_names(host: Host) -> None:
    data = _random(8)
    api = host.api
    with host.alloc(1) as made:
        missing = status("NO_PROGRAM_LOADED")
        assert api.dpu_copy_to(made, b"x", 0, pointer(data), 8) == missing
        assert api.dpu_push_xfer(made, TO_DPU, b"x", 0, 8, 0) == missing
        assert api.dpu_launch(made, 1) == missing
        assert api.dpu_launch(made, 7) == status("INVALID_LAUNCH_POLICY")


@given(
    start=st.integers(0, 300),
    length=st.integers(0, 300),
    again=st.tuples(st.integers(0, 300), st.integers(0, 300)),
)
def test_written_words_are_marked(start: int, length: int, again: tuple[int, int]) -> None:
    """The bit map against a set of words, through the C copy."""
    cudla_sim.reset()
    host = Host(load())
    data = _random(8 * 300)
    expected: set[int] = set()
    with host.alloc(1) as made:
        for first, count in ((start, length), again):
            arguments = (made, MRAM, 8 * first, pointer(data), 8 * count)
            host.ok(host.api.dpu_copy_to_symbol(*arguments))
            expected |= set(range(first, first + count))
        bits = np.unpackbits(machine().memory.written(0)[:128], bitorder="little")
        assert set(np.flatnonzero(bits).tolist()) == expected


def test_matrices_and_single_memories(host: Host) -> None:
    """The low-level functions: WRAM positions count words."""
    from cudla_sim.capi.prototypes import dpu_transfer_matrix

    data = _random(64 * 16).reshape(64, 16)
    out = np.zeros(16, np.uint8)
    api = host.api
    with host.alloc(64) as made:
        rank = cudla_sim.upmem.ranks[0]
        handle = ctypes.c_void_p(rank.handle)
        matrix = dpu_transfer_matrix()
        api.dpu_transfer_matrix_clear_all(handle, ctypes.byref(matrix))
        for dpu, row in zip(rank.dpus, data, strict=True):
            address = ctypes.c_void_p(dpu.handle)
            api.dpu_transfer_matrix_add_dpu(address, ctypes.byref(matrix), pointer(row))
        matrix.offset, matrix.size = 16, 16
        host.ok(api.dpu_copy_to_mrams(handle, ctypes.byref(matrix)))
        matrix.offset, matrix.size = 2, 4
        host.ok(api.dpu_copy_to_wram_for_matrix(handle, ctypes.byref(matrix)))
        for dpu, row in zip(rank.dpus, data, strict=True):
            assert (dpu.mram[16:32] == row).all()
            assert (dpu.wram[8:24] == row).all()
        one = ctypes.c_void_p(rank.dpus[5].handle)
        host.ok(api.dpu_copy_from_mram(one, pointer(out), 16, 16))
        assert (out == data[5]).all()
        host.ok(api.dpu_copy_from_wram_for_dpu(one, pointer(out), 2, 4))
        assert (out == data[5]).all()
        assert api.dpu_copy_from_mram(one, pointer(out), 1, 8) == status("INVALID_MRAM_ACCESS")
        assert host.count(made) == 64


def test_memory_that_cannot_be_written_is_refused(host: Host) -> None:
    """A buffer of constants: the copy would end the program."""
    import mmap

    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ)
    address = ctypes.c_void_p(np.frombuffer(page, np.uint8).ctypes.data)
    api = host.api
    with host.alloc(1) as made:
        host.ok(api.dpu_copy_to_symbol(made, MRAM, 0, address, 4096))
        refused = api.dpu_copy_from_symbol(made, MRAM, 0, address, 4096)
        assert refused == status("INVALID_MEMORY_TRANSFER")


SMALL = (
    "#include <stdint.h>\n#include <mram.h>\n__host uint32_t {}[4];\nint main(void) {{ return 0; }}"
)


def test_repeated_copies_by_name_follow_the_program(host: Host, kernel: Kernel) -> None:
    """The second copy of the same symbol is answered without Python; a load changes its place."""
    api = host.api
    first = kernel(SMALL.format("pad[64], numbers"))
    second = kernel(SMALL.format("numbers"))
    other = kernel(SMALL.format("different"))
    data = np.arange(4, dtype=np.uint32)
    with host.alloc(65) as made:
        places = set()
        for program in (first, second, first):
            host.ok(api.dpu_load(made, str(program).encode(), None))
            for turn in range(3):
                value = data + 10 * turn
                host.ok(api.dpu_broadcast_to(made, b"numbers", 0, pointer(value), 16, 0))
                dpu = cudla_sim.upmem.sets[0].dpus[64]
                assert dpu.symbols["numbers"].view(np.uint32).tolist() == value.tolist()
            places.add(dpu.symbols.describe("numbers").address)
            beyond = api.dpu_broadcast_to(made, b"numbers", 4, pointer(data), 16, 0)
            assert beyond == status("INVALID_SYMBOL_ACCESS")
            odd = api.dpu_broadcast_to(made, b"numbers", 1, pointer(data), 4, 0)
            assert odd == status("INVALID_WRAM_ACCESS")
        if choose_route()[0].clang:
            assert len(places) == 2  # gcc puts what is used first in front, in both
        host.ok(api.dpu_load(host.dpus(made)[3], str(other).encode(), None))
        answer = api.dpu_broadcast_to(made, b"numbers", 0, pointer(data), 16, 0)
        assert answer == status("DIFFERENT_DPU_PROGRAMS")
    answer = api.dpu_broadcast_to(made, b"numbers", 0, pointer(data), 16, 0)
    assert answer == status("INVALID_DPU_SET")


def test_repeated_copies_of_one_dpu_and_of_a_rank(host: Host, kernel: Kernel) -> None:
    api = host.api
    out = np.zeros(4, np.uint32)
    with host.alloc(66) as made:
        host.ok(api.dpu_load(made, str(kernel(SMALL.format("numbers"))).encode(), None))
        for turn in range(3):
            for number, dpu in enumerate(host.dpus(made)):
                value = np.full(4, 100 * turn + number, np.uint32)
                host.ok(api.dpu_copy_to(dpu, b"numbers", 0, pointer(value), 16))
            for number, dpu in enumerate(host.dpus(made)):
                host.ok(api.dpu_copy_from(dpu, b"numbers", 0, pointer(out), 16))
                assert out.tolist() == [100 * turn + number] * 4
            second = host.ranks(made)[1]
            rows = np.zeros((32, 4), np.uint32)
            for row, dpu in zip(rows, host.dpus(second), strict=True):
                host.ok(api.dpu_prepare_xfer(dpu, pointer(row)))
            host.ok(api.dpu_push_xfer(second, FROM_DPU, b"numbers", 0, 16, 0))
            assert rows[:, 0].tolist() == [100 * turn + number for number in range(34, 66)]
            wrong = api.dpu_copy_from(second, b"numbers", 0, pointer(out), 16)
            assert wrong == status("INVALID_DPU_SET")
            assert api.dpu_copy_from(dpu, b"numbers", 0, None, 16) == status(
                "INVALID_MEMORY_TRANSFER"
            )


def test_a_repeated_copy_waits_for_the_jobs_before_it(host: Host, kernel: Kernel) -> None:
    api = host.api
    begun, go = threading.Event(), threading.Event()

    def hold(*_: object) -> int:
        begun.set()
        go.wait(30)
        return 0

    function = callback(hold)
    one, two = (np.full(4, n, np.uint32) for n in (1, 2))
    out = np.zeros(4, np.uint32)
    with host.alloc(1) as made:
        host.ok(api.dpu_load(made, str(kernel(SMALL.format("numbers"))).encode(), None))
        for _ in range(2):
            host.ok(api.dpu_broadcast_to(made, b"numbers", 0, pointer(one), 16, 0))
            host.ok(api.dpu_copy_from(made, b"numbers", 0, pointer(out), 16))
        host.ok(api.dpu_callback(made, function, None, 1))
        host.ok(api.dpu_broadcast_to(made, b"numbers", 0, pointer(two), 16, ASYNC))
        assert begun.wait(30)
        threading.Timer(0.05, go.set).start()
        host.ok(api.dpu_copy_from(made, b"numbers", 0, pointer(out), 16))
        assert out.tolist() == [2] * 4


@pytest.mark.parametrize("size", [64, 1 << 16])
@pytest.mark.parametrize("stride", [1, 3, 300])
def test_buffers_near_and_far_from_each_other(size: int, stride: int, host: Host) -> None:
    """One question to the system for near ones; a hole between two is no error."""
    api = host.api
    with host.alloc(64) as made:
        space = mmap.mmap(-1, 64 * size * stride)
        base = np.frombuffer(space, np.uint8)
        rows = base.reshape(64, stride, size)[:, 0]
        rows[:] = np.arange(64, dtype=np.uint8)[:, None]
        found = np.zeros((64, size), np.uint8)
        for way, buffers in ((TO_DPU, rows), (FROM_DPU, found)):
            for row, dpu in zip(buffers, host.dpus(made), strict=True):
                host.ok(api.dpu_prepare_xfer(dpu, pointer(row)))
            host.ok(api.dpu_push_xfer_symbol(made, way, MRAM, 0, size, 0))
        assert (found == rows).all()


def _prepared() -> list[int]:
    return [place for rank in cudla_sim.upmem.ranks for place in rank.buffers if place]


@pytest.mark.parametrize("direction", [TO_DPU, FROM_DPU])
@pytest.mark.parametrize("flags", [0, ASYNC, 1, 1 | ASYNC])
def test_a_push_that_fails_late_uses_the_buffers_up(host: Host, direction: int, flags: int) -> None:
    """What the library's job refuses: MRAM that is misaligned or ends. What the call refuses keeps
    the buffers, so that the next push copies them; DPU_XFER_NO_RESET (1) keeps them always."""
    data = np.full(64, 3, np.uint8)
    push = host.api.dpu_push_xfer_symbol
    endless = dpu_symbol_t(MRAM.address, 0xFFFF_FFFF)
    late = [
        (MRAM, 4, 8),
        (MRAM, 0, 4),
        (endless, 64 << 20, 8),
        (dpu_symbol_t(0, 1 << 20), 65536, 4),
    ]
    early = [(MRAM, (64 << 20) - 8, 16), (WRAM, 2, 4), (WRAM, 0, 6)]
    with host.alloc(70) as made:
        for part in (made, host.ranks(made)[1]):
            for number, (symbol, offset, length) in enumerate(late + early):
                host.ok(host.api.dpu_prepare_xfer(part, None))
                host.ok(host.api.dpu_prepare_xfer(part, pointer(data)))
                assert push(part, direction, symbol, offset, length, flags) != 0
                kept = flags & 1 or number >= len(late)
                assert len(_prepared()) == (host.count(part) if kept else 0)
                host.ok(host.api.dpu_prepare_xfer(part, None))


@pytest.mark.parametrize("flags", [0, ASYNC])
def test_a_push_to_one_dpu_that_fails_uses_its_buffer_up(host: Host, flags: int) -> None:
    """On any failure, behind the look-up of program and symbol."""
    data = np.full(64, 3, np.uint8)
    push = host.api.dpu_push_xfer_symbol
    with host.alloc(2) as made:
        one, other = host.dpus(made)
        for direction, symbol, offset, length in (
            (TO_DPU, MRAM, 4, 8), (TO_DPU, MRAM, (64 << 20) - 8, 16), (TO_DPU, WRAM, 2, 4),
            (2, MRAM, 0, 8),
        ):  # fmt: skip
            host.ok(host.api.dpu_prepare_xfer(made, pointer(data)))
            assert push(one, direction, symbol, offset, length, flags) != 0
            assert len(_prepared()) == 1
            host.ok(host.api.dpu_prepare_xfer(other, None))
            host.ok(push(one, TO_DPU, MRAM, 0, 8, 0))  # copies nothing
            assert not cudla_sim.upmem.sets[0].dpus[0].mram[:8].any()
        host.ok(host.api.dpu_prepare_xfer(one, pointer(data)))
        missing = host.api.dpu_push_xfer(one, TO_DPU, b"missing", 0, 8, flags)
        assert missing == status("NO_PROGRAM_LOADED")
        assert len(_prepared()) == 1
        host.ok(host.api.dpu_prepare_xfer(one, None))


def test_the_program_of_a_set_is_that_of_its_first_dpu_with_one(host: Host, kernel: Kernel) -> None:
    api = host.api
    path = str(
        kernel("#include <defs.h>\n#include <stdint.h>\n__host uint64_t word; int main(void) {}")
    ).encode()
    data = np.full(1, 7, np.uint64)
    different = status("DIFFERENT_DPU_PROGRAMS")

    def answers(made: dpu_set_t) -> set[int]:
        found = ctypes.c_void_p()
        host.ok(api.dpu_prepare_xfer(made, None))
        host.ok(api.dpu_prepare_xfer(made, pointer(data)))
        return {
            api.dpu_get_common_program(ctypes.byref(made), ctypes.byref(found)),
            api.dpu_copy_to(made, b"word", 0, pointer(data), 8),
            api.dpu_broadcast_to(made, b"word", 0, pointer(data), 8, ASYNC),
            api.dpu_push_xfer(made, TO_DPU, b"word", 0, 8, 0),
        }

    with host.alloc(70) as made:
        assert answers(made) == {status("NO_PROGRAM_LOADED")}
        dpus = host.dpus(made)
        host.ok(api.dpu_load(dpus[0], path, None))
        assert answers(made) == {different}
    with host.alloc(70) as made:
        host.ok(api.dpu_load(host.ranks(made)[1], path, None))
        assert answers(made) == {0}
        assert answers(host.ranks(made)[0]) == {status("NO_PROGRAM_LOADED")}
        host.ok(api.dpu_sync(made))
        host.ok(api.dpu_load(host.dpus(made)[69], path, None))
        assert answers(made) == {different}
        host.ok(api.dpu_prepare_xfer(made, None))


@pytest.mark.parametrize("flags", [4, 4 | ASYNC])
def test_parallel_has_no_effect_for_broadcasts_and_one_dpu(host: Host, flags: int) -> None:
    """They may go to MRAM, and wait for what is queued."""
    api = host.api
    data = np.full(8, 9, np.uint8)
    order: list[str] = []

    @ctypes.CFUNCTYPE(ctypes.c_int, dpu_set_t, ctypes.c_uint32, ctypes.c_void_p)
    def look(part: dpu_set_t, _: int, __: int) -> int:
        seen = np.zeros(8, np.uint8)
        answer = api.dpu_copy_from_symbol(host.dpus(part)[0], MRAM, 0, pointer(seen), 8)
        order.append("before" if not seen.any() else "behind")
        return int(answer)

    function = ctypes.cast(look, ctypes.c_void_p)
    with host.alloc(2) as made:
        one = host.dpus(made)[0]
        for part in (made, one):
            host.ok(api.dpu_callback(made, function, None, 1))
            host.ok(api.dpu_broadcast_to_symbol(part, MRAM, 0, pointer(data), 8, flags))
            host.ok(api.dpu_callback(made, function, None, 1))
            host.ok(api.dpu_sync(made))
            host.ok(api.dpu_copy_to_symbol(made, MRAM, 0, pointer(np.zeros(8, np.uint8)), 8))
        host.ok(api.dpu_callback(made, function, None, 1))
        host.ok(api.dpu_prepare_xfer(one, pointer(data)))
        host.ok(api.dpu_push_xfer_symbol(one, TO_DPU, MRAM, 0, 8, flags))
        host.ok(api.dpu_callback(made, function, None, 1))
        host.ok(api.dpu_sync(made))
        host.ok(api.dpu_prepare_xfer(made, pointer(data)))
        refused = api.dpu_push_xfer_symbol(made, TO_DPU, MRAM, 0, 8, flags)
        assert refused == status("INVALID_PARALLEL_MEMORY_TRANSFER")
        refused = api.dpu_push_xfer_symbol(made, TO_DPU, MRAM, 4, 8, flags)
        assert refused == status("INVALID_PARALLEL_MEMORY_TRANSFER")
        host.ok(api.dpu_prepare_xfer(made, None))
    assert order == ["before", "behind"] * 3


def test_the_memory_of_an_access_is_that_of_address_plus_offset(host: Host) -> None:
    api = host.api
    data, out = np.arange(8, dtype=np.uint8), np.zeros(8, np.uint8)
    wide = dpu_symbol_t(0, 0xFFFF_FFFF)
    with host.alloc(1) as made:
        one, dpu = host.dpus(made)[0], cudla_sim.upmem.sets[0].dpus[0]
        host.ok(api.dpu_copy_to_symbol(made, wide, 0x0800_0040, pointer(data), 8))
        assert dpu.mram[0x40:0x48].tolist() == data.tolist()
        host.ok(api.dpu_copy_from_symbol(one, wide, 0x0800_0040, pointer(out), 8))
        assert (out == data).all()
        host.ok(api.dpu_prepare_xfer(made, pointer(data)))
        host.ok(api.dpu_push_xfer_symbol(made, TO_DPU, wide, 0x0800_0080, 8, 0))
        assert dpu.mram[0x80:0x88].tolist() == data.tolist()
        host.ok(api.dpu_prepare_xfer(made, pointer(data)))
        assert api.dpu_push_xfer_symbol(made, TO_DPU, wide, 0x0800_0080, 8, 4) == status(
            "INVALID_PARALLEL_MEMORY_TRANSFER"
        )
        host.ok(api.dpu_prepare_xfer(made, None))
        wram = status("INVALID_WRAM_ACCESS")
        assert api.dpu_copy_to_symbol(made, wide, 0x1_0000, pointer(data), 8) == wram
        above = dpu_symbol_t(MRAM.address, 0xFFFF_FFFF)  # no bit of MRAM in the sum
        assert api.dpu_copy_to_symbol(made, above, 0x0800_0000, pointer(data), 8) == wram
        mram = status("INVALID_MRAM_ACCESS")
        assert api.dpu_copy_to_symbol(made, above, 0x0400_0000, pointer(data), 8) == mram
        wrapped = dpu_symbol_t(0xFFFF_FFF8, 64)  # 32 bits
        host.ok(api.dpu_copy_to_symbol(made, wrapped, 16, pointer(data), 8))
        assert dpu.wram[8:16].tolist() == data.tolist()


def test_programs_say_their_real_path_and_who_uses_them(
    host: Host, kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = host.api
    path = kernel("int main(void) { return 0; }")
    (tmp_path / "link").symlink_to(path)
    monkeypatch.chdir(tmp_path)
    image = np.frombuffer(path.read_bytes(), np.uint8)
    made_of = ctypes.POINTER(dpu_program_t)

    def at(found: ctypes.c_void_p) -> dpu_program_t:
        return ctypes.cast(found, made_of).contents

    def text(program: dpu_program_t) -> bytes | None:
        where = program.program_path
        return where if isinstance(where, bytes) or where is None else ctypes.string_at(where)

    first, second, third = (ctypes.c_void_p() for _ in range(3))
    with host.alloc(70) as made:
        host.ok(api.dpu_load(made, b"./link", ctypes.byref(first)))
        assert text(at(first)) == str(path.resolve()).encode()
        assert at(first).reference_count == 70
        rank = host.ranks(made)[1]
        count = host.count(rank)
        host.ok(api.dpu_load_from_memory(rank, pointer(image), image.size, ctypes.byref(second)))
        assert not text(at(second))
        assert (at(first).reference_count, at(second).reference_count) == (70 - count, count)
        one = host.dpus(made)[0]
        name = ctypes.create_string_buffer(b"given/name")
        incbin = dpu_incbin_t(pointer(image), image.size, ctypes.addressof(name))
        host.ok(api.dpu_load_from_incbin(one, ctypes.byref(incbin), None))
        assert at(first).reference_count == 69 - count
        third.value = api.dpu_get_program(one.dpu)
        assert (text(at(third)), at(third).reference_count) == (b"given/name", 1)
