"""Copies and fills: the bytes, the directions, the bounds."""

from __future__ import annotations

import ctypes
import mmap
import platform
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .conftest import D2D, D2H, DEFAULT, H2D, H2H, Cuda

UNMAPPED = 0x10


def host(data: bytes) -> tuple[Any, int]:
    """Memory of the program: the object that keeps it, and its address."""
    buffer = ctypes.create_string_buffer(data, len(data))
    return buffer, ctypes.addressof(buffer)


def test_there_and_back_again(cuda: Cuda) -> None:
    source, source_at = host(bytes(range(256)))
    result, result_at = host(bytes(256))
    first, second = cuda.malloc(256), cuda.malloc(256)
    cuda.ok.cudaMemcpy(first, source_at, 256, H2D)
    cuda.ok.cudaMemcpy(second, first, 256, D2D)
    cuda.ok.cudaMemcpy(result_at, second, 256, D2H)
    assert result.raw == source.raw
    cuda.ok.cudaMemcpy(result_at, source_at + 16, 16, H2H)
    assert result.raw[:16] == source.raw[16:32]
    cuda.ok.cudaMemcpy(first, result_at, 16, DEFAULT)
    assert cuda.bytes_at(first, 16) == source.raw[16:32]


@pytest.mark.parametrize("kind", [-1, 5, 1000])
def test_an_unknown_kind_is_an_invalid_direction(cuda: Cuda, kind: int) -> None:
    address = cuda.malloc(16)
    cuda.fails("cudaErrorInvalidMemcpyDirection", "cudaMemcpy", address, address, 8, kind)


def test_a_direction_that_contradicts_the_addresses_is_refused(cuda: Cuda) -> None:
    device = cuda.malloc(16)
    keep, own = host(bytes(16))
    for dst, src, kind, word in (
        (own, device, H2D, "dst"),
        (device, own, D2H, "dst"),
        (own, device, H2H, "src"),
        (device, own, D2D, "src"),
        (device, device, H2D, "src"),
    ):
        text = cuda.fails("cudaErrorInvalidValue", "cudaMemcpy", dst, src, 16, kind)
        assert f": {word} (" in text
    del keep


def test_page_locked_and_managed_memory_are_on_both_sides(cuda: Cuda) -> None:
    for shared in (cuda.pinned(16), cuda.managed(16)):
        for kind in (H2H, H2D, D2H, D2D, DEFAULT):
            cuda.ok.cudaMemcpy(shared, shared, 16, kind)


def test_past_the_end_names_the_range(cuda: Cuda) -> None:
    device = cuda.malloc(16)
    keep, own = host(bytes(64))
    text = cuda.fails("cudaErrorInvalidValue", "cudaMemcpy", device, own, 17, H2D)
    assert "runs 1 bytes past the end" in text
    assert "device memory" in text
    cuda.fails("cudaErrorInvalidValue", "cudaMemcpy", own, device + 8, 9, D2H)
    cuda.fails("cudaErrorInvalidValue", "cudaMemset", device + 15, 0, 2)
    cuda.fails("cudaErrorInvalidValue", "cudaMemsetAsync", device, 0, 17, None)
    assert keep.raw == bytes(64)


def test_bad_addresses_are_errors_and_no_crash(cuda: Cuda) -> None:
    device = cuda.malloc(16)
    for src in (0, UNMAPPED, 0xDEADBEEF000, (1 << 64) - 64):
        cuda.fails("cudaErrorInvalidValue", "cudaMemcpy", device, src, 16, H2D)
        cuda.fails("cudaErrorInvalidValue", "cudaMemcpyAsync", src, device, 16, D2H, None)
    cuda.fails("cudaErrorInvalidValue", "cudaMemset", UNMAPPED, 0, 16)
    cuda.fails("cudaErrorInvalidValue", "cudaMemset", None, 0, 16)


def test_read_only_memory_of_the_program_is_not_written(cuda: Cuda) -> None:
    device, pages = cuda.malloc(16), mmap.mmap(-1, 4096)
    address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    libc = ctypes.CDLL(None)
    libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    assert libc.mprotect(address, 4096, mmap.PROT_READ) == 0
    cuda.ok.cudaMemcpy(device, address, 16, H2D)
    if tuple(map(int, platform.release().split(".")[:2])) >= (5, 14):
        text = cuda.fails("cudaErrorInvalidValue", "cudaMemcpy", address, device, 16, D2H)
        assert "may write to" in text
        assert libc.mprotect(address, 4096, 0) == 0
        cuda.fails("cudaErrorInvalidValue", "cudaMemcpy", device, address, 16, H2D)
    libc.mprotect(address, 4096, mmap.PROT_READ | mmap.PROT_WRITE)


def test_freed_memory_is_no_longer_copied(cuda: Cuda) -> None:
    device, other = cuda.malloc(16), cuda.malloc(16)
    cuda.ok.cudaFree(device)
    cuda.fails("cudaErrorInvalidValue", "cudaMemcpy", other, device, 16, D2D)


def test_nothing_to_copy_is_fine_whatever_the_addresses(cuda: Cuda) -> None:
    cuda.ok.cudaMemcpy(None, None, 0, H2D)
    cuda.ok.cudaMemcpyAsync(UNMAPPED, UNMAPPED, 0, H2D, None)
    cuda.ok.cudaMemset(UNMAPPED, 1, 0)
    cuda.ok.cudaMemcpy2D(None, 8, None, 8, 0, 5, H2D)


def test_a_size_beyond_any_memory_is_refused(cuda: Cuda) -> None:
    device = cuda.malloc(16)
    keep, own = host(bytes(16))
    cuda.fails("cudaErrorInvalidValue", "cudaMemcpy", device, own, (1 << 64) - 1, H2D)
    cuda.fails("cudaErrorInvalidValue", "cudaMemcpy2D", device, 1 << 40, own, 8, 8, 1 << 40, H2D)
    del keep


def test_fill_takes_the_low_byte(cuda: Cuda) -> None:
    device = cuda.malloc(32)
    cuda.ok.cudaMemset(device, 0x1FF, 16)
    cuda.ok.cudaMemsetAsync(device + 16, -2, 8, None)
    cuda.ok.cudaDeviceSynchronize()
    assert cuda.bytes_at(device, 32) == b"\xff" * 16 + b"\xfe" * 8 + bytes(8)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    width=st.integers(1, 40),
    height=st.integers(1, 6),
    dst_slack=st.integers(0, 9),
    src_slack=st.integers(0, 9),
    later=st.booleans(),
)
def test_2d_copies_equal_numpy(
    cuda: Cuda, width: int, height: int, dst_slack: int, src_slack: int, later: bool
) -> None:
    dst_pitch, src_pitch = width + dst_slack, width + src_slack
    picture = np.arange(height * src_pitch, dtype=np.uint8).reshape(height, src_pitch)
    device = cuda.malloc(height * dst_pitch)
    arguments = (device, dst_pitch, picture.ctypes.data, src_pitch, width, height, H2D)
    if later:
        cuda.ok.cudaMemcpy2DAsync(*arguments, None)
        cuda.ok.cudaStreamSynchronize(None)
    else:
        cuda.ok.cudaMemcpy2D(*arguments)
    found = np.frombuffer(cuda.bytes_at(device, height * dst_pitch), np.uint8)
    expected = np.zeros((height, dst_pitch), np.uint8)
    expected[:, :width] = picture[:, :width]
    assert (found.reshape(height, dst_pitch) == expected).all()
    cuda.ok.cudaMemset2D(device, dst_pitch, 9, width, height)
    expected[:, :width] = 9
    found = np.frombuffer(cuda.bytes_at(device, height * dst_pitch), np.uint8)
    assert (found.reshape(height, dst_pitch) == expected).all()
    cuda.ok.cudaFree(device)


def test_a_pitched_copy_ends_with_its_last_row(cuda: Cuda) -> None:
    """What follows the last row belongs to the pitch, not to the copy."""
    width, pitch, height = 12, 20, 5
    keep, own = host(bytes(range(height * width)))
    span = (height - 1) * pitch + width
    whole, short = cuda.malloc(span), cuda.malloc(span - 1)
    cuda.ok.cudaMemcpy2D(whole, pitch, own, width, width, height, H2D)
    assert cuda.bytes_at(whole + span - width, width) == keep.raw[-width:]
    text = cuda.fails(
        "cudaErrorInvalidValue", "cudaMemcpy2D", short, pitch, own, width, width, height, H2D
    )
    assert "dst" in text


def test_a_row_wider_than_its_pitch_is_an_invalid_pitch(cuda: Cuda) -> None:
    device = cuda.malloc(64)
    cuda.fails("cudaErrorInvalidPitchValue", "cudaMemcpy2D", device, 7, device, 8, 8, 2, D2D)
    cuda.fails("cudaErrorInvalidPitchValue", "cudaMemset2D", device, 7, 0, 8, 2)


def test_a_pageable_source_may_be_reused_once_the_async_copy_returned(
    cuda: Cuda, gates: Any
) -> None:
    stream = cuda.stream(1)
    gate = gates(stream)
    source, source_at = host(b"first..." * 4)
    device = cuda.malloc(32)
    cuda.ok.cudaMemcpyAsync(device, source_at, 32, H2D, stream)
    ctypes.memset(source_at, 0, 32)
    gate.open()
    cuda.ok.cudaStreamSynchronize(stream)
    assert cuda.bytes_at(device, 32) == b"first..." * 4
    del source


def test_a_pinned_source_is_read_when_its_turn_comes(cuda: Cuda, gates: Any) -> None:
    stream = cuda.stream(1)
    gate = gates(stream)
    source, device = cuda.pinned(8), cuda.malloc(8)
    ctypes.memmove(source, b"too soon", 8)
    cuda.ok.cudaMemcpyAsync(device, source, 8, H2D, stream)
    ctypes.memmove(source, b"in order", 8)
    gate.open()
    cuda.ok.cudaStreamSynchronize(stream)
    assert cuda.bytes_at(device, 8) == b"in order"


def test_an_async_copy_to_pageable_memory_is_done_on_return(cuda: Cuda) -> None:
    stream = cuda.stream(1)
    device = cuda.malloc(8)
    result, result_at = host(bytes(8))
    cuda.ok.cudaMemsetAsync(device, 7, 8, stream)
    cuda.ok.cudaMemcpyAsync(result_at, device, 8, D2H, stream)
    assert result.raw == b"\x07" * 8
