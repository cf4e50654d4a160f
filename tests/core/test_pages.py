"""Which bytes are memory of the process, by both ways to find out."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudla_sim.core.pages import accessible
from cudla_sim.native.compiled import lib

PAGE = mmap.PAGESIZE
ANONYMOUS, FIXED = 0x22, 0x10
NONE, READ, WRITE, GONE = 0, 1, 3, -1
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = (
    *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long),
)
LIBC.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
LAYOUT = (GONE, READ, WRITE, WRITE, NONE, READ, READ, GONE, WRITE, GONE)
SIZE = len(LAYOUT) * PAGE
WAYS = {
    "populate": accessible,
    "table": lambda a, n, write: bool(lib.sim_accessible_by_table(a, n, write)),
}


@pytest.fixture(scope="module")
def base() -> Iterator[int]:
    """Pages of the kinds in LAYOUT, one behind the other, far from where the system puts others:
    they would fill the hole."""
    start = LIBC.mmap(0x3000_0000_0000, SIZE, NONE, ANONYMOUS, -1, 0)
    for number, kind in enumerate(LAYOUT):
        at = start + number * PAGE
        if kind == GONE:
            assert LIBC.munmap(at, PAGE) == 0
        else:
            assert LIBC.mmap(at, PAGE, kind, ANONYMOUS | FIXED, -1, 0) == at
    yield start
    LIBC.munmap(start, SIZE)


@pytest.mark.parametrize("way", WAYS)
@given(begin=st.integers(0, SIZE - 1), size=st.integers(0, 4 * PAGE), write=st.booleans())
def test_what_pages_allow(way: str, base: int, begin: int, size: int, write: bool) -> None:
    size = min(size, SIZE - begin)
    touched = LAYOUT[begin // PAGE : (begin + max(size, 1) - 1) // PAGE + 1]
    expected = all(kind in ((WRITE,) if write else (READ, WRITE)) for kind in touched)
    assert WAYS[way](base + begin, size, write=write) is expected


@pytest.mark.parametrize("way", WAYS)
def test_addresses_that_nobody_has(way: str) -> None:
    for address in (0x10, 0x2000_0000_0000, (1 << 63) - 2 * PAGE):
        assert not WAYS[way](address, 1, write=False)
    held = ctypes.create_string_buffer(3 * PAGE)
    assert WAYS[way](ctypes.addressof(held), len(held), write=True)
