"""What commands in a program's memory say, against the words that were put there."""

from __future__ import annotations

import ctypes
import mmap

from cudla_sim.native.compiled import pointer
from cudla_sim.native.said import Said

MARK = 0x1234_5678_0000_0000
FENCE_WORDS = 6


def _words(*values: int) -> ctypes.Array[ctypes.c_uint64]:
    return (ctypes.c_uint64 * len(values))(*values)


def _list(*commands: object) -> ctypes.Array[ctypes.c_uint64]:
    return _words(*(ctypes.addressof(c) if c is not None else 0 for c in commands))  # type: ignore[arg-type]


def test_words_of_commands_and_of_their_fences() -> None:
    fences = _words(*range(100, 100 + 2 * FENCE_WORDS))
    plain = _words(7, 8, 9)
    marked = _words(MARK | 0x102, ctypes.addressof(fences), 5)
    commands = _list(plain, marked)
    at = pointer(ctypes.addressof(commands))
    said = Said(at, 2, MARK)
    assert said.words == [7, 8, 9, *marked, 100, 100 + FENCE_WORDS]
    assert said.again(at, 2)
    assert not said.again(at, 1)
    fences[1] = 0  # a fence's value is told by submissions, and says nothing
    assert said.again(at, 2)
    fences[FENCE_WORDS] = 1
    assert not said.again(at, 2)
    fences[FENCE_WORDS] = 100 + FENCE_WORDS
    plain[2] += 1
    assert not said.again(at, 2)
    elsewhere = _list(plain, marked)
    assert Said(at, 2, MARK).again(pointer(ctypes.addressof(elsewhere)), 2)


def test_what_is_no_memory_says_nothing() -> None:
    gone = mmap.mmap(-1, mmap.PAGESIZE)
    place = ctypes.addressof(ctypes.c_char.from_buffer(gone))
    marked = _words(MARK | 0x101, place, 5)
    commands = _list(marked)
    at = pointer(ctypes.addressof(commands))
    said = Said(at, 1, MARK)
    assert said.words == [*marked, 0]
    marked[1] = 8
    assert not said.again(at, 1)
    assert Said(at, 1, MARK).words == []
    assert Said(pointer(0), 1, MARK).words == []
    none = _list(None)
    assert Said(pointer(ctypes.addressof(none)), 1, MARK).words == []
    many = _list(*[marked] * 30)
    assert Said(pointer(ctypes.addressof(many)), 30, MARK).words == []
