"""Memory of the program that the DMA reaches without copies."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cudla_sim.cupva.memory import DeviceMemory

PAGE = mmap.PAGESIZE
Bytes = NDArray[np.uint8]


@pytest.fixture(scope="module")
def memory() -> Iterator[DeviceMemory]:
    made = DeviceMemory()
    yield made
    made.close()


def pages(count: int) -> Bytes:
    """Private memory that starts at a page."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    array = np.frombuffer(mmap.mmap(-1, count * PAGE, flags=flags), np.uint8)
    array[:] = np.arange(array.size) % 251
    return array


def address(array: Bytes) -> int:
    return int(array.__array_interface__["data"][0])


def device_view(memory: DeviceMemory, device: int, size: int) -> Bytes:
    """What a VPU sees."""
    at = memory.host_base + device - memory.device_base
    return np.frombuffer((ctypes.c_uint8 * size).from_address(at), np.uint8)


def test_whole_pages_are_the_same_memory(memory: DeviceMemory) -> None:
    array = pages(4)
    before = array.copy()
    device = memory.take_in(address(array), array.size)
    seen = device_view(memory, device, array.size)
    assert (seen == before).all()
    array[5000] = 200
    seen[9000] = 201
    assert (seen[5000], array[9000]) == (200, 201)
    assert memory._imports[device - memory.device_base].edges == []
    memory.free(device)
    seen[:] = 0
    before[5000], before[9000] = 200, 201
    assert (array == before).all(), "they are the program's own again"


@settings(max_examples=40, deadline=None)
@given(start=st.integers(0, 2 * PAGE), size=st.integers(1, 4 * PAGE))
def test_any_part_arrives_and_comes_back(memory: DeviceMemory, start: int, size: int) -> None:
    array = pages(6)
    expected = array.copy()
    part = array[start : start + size]
    device = memory.take_in(address(part), size)
    imported = memory._imports[device - memory.device_base]
    memory.copy_in([imported])
    seen = device_view(memory, device, size)
    assert (seen == part).all()
    seen[:] = 255 - seen
    memory.copy_out([imported])
    expected[start : start + size] = 255 - expected[start : start + size]
    assert (array == expected).all()
    assert memory.host_address(device) == address(part)
    memory.free(device)
    assert (array == expected).all()


def test_memory_that_went_before_its_import(memory: DeviceMemory) -> None:
    """What lies at its addresses later is not touched."""
    array = pages(2)
    at = address(array)
    device = memory.take_in(at, array.size)
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, *[ctypes.c_long] * 5]
    fixed = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x10
    assert libc.mmap(at, array.size, 3, fixed, -1, 0) == at
    array[:] = 9
    device_view(memory, device, array.size)[:] = 3
    memory.free(device)
    assert (array == 9).all()


def test_the_same_memory_twice(memory: DeviceMemory) -> None:
    """The second import finds shared pages, and copies."""
    array = pages(2)
    one = memory.take_in(address(array), array.size)
    two = memory.take_in(address(array), array.size)
    first, second = (memory._imports[d - memory.device_base] for d in (one, two))
    assert first.edges == []
    assert sum(size for _, _, size in second.edges) == array.size
    array[7] = 99
    memory.copy_in([second])
    assert device_view(memory, two, array.size)[7] == 99
    memory.free(one)
    array[7] = 98
    memory.copy_in([second])
    assert device_view(memory, two, array.size)[7] == 98
    memory.free(two)


def test_a_child_has_a_copy(memory: DeviceMemory) -> None:
    array = pages(2)
    device = memory.take_in(address(array), array.size)
    child = os.fork()
    if child == 0:
        array[:] = 1
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert array[2] == 2
    assert device_view(memory, device, array.size)[2] == 2
    memory.free(device)
