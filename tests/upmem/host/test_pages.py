"""Large pages in MRAM: the same bytes, no more memory than a few times what is used."""

from __future__ import annotations

import ctypes
import mmap
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cudla_sim
from cudla_sim.constants.dpu_protocol import SLOT_END, SLOT_WRITTEN
from cudla_sim.upmem.machine import machine

from .hosting import FROM_DPU, MRAM, TO_DPU, Host, pointer, status
from .kernels import Kernel

MIB = 1 << 20
BLOCK = 2 * MIB

FILL = """
#include <mram.h>
#include <defs.h>
__host uint32_t start, words;
__dma_aligned uint64_t line[256];
int main(void) {
    for (uint32_t at = 0; at < words; at += 256) {
        for (uint32_t i = 0; i < 256; i++)
            line[i] = 3 * (uint64_t)(at + i) + 1;
        mram_write(line, (__mram_ptr void *)(start + 8 * at), sizeof(line));
    }
    return 0;
}
"""


def _used() -> int:
    """Bytes that the memories of all DPUs take."""
    return os.fstat(machine().memory.fd).st_blocks * 512


def _push(host: Host, made: object, direction: int, offset: int, rows: np.ndarray) -> None:
    for one, row in zip(host.dpus(made), rows, strict=True):  # type: ignore[arg-type]
        host.ok(host.api.dpu_prepare_xfer(one, pointer(row)))
    size = rows.shape[1]
    host.ok(host.api.dpu_push_xfer_symbol(made, direction, MRAM, offset, size, 0))


def _pieces() -> st.SearchStrategy[list[tuple[int, int]]]:
    words = st.tuples(st.integers(0, MIB - 1), st.integers(1, MIB // 2))
    return st.lists(words.map(lambda w: (8 * w[0], 8 * w[1])), min_size=1, max_size=6)


@given(pieces=_pieces(), seed=st.integers(0, 1000))
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_pushes_of_any_size_are_those_of_an_array(
    host: Host, pieces: list[tuple[int, int]], seed: int
) -> None:
    random = np.random.default_rng(seed)
    expected = np.zeros((2, 12 * MIB), np.uint8)
    with host.alloc(2) as made:
        for offset, size in pieces:
            rows = random.integers(0, 256, (2, size), np.uint8)
            expected[:, offset : offset + size] = rows
            _push(host, made, TO_DPU, offset, rows)
        back = np.ones_like(expected)
        _push(host, made, FROM_DPU, 0, back)
        assert (back == expected).all()


@given(
    pieces=st.lists(
        st.tuples(st.integers(0, 600), st.integers(1, 300)).map(lambda w: (8 * w[0], 8 * w[1])),
        min_size=1,
        max_size=12,
    )
)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_what_was_written_is_known_word_by_word(host: Host, pieces: list[tuple[int, int]]) -> None:
    """Pieces overlap here: what was written before is copied without looking for its pages."""
    bits, expected = np.zeros(1024, bool), np.zeros(8192, np.uint8)
    with host.alloc(1) as made:
        (slot,) = [dpu.slot for dpu in cudla_sim.upmem.sets[0].dpus]
        for number, (offset, size) in enumerate(pieces, 1):
            _push(host, made, TO_DPU, offset, np.full((1, size), number, np.uint8))
            expected[offset : offset + size] = number
            bits[offset // 8 : (offset + size) // 8] = True
        kept = os.pread(machine().memory.fd, 128, slot * SLOT_END + SLOT_WRITTEN)
        assert (np.unpackbits(np.frombuffer(kept, np.uint8), bitorder="little") == bits).all()
        back = np.ones((1, 8192), np.uint8)
        _push(host, made, FROM_DPU, 0, back)
        assert (back == expected).all()


def test_memory_of_a_freed_set_reads_as_zero(host: Host) -> None:
    with host.alloc(2) as made:
        _push(host, made, TO_DPU, 0, np.full((2, 5 * MIB), 7, np.uint8))
    with host.alloc(2) as made:
        back = np.ones((2, 6 * MIB), np.uint8)
        _push(host, made, FROM_DPU, 0, back)
        assert not back.any()


def test_the_same_few_bytes_take_no_large_page(host: Host) -> None:
    with host.alloc(4) as made:
        before = _used()
        for _ in range(40):
            _push(host, made, TO_DPU, 0, np.ones((4, 64 << 10), np.uint8))
        assert _used() - before < 4 * (128 << 10)


def test_small_pushes_that_fill_a_block_are_kept(host: Host) -> None:
    data = np.random.default_rng(3).integers(0, 256, (2, 3 * MIB), np.uint8)
    step = 8 << 10
    with host.alloc(2) as made:
        before = _used()
        for offset in range(0, 3 * MIB, step):
            part = np.ascontiguousarray(data[:, offset : offset + step])
            _push(host, made, TO_DPU, offset, part)
        back = np.zeros_like(data)
        _push(host, made, FROM_DPU, 0, back)
        assert (back == data).all()
        assert _used() - before < 2 * (4 * MIB + (256 << 10))


@pytest.mark.parametrize("megabytes", [1, 5])
def test_what_a_kernel_writes(host: Host, kernel: Kernel, megabytes: int) -> None:
    program = kernel(FILL)
    words = megabytes * MIB // 8
    with host.alloc(3) as made:
        host.ok(host.api.dpu_load(made, str(program).encode(), None))
        before = _used()
        for name, value in ((b"start", MIB), (b"words", words)):
            number = np.array([value], np.uint32)
            host.ok(host.api.dpu_copy_to(made, name, 0, pointer(number), 4))
        for _ in range(2):
            host.ok(host.api.dpu_launch(made, 1))
        expected = 3 * np.arange(words, dtype=np.uint64) + 1
        for dpu in cudla_sim.upmem.sets[0].dpus:
            assert (dpu.mram[MIB : MIB + 8 * words].view(np.uint64) == expected).all()
            assert not dpu.mram[:MIB].any()
            assert not dpu.mram[MIB + 8 * words : 8 * MIB].any()
        assert _used() - before < 3 * (9 * MIB)


def _protect(address: int, size: int, protection: int) -> None:
    libc = ctypes.CDLL(None)
    assert libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), protection) == 0


@pytest.mark.parametrize(
    ("protection", "direction"), [(0, TO_DPU), (0, FROM_DPU), (mmap.PROT_READ, FROM_DPU)]
)
def test_a_large_buffer_with_a_hole_is_refused(host: Host, protection: int, direction: int) -> None:
    room = mmap.mmap(-1, 4 * MIB)
    address = ctypes.addressof(ctypes.c_char.from_buffer(room))
    _protect(address + 2 * MIB, MIB, protection)
    with host.alloc(1) as made:
        one = host.dpus(made)[0]
        host.ok(host.api.dpu_prepare_xfer(one, ctypes.c_void_p(address)))
        answer = host.api.dpu_push_xfer_symbol(made, direction, MRAM, 0, 4 * MIB, 0)
        assert answer == status("INVALID_MEMORY_TRANSFER")
        host.api.dpu_prepare_xfer(made, None)
        host.ok(host.api.dpu_prepare_xfer(one, ctypes.c_void_p(address)))
        host.ok(host.api.dpu_push_xfer_symbol(made, direction, MRAM, 0, 2 * MIB, 0))
    _protect(address, 4 * MIB, mmap.PROT_READ | mmap.PROT_WRITE)


def test_a_mapping_longer_than_its_file_is_refused(host: Host) -> None:
    fd = os.memfd_create("short")
    os.ftruncate(fd, 2 * MIB)
    room = mmap.mmap(fd, 2 * MIB)
    address = ctypes.addressof(ctypes.c_char.from_buffer(room))
    os.ftruncate(fd, MIB)
    with host.alloc(1) as made:
        host.ok(host.api.dpu_prepare_xfer(host.dpus(made)[0], ctypes.c_void_p(address)))
        answer = host.api.dpu_push_xfer_symbol(made, TO_DPU, MRAM, 0, 2 * MIB, 0)
        assert answer == status("INVALID_MEMORY_TRANSFER")
    os.close(fd)
