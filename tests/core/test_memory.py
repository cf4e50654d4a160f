"""The address map against a plain list of ranges."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudla_sim.core.memory import AddressSpace, MemoryFault, address_of, read_host
from cudla_sim.core.pages import Zeros, anonymous


@pytest.mark.parametrize("align", [4096, 1 << 16, 1 << 21])
def test_pages_are_aligned(align: int) -> None:
    pages = Zeros(5000, align)
    assert pages.base % align == 0
    assert pages.base == address_of(pages.array())
    assert len(pages.array()) == 5000


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


def protection(address: int) -> str | None:
    """What /proc/self/maps says of an address: None if it is free."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            span, mode, *_ = line.split(maxsplit=2)
            first, last = (int(part, 16) for part in span.split("-"))
            if first <= address < last:
                return mode
    return None


def test_freed_addresses_stay_taken_without_access() -> None:
    space = AddressSpace()
    region = space.allocate(1 << 20, name="buffer")
    region.data[:] = 7
    base = region.base
    view = region.data[4096:8192]
    space.unmap(region)
    del region
    assert protection(base) == "rw-p"  # work that is under way still holds it
    assert view.max() == 7
    del view
    assert protection(base) == "---p"
    taken = [anonymous(1 << 20) for _ in range(20)]
    assert all(not base <= address_of(t) < base + (1 << 20) for t in taken)


def test_only_so_many_freed_ranges_are_kept() -> None:
    first = address_of(anonymous(4096))
    assert protection(first) == "---p"
    for _ in range(5000):
        anonymous(4096)
    with open("/proc/self/maps") as maps:
        empty = sum(line.split()[1] == "---p" for line in maps)
    assert empty < 2000


def test_a_very_large_range_is_given_back() -> None:
    huge = anonymous(1 << 40, reserve=False)
    base = address_of(huge)
    del huge
    assert protection(base) is None
