"""Works off descriptors without a VPU, for programs that only move data.

The same walk as shim/vpu_run/dma.c, in numpy: a tile is one strided copy where nothing wraps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
_PAD_BPE = 2


def run_transfers(descriptors: NDArray[np.void], memories: Sequence[Bytes | None]) -> None:
    """Moves everything, tile after tile. ``memories``: DRAM, VMEM, L2SRAM as bytes.

    Raises ValueError when a descriptor leaves its memory, or needs one that is not given.
    """
    for d in descriptors:
        if d["tx"] == 0:
            continue
        for number in range(int(d["tiles"])):
            _move(d, number, memories)


def _offset(side: Any, number: int) -> int:
    at = int(side["at"])
    for n, adv in zip(side["n"].tolist(), side["adv"].tolist(), strict=True):
        number, index = divmod(number, n)
        at += index * adv
    return at


def _addresses(side: Any, start: int, rows: int, row_bytes: int) -> NDArray[np.int64]:
    """The wrapped address of each byte of a tile."""
    found = start + np.arange(rows)[:, None] * int(side["pitch"]) + np.arange(row_bytes)[None, :]
    if side["ring_size"]:
        found = (found - int(side["ring"])) % int(side["ring_size"]) + int(side["ring"])
    return found


def _window(memory: Bytes, side: Any, start: int, rows: int, row_bytes: int) -> Bytes:
    """A tile as a view. Raises ValueError outside the memory."""
    pitch = int(side["pitch"])
    end = start + pitch * (rows - 1) + row_bytes
    if start < 0 or end > memory.size or pitch < 0:
        raise ValueError(f"bytes {start} to {end} of a memory of {memory.size}")
    part = memory[start:end]
    return np.lib.stride_tricks.as_strided(part, (rows, row_bytes), (pitch, 1))


def _memory(side: Any, memories: Sequence[Bytes | None]) -> Bytes:
    memory = memories[int(side["space"])]
    if memory is None:
        raise ValueError("a transfer to or from VMEM in a program without an executable")
    return memory


def _checked(memory: Bytes, addresses: NDArray[np.int64]) -> NDArray[np.int64]:
    if addresses.min() < 0 or addresses.max() >= memory.size:
        raise ValueError(f"address {addresses.max():#x} in a memory of {memory.size:#x} bytes")
    return addresses


def _move(d: Any, number: int, memories: Sequence[Bytes | None]) -> None:
    bpp = int(d["bpp"])
    pad = [int(d[name]) for name in ("top", "bottom", "left", "right")]
    rows, columns = int(d["ty"]) - pad[0] - pad[1], int(d["tx"]) - pad[2] - pad[3]
    tile = _read(d["src"], number, rows, columns * bpp, _memory(d["src"], memories))
    if any(pad):
        tile = _padded(tile.reshape(rows, columns, bpp), pad, d)
    target = _memory(d["dst"], memories)
    starts = [_offset(d["dst"], number)]
    if d["copy_at"] >= 0:
        starts.append(starts[0] - int(d["dst"]["at"]) + int(d["copy_at"]))
    for start in starts:
        if d["dst"]["ring_size"]:
            target[_checked(target, _addresses(d["dst"], start, *tile.shape))] = tile
        else:
            _window(target, d["dst"], start, *tile.shape)[:] = tile


def _read(side: Any, number: int, rows: int, row_bytes: int, memory: Bytes) -> Bytes:
    start = _offset(side, number)
    if side["ring_size"]:
        return memory[_checked(memory, _addresses(side, start, rows, row_bytes))]
    return np.ascontiguousarray(_window(memory, side, start, rows, row_bytes))


def _padded(tile: Bytes, pad: list[int], d: Any) -> Bytes:
    width = ((pad[0], pad[1]), (pad[2], pad[3]), (0, 0))
    if d["pad_mode"] == _PAD_BPE:
        result = np.pad(tile, width, mode="edge")
    else:
        result = np.pad(tile, width)
        pixel = np.frombuffer(int(d["pad_value"]).to_bytes(8, "little", signed=True), np.uint8)
        made_up = np.ones(result.shape[:2], bool)
        made_up[pad[0] : pad[0] + tile.shape[0], pad[2] : pad[2] + tile.shape[1]] = False
        result[made_up] = pixel[: tile.shape[2]]
    return result.reshape(result.shape[0], -1)
