"""Convolution weights: fetching, decompressing, unpacking.

Source: nvdla/hw ``cmod/csc/NV_NVDLA_csc.cpp``, ``cmod/cdma/NV_NVDLA_cdma.cpp``; nvdla hardware
manual "In-memory data formats".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ....errors import HardwareFault
from ....facts.configs import HardwareConfig
from ....facts.precisions import element_size
from ...memory import DTYPES, Memory
from .registers import Cdma


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


@dataclass
class Entry:
    """Raw bytes, and what was made of them (*size* bytes in all)."""

    raw: NDArray[np.uint8]
    value: Any
    size: int


class Arranged(Protocol):
    """Who keeps what was made of weights, by *key* (what it was made for) and the raw bytes."""

    def find(self, key: Any, raw: NDArray[np.uint8], /) -> Entry | None:
        """Return what is stored for these bytes, or None."""

    def store(self, key: Any, raw: NDArray[np.uint8], value: Any, size: int, /) -> Entry:
        """Keep *value* (of *size* bytes), made from *raw*; return the entry."""


class Fresh:
    """Keeps nothing."""

    def find(self, key: Any, raw: NDArray[np.uint8]) -> Entry | None:
        """There is none."""
        return None

    def store(self, key: Any, raw: NDArray[np.uint8], value: Any, size: int) -> Entry:
        """Return an entry."""
        return Entry(raw.copy(), value, size + raw.nbytes)


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
