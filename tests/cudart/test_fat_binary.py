"""Fat binaries as ``fatbinary`` writes them, put together here: read back, or refused."""

from __future__ import annotations

import struct
from contextlib import suppress

import lz4.block
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from cudla_sim.cudart import fat_binary

_PACKED = {
    0x11: lambda data: data,
    0x2011: lambda data: lz4.block.compress(data, store_size=False),
    0x8011: lambda data: zstandard.ZstdCompressor().compress(data),
}
"""How an entry is stored, by its flags."""


def _entry(kind: int, architecture: int, data: bytes, flags: int) -> bytes:
    stored = _PACKED[flags](data)
    packed = len(stored) if flags != 0x11 else 0
    stored += bytes(-len(stored) % 8)
    head = struct.pack(
        "<HHIQIIHHIII", kind, 0x101, 64, len(stored), packed, 0, 5, 9, architecture, 0, 0
    )
    return head + struct.pack("<QQQ", flags, 0, len(data) if packed else 0) + stored


def _fat(*entries: bytes) -> bytes:
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


_TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=300)


@given(
    st.lists(st.tuples(st.integers(50, 121), _TEXTS, st.sampled_from(sorted(_PACKED))), max_size=4)
)
def test_what_was_stored_is_read(given_entries: list[tuple[int, str, int]]) -> None:
    data = _fat(
        *(_entry(1, arch, text.encode() + b"\0", flags) for arch, text, flags in given_entries)
    )
    assert fat_binary.size(data[:16]) == len(data)
    found = fat_binary.entries(data + b"what follows in memory")
    assert [(entry.architecture, entry.ptx) for entry in found] == [
        (arch, text) for arch, text, _ in given_entries
    ]


def test_a_cubin_has_no_ptx() -> None:
    data = _fat(_entry(2, 87, b"\x7fELF", 0x11), _entry(1, 87, b".version 8.0\0", 0x2011))
    assert [entry.ptx for entry in fat_binary.entries(data)] == [None, ".version 8.0"]


@given(st.data())
def test_damage_is_told(data: st.DataObject) -> None:
    whole = bytearray(
        _fat(_entry(1, 80, b"some PTX " * 20, 0x8011), _entry(1, 87, b"more of it " * 20, 0x2011))
    )
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    with suppress(fat_binary.Damaged):
        fat_binary.entries(bytes(whole))


def test_something_else() -> None:
    with pytest.raises(fat_binary.Damaged, match="begins with"):
        fat_binary.entries(bytes(64))
