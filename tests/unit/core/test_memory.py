"""The address map against a plain list of ranges."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudla_sim.core.memory import AddressSpace, MemoryFault, address_of, anonymous, read_host

RANGES = st.lists(
    st.tuples(st.integers(1, 500), st.integers(1, 60), st.booleans()), min_size=1, max_size=30
)


@given(operations=RANGES, probes=st.lists(st.integers(0, 600), min_size=1, max_size=20))
def test_agrees_with_a_list_of_ranges(
    operations: list[tuple[int, int, bool]], probes: list[int]
) -> None:
    space, model = AddressSpace(), {}
    for base, size, remove in operations:
        clash = any(b < base + size and base < b + s for b, s in model)
        if remove and model:
            key = next(iter(model))
            space.unmap(model.pop(key))
            continue
        data = np.zeros(size, np.uint8)
        if clash:
            with pytest.raises(ValueError, match="overlaps"):
                space.map(base, size, name="x", data=data)
        else:
            model[base, size] = space.map(base, size, name="x", data=data)
    assert [(r.base, r.size) for r in space] == sorted(model)
    for probe in probes:
        expected = [r for (b, s), r in model.items() if b <= probe < b + s]
        assert space.find(probe) is (expected[0] if expected else None)


def test_views_share_memory_and_check_bounds() -> None:
    space = AddressSpace("test memory")
    region = space.allocate(4096, name="a")
    space.view(region.base + 16, 4, write=True)[:] = [1, 2, 3, 4]
    assert ctypes.string_at(region.base + 16, 4) == b"\1\2\3\4"
    for offset, size in ((4090, 7), (-1, 1), (4096, 1), (0, -1)):
        with pytest.raises(MemoryFault):
            space.view(region.base + offset, size)
    with pytest.raises(MemoryFault, match="1 bytes past the end of <a "):
        space.view(region.base + 4090, 7)


def test_read_only_regions() -> None:
    space = AddressSpace()
    space.map(64, 8, name="constants", data=np.zeros(8, np.uint8), writable=False)
    assert space.view(64, 8).sum() == 0
    with pytest.raises(MemoryFault, match="read-only"):
        space.view(64, 8, write=True)


def test_nearest_ranges_are_named() -> None:
    space = AddressSpace("the map")
    assert "it has none" in space.explain(5, 1)
    space.map(100, 10, name="low", data=np.zeros(10, np.uint8))
    space.map(200, 10, name="high", data=np.zeros(10, np.uint8))
    text = space.explain(150, 4)
    assert "ends 40 bytes below" in text
    assert "begins 50 bytes above" in text


@pytest.mark.parametrize("align", [1, 64, 4096, 1 << 16, 1 << 21])
def test_anonymous_memory_is_aligned_and_zero(align: int) -> None:
    array = anonymous(1000, align)
    assert address_of(array) % align == 0
    assert not array.any()


def test_impossible_sizes_are_memory_errors() -> None:
    with pytest.raises(MemoryError):
        anonymous(1 << 62)


def test_reading_host_memory_never_crashes() -> None:
    data = np.arange(100, dtype=np.uint8)
    assert read_host(address_of(data), 100) == data.tobytes()
    for address, size in ((0, 1), (8, 8), ((1 << 64) - 16, 8), (1 << 70, 1)):
        with pytest.raises(MemoryFault, match="not readable"):
            read_host(address, size)
