"""CMAC and CACC in fp16: block floating-point steps, 40-bit accumulators, exact to the bit.

A step multiplies up to 64 pairs. With e the exponent field, a mantissa is shifted left by e mod 4,
which leaves a scale of e div 4; every product is shifted right to the largest scale among the
pairs, and the products are added. The multiplier is a Booth array that leaves two rows; they are
shifted one by one, so a shifted product may be one less than the quotient. The accumulator adds
the steps in order, rounds to 40 bits each time, and delivers FP32.

:func:`run` computes with the compiled kernel (``native.fp16``); ``reference.fp16`` is the same in
numpy, step by step, and what it is tested against.
Source: nvdla/hw ``cmod/cmac/NV_NVDLA_cmac.h``, ``cmod/cacc/NV_NVDLA_cacc.cpp``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .....native.fp16 import Fp16Mac
from ...floats import is_nan_half

LANES = 16
"""Kernels are filled up to a multiple of this."""

MAX_STEP = 64
"""Most pairs in a step."""

Halves = NDArray[np.uint16]

Integers = NDArray[np.int64]

ALL = 0x1FFFF


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of a layer, [product, kernel], in the order in which they are accumulated.

    ``starts`` holds the first product of each step, and the end. ``packed`` holds, for each
    weight, its scale from bit 20 on (-64 for zeros) and twice its mantissa in the bits below,
    inverted for negative ones. ``odd`` marks steps with a NaN among the weights.
    """

    kernels: int
    raw: Halves
    packed: NDArray[np.int32]
    starts: Integers
    odd: NDArray[np.uint8]

    @property
    def nbytes(self) -> int:
        return int(self.raw.nbytes + self.packed.nbytes)


class Gather(NamedTuple):
    """Where the inputs lie: element ``pixels[i] + offsets[j]`` of ``frame`` is the j-th input."""

    frame: Halves
    pixels: Integers
    offsets: Integers


class Sized(Protocol):
    """Size of weights; ``lines`` rows make one step (post-extension)."""

    @property
    def rows(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def channels(self) -> int: ...
    @property
    def lines(self) -> int: ...


def product_order(shape: Sized, chunk: int) -> tuple[Integers, Integers]:
    """Order of accumulation: places of [row, column, channel] elements, first one of each step.

    Chunks of channels come first, then rows, then columns.
    """
    taps = shape.rows * shape.columns
    places = np.arange(taps * shape.channels).reshape(taps, shape.channels)
    if shape.lines > 1:
        size = shape.lines * shape.channels
        starts = np.arange(0, places.size, size)
        return places.reshape(-1), np.append(starts, places.size)
    parts, sizes = [], []
    for first in range(0, shape.channels, chunk):
        part = places[:, first : first + chunk]
        parts.append(part.reshape(-1))
        sizes.append(np.full(taps, part.shape[1]))
    starts = np.concatenate([[0], *sizes]).cumsum()
    return np.concatenate(parts), starts


def mantissas(halves: Halves) -> NDArray[np.int32]:
    """Mantissa with hidden bit, shifted by the exponent modulo 4."""
    exponent = (halves >> 10 & 31).astype(np.int32)
    fraction = (halves & 0x3FF).astype(np.int32)
    return np.where(exponent > 0, (fraction | 0x400) << (exponent & 3), fraction << 1)


def prepare(weights: Halves, starts: Integers) -> Weights:
    """Pack fp16 patterns [product, kernel] for the multipliers."""
    products, kernels = weights.shape
    raw = np.zeros((products, -(-kernels // LANES) * LANES), np.uint16)
    raw[:, :kernels] = weights
    bits = mantissas(raw) << 1
    bits = np.where(raw >> 15 != 0, bits ^ ALL, bits)
    scale = np.where(raw & 0x7FFF != 0, (raw >> 12 & 7).astype(np.int32), np.int32(-64))
    nan = is_nan_half(raw).any(axis=1)
    odd = np.logical_or.reduceat(nan, starts[:-1])
    packed = np.ascontiguousarray(bits | scale << 20, np.int32)
    return Weights(kernels, raw, packed, starts, odd.astype(np.uint8))


def run(kernel: Fp16Mac, where: Gather, weights: Weights) -> NDArray[np.uint32]:
    """FP32 patterns [pixel, kernel] of a layer."""
    found = kernel.convolve(*where, weights.starts, weights.packed, weights.raw, weights.odd)
    return found[:, : weights.kernels]
