"""Layerwise statistics: what a statistics buffer holds, and its translation to CSV.

The layout of the buffer is ours (the real one is private to the firmware): a head of 32 bytes and
a record of 80 bytes a layer, little endian. Times are nanoseconds of this machine, or cycles of the
hardware (setting time). The CSV has the form of the DLA software releases:
``layer_name,start_ms,end_ms`` and rows like ``'conv_0 + sdp_1',0.004556,0.708967``.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

from ..constants.cudla import cudlaStatus as Status
from ..core.memory import Bytes
from .errors import CudlaError

_HEAD = struct.Struct("<4sIIIQQ")  # magic, version, layers, 1: cycles, task begin, task end
_RECORD = struct.Struct("<QQ64s")  # begin and end since the task began, name
_MAGIC = b"DLST"
_VERSION = 1


class LayerTime(NamedTuple):
    """One hardware layer: its name, and when it ran (nanoseconds of the engine's clock, or
    cycles)."""

    name: str
    begin: int
    end: int


def size_bytes(layers: int) -> int:
    """How large a buffer for so many layers is."""
    return -(-(_HEAD.size + layers * _RECORD.size) // 64) * 64


def write(buffer: Bytes, layers: Sequence[LayerTime], cycles: bool) -> None:
    """Fills a statistics buffer (uint8) with as many layers as fit."""
    begin = layers[0].begin if layers else 0
    end = layers[-1].end if layers else 0
    fitting = layers[: (len(buffer) - _HEAD.size) // _RECORD.size]
    packed = bytearray(_HEAD.pack(_MAGIC, _VERSION, len(fitting), cycles, begin, end))
    for layer in fitting:
        name = layer.name.encode()[:64]
        packed += _RECORD.pack(layer.begin - begin, layer.end - begin, name)
    buffer[: len(packed)] = bytearray(packed)


def head_size() -> int:
    return _HEAD.size


def read_size(head: bytes) -> int:
    """How many bytes the statistics behind this head take.

    Raises CudlaError (Umd) when the bytes are no statistics.
    """
    magic, version, layers, _, _, _ = _HEAD.unpack(head)
    if magic != _MAGIC or version != _VERSION or layers > 1 << 16:
        raise CudlaError(
            Status.cudlaErrorUmd,
            f"input begins with {magic!r}: it is no statistics buffer that a task has filled "
            "(submit with the statistics buffer after the outputs, and wait for the task)",
        )
    return int(_HEAD.size + layers * _RECORD.size)


def to_csv(data: bytes, frequency_mhz: int) -> str:
    """The CSV text. ``data`` is a whole statistics buffer, checked by ``read_size``; the frequency
    counts where it holds cycles."""
    _, _, layers, cycles, _, _ = _HEAD.unpack_from(data)
    per_ms = frequency_mhz * 1e3 if cycles else 1e6
    lines = ["layer_name,start_ms,end_ms"]
    for index in range(layers):
        begin, end, name = _RECORD.unpack_from(data, _HEAD.size + index * _RECORD.size)
        text = name.rstrip(b"\0").decode(errors="replace")
        lines.append(f"'{text}',{begin / per_ms:.6f},{end / per_ms:.6f}")
    return "\n".join(lines) + "\n"
