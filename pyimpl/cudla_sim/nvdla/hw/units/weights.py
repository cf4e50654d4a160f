"""Convolution weights: fetching, decompressing, unpacking.

Source: nvdla/hw ``cmod/csc/NV_NVDLA_csc.cpp``, ``cmod/cdma/NV_NVDLA_cdma.cpp``; nvdla hardware
manual "In-memory data formats".
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import HardwareFault
from ...facts.configs import HardwareConfig
from ...facts.precisions import element_size
from ..memory import DTYPES, Memory
from .conv_registers import Cdma


@dataclass(frozen=True, slots=True)
class WeightShape:
    """Kernels, rows, columns and channels of a weight surface, and its precision.

    ``lines`` rows lie together for each kernel (post-extension, image input only).
    """

    kernels: int
    rows: int
    columns: int
    channels: int
    precision: int
    lines: int = 1

    @property
    def size(self) -> int:
        """Bytes without padding."""
        return (
            self.kernels * self.rows * self.columns * self.channels * element_size(self.precision)
        )


def unpack_weights(
    raw: NDArray[np.uint8], shape: WeightShape, config: HardwareConfig, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return weights as [kernel, row, column, channel] of *dtype* (uint16: fp16 bit patterns).

    In memory they are ordered by kernel group, chunk of atomic-C channels, row, column, kernel,
    channel; the last group has fewer kernels, the last chunk fewer channels.
    """
    source = raw.view("<u2" if dtype == np.uint16 else DTYPES[shape.precision])
    group, chunk = config.kernel_group(shape.precision), config.atomic_c
    taps = shape.rows * shape.columns
    result = np.empty((shape.kernels, taps, shape.channels), dtype)
    per_kernel = taps * shape.channels
    full_groups = shape.kernels // group
    done = full_groups * group
    for first, groups, count in ((0, full_groups, group), (done, 1, shape.kernels - done)):
        if groups == 0 or count == 0:
            continue
        stop = first + groups * count
        part = source[first * per_kernel : stop * per_kernel].reshape(groups, count * per_kernel)
        target = result[first:stop].reshape(groups, count, taps, shape.channels)
        if shape.lines > 1:
            _unpack_extended(part, target, shape.lines)
            continue
        chunks = shape.channels // chunk
        split = chunks * chunk
        if chunks:
            view = part[:, : taps * count * split].reshape(groups, chunks, taps, count, chunk)
            target[..., :split].reshape(groups, count, taps, chunks, chunk)[...] = view.transpose(
                0, 3, 2, 1, 4
            )
        if split < shape.channels:
            rest = shape.channels - split
            view = part[:, taps * count * split :].reshape(groups, taps, count, rest)
            target[..., split:] = view.transpose(0, 2, 1, 3)
    return result.reshape(shape.kernels, shape.rows, shape.columns, shape.channels)


def _unpack_extended(part: NDArray[Any], target: NDArray[Any], lines: int) -> None:
    """Weights with post-extension: steps of *lines* rows, in a step kernel, row, channel."""
    groups, count, rows, channels = target.shape
    whole = rows - rows % lines
    size = count * channels
    if whole:
        view = part[:, : whole * size].reshape(groups, whole // lines, count, lines, channels)
        inner = target[:, :, :whole].reshape(groups, count, whole // lines, lines, channels)
        inner[...] = view.transpose(0, 2, 1, 3, 4)
    if whole < rows:
        view = part[:, whole * size :].reshape(groups, count, rows - whole, channels)
        target[:, :, whole:] = view


@dataclass(slots=True, weakref_slot=True)
class Entry:
    """Raw bytes, and what was made of them (*size* bytes in all)."""

    raw: NDArray[np.uint8]
    value: Any
    size: int


class Lasting(NamedTuple):
    """Weights as long as the bytes at a host address are those that they were made from."""

    host: int
    entry: weakref.ref[Entry]


class WeightCache:
    """Unpacked weights of recent layers, keyed by content, for all cores of a machine.

    An entry is used only if shape and every byte of weight memory are equal to what it was made
    from, so stale entries cannot be seen, and a network that is loaded again finds its own. Holds
    at most *limit* bytes.
    """

    _SAMPLES = 64

    def __init__(self, limit: int = 384 << 20) -> None:
        self.limit = limit
        self.used = 0
        self._entries: OrderedDict[Any, Entry] = OrderedDict()
        self._lock = threading.Lock()

    def _place(self, key: Any, raw: NDArray[np.uint8]) -> Any:
        """Where an entry for these bytes is kept. A few bytes tell most contents apart."""
        step = max(1, raw.size // self._SAMPLES)
        return key, raw.size, raw[::step].tobytes(), raw[-self._SAMPLES :].tobytes()

    def find(self, key: Any, raw: NDArray[np.uint8]) -> Entry | None:
        """Return what is stored for these bytes, or None."""
        place = self._place(key, raw)
        with self._lock:
            entry = self._entries.get(place)
            if entry is not None:
                self._entries.move_to_end(place)
        if entry is None or not np.array_equal(entry.raw, raw):
            return None
        return entry

    def store(self, key: Any, raw: NDArray[np.uint8], value: Any, size: int) -> Entry:
        """Keep *value* (of *size* bytes), made from *raw*; return the entry."""
        place, entry = self._place(key, raw), Entry(raw.copy(), value, size + raw.nbytes)
        with self._lock:
            old = self._entries.pop(place, None)
            if old is not None:
                self.used -= old.size
            if entry.size > self.limit:
                return entry
            self._entries[place] = entry
            self.used += entry.size
            while self.used > self.limit:
                _, dropped = self._entries.popitem(last=False)
                self.used -= dropped.size
        return entry


def fetch_weights(
    p: Cdma, shape: WeightShape, config: HardwareConfig, memory: Memory
) -> NDArray[np.uint8]:
    """Return the bytes of a weight surface, decompressed if need be."""
    if p.compressed:
        return _decompressed(p, shape, memory)
    group = config.kernel_group(shape.precision)
    slack = min(group * shape.size // shape.kernels, shape.size) + 128
    return memory.read_padded("CDMA weights", p.weight_address, shape.size, slack)


def _decompressed(p: Cdma, shape: WeightShape, memory: Memory) -> NDArray[np.uint8]:
    """Insert the zeros that compressed weights leave out.

    A mask has one bit for each element (bit 0 of a byte first); elements whose bit is 1 follow one
    another in the weight surface. Neither is aligned at the borders of kernel groups.
    """
    item = element_size(shape.precision)
    elements = shape.size // item
    mask_bytes = -(-elements // 8)
    if p.mask_bytes < mask_bytes:
        raise HardwareFault(
            "CDMA", f"WMB_BYTES is {p.mask_bytes}, {elements} elements need {mask_bytes}"
        )
    bits = memory.view("CDMA weight mask", p.mask_address, mask_bytes)
    present = np.unpackbits(bits, count=elements, bitorder="little").view(bool)
    size = int(np.count_nonzero(present)) * item
    if size > p.weight_bytes:
        raise HardwareFault(
            "CDMA", f"the weight mask asks for {size} bytes, WEIGHT_BYTES is {p.weight_bytes}"
        )
    result = np.zeros((elements, item), np.uint8)
    if size:
        packed = memory.read_padded("CDMA weights", p.weight_address, size, 128)
        result[present] = packed.reshape(-1, item)
    return result.reshape(-1)
