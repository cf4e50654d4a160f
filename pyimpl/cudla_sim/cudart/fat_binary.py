"""NVIDIA's fat binaries: several codes of a program's kernels, for several GPUs.

The layout is not documented; it is that of ``fatbinary`` and ``nvcc`` from CUDA 9 to 13: a head of
16 bytes, then entries that each have a head of their own.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

MAGIC = 0xBA55ED50
WRAPPER_MAGIC = 0x466243B1
"""Of ``__fatBinC_Wrapper_t``, which programs register."""
WRAPPER = struct.Struct("<IIQQ")
"""Magic, version (1; 2: of a link), address of the fat binary, and of a list of linked ones."""
LINKED = 2
"""The version of a wrapper that has such a list."""
HEAD = struct.Struct("<IHHQ")
_ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")
_PTX, _ELF = 1, 2
_LZ4, _ZSTD = 0x2000, 0x8000
_MOST_BYTES = 1 << 30
"""Of one entry: beyond it a length is damage."""


class Damaged(ValueError):
    """A fat binary that cannot be read; the text says why."""


@dataclass(frozen=True)
class Entry:
    """Code for the GPUs of one architecture, 87 for 8.7. *ptx* has none for a cubin."""

    architecture: int
    ptx: str | None


def size(head: bytes) -> int:
    """Bytes of the whole, by its first 16. Raises Damaged."""
    magic, _, begin, length = HEAD.unpack_from(head)
    if magic != MAGIC or begin < HEAD.size or length > _MOST_BYTES:
        raise Damaged(f"a fat binary begins with {head[:16].hex(' ')}")
    return int(begin + length)


def entries(data: bytes) -> list[Entry]:
    """Raises Damaged."""
    return list(_entries(data))


def _entries(data: bytes) -> Iterator[Entry]:
    end = min(size(data), len(data))
    at = HEAD.unpack_from(data)[2]
    while at + _ENTRY.size <= end:
        kind, _, head, stored, packed, _, _, _, arch, _, _, flags, _, whole = _ENTRY.unpack_from(
            data, at
        )
        begin = at + head
        if head < 16 or begin + stored > end:
            raise Damaged(f"the entry at {at} ends behind the {end} bytes of the fat binary")
        taken = data[begin : begin + (packed or stored)]
        if kind == _PTX:
            text = _unpacked(taken, flags, whole)
            yield Entry(arch, text.split(b"\0")[0].decode("utf-8", "replace"))
        elif kind == _ELF:
            yield Entry(arch, None)
        at = begin + stored


def _unpacked(data: bytes, flags: int, whole: int) -> bytes:
    if not flags & (_LZ4 | _ZSTD):
        return data
    if whole > _MOST_BYTES:
        raise Damaged(f"an entry has {whole} bytes")
    try:
        if flags & _ZSTD:
            import zstandard

            return bytes(zstandard.ZstdDecompressor().decompressobj().decompress(data))
        import lz4.block

        return bytes(lz4.block.decompress(data, uncompressed_size=whole))
    except ImportError as error:
        raise Damaged(f"it is compressed: pip install {error.name}") from None
    except Exception as error:  # each library has errors of its own
        raise Damaged(f"an entry does not unpack: {error}") from None
