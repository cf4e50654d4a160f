"""Winograd convolution F(2x2, 3x3): 4 x 4 windows of the input give 2 x 2 outputs.

CDMA pads the input and folds strides into channels; CSC transforms each window X to BT * X * B;
CMAC multiplies it element by element with kernels that software has transformed, and transforms
the products back. Source: nvdla/hw ``cmod/cdma/NV_NVDLA_cdma.cpp`` (WinoConvData...),
``cmod/hls/csc_libs/csc_cvt.cpp``, ``cmod/cmac/NV_NVDLA_cmac.h``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ......core.closing import outside
from .....errors import HardwareFault
from .....facts.configs import HardwareConfig
from .....facts.precisions import FP16, RANGES
from .... import floats
from ....arithmetic import rounding_shift
from ....memory import DTYPES
from .. import fp16
from ..registers import Cdma
from ..weights import WeightShape
from . import fp16 as steps

BLOCK = 4
"""Channels of one step."""

POSITIONS = 16
"""Elements of a transformed window."""

Array = NDArray[Any]
Pair = Callable[[Array, Array], Array]


@dataclass(frozen=True, slots=True)
class Weights:
    """Transformed kernels: ``values`` [position, channel, kernel], or in fp16 ``steps``.

    A step has 64 products: position, then 4 channels.
    """

    kernels: int
    channels: int
    values: NDArray[np.float64] | None
    steps: fp16.Weights | None

    @property
    def nbytes(self) -> int:
        return sum(item.nbytes for item in (self.values, self.steps) if item is not None)


def unpack(raw: NDArray[np.uint8], shape: WeightShape, config: HardwareConfig) -> Weights:
    """Read weights: kernel group, block of 4 channels, kernel, row, column, channel."""
    if (shape.rows, shape.columns) != (4, 4) or shape.channels % BLOCK:
        raise HardwareFault(
            "CSC",
            f"Winograd weights of {shape.columns} x {shape.rows} x {shape.channels}: 4 x 4 and a"
            f" multiple of {BLOCK} channels expected",
        )
    floating = shape.precision == FP16
    source = raw.view("<u2" if floating else DTYPES[shape.precision])
    group, blocks = config.kernel_group(shape.precision), shape.channels // BLOCK
    order = np.empty((shape.kernels, blocks, POSITIONS, BLOCK), source.dtype)
    per_kernel = POSITIONS * shape.channels
    full = shape.kernels // group
    for first, groups, count in ((0, full, group), (full * group, 1, shape.kernels % group)):
        if groups == 0 or count == 0:
            continue
        stop = first + groups * count
        part = source[first * per_kernel : stop * per_kernel]
        view = part.reshape(groups, blocks, count, POSITIONS, BLOCK)
        order[first:stop] = view.transpose(0, 2, 1, 3, 4).reshape(-1, blocks, POSITIONS, BLOCK)
    if floating:
        products = order.reshape(shape.kernels, -1).T
        starts = np.arange(0, len(products) + 1, POSITIONS * BLOCK)
        return Weights(shape.kernels, shape.channels, None, fp16.prepare(products, starts))
    values = order.transpose(2, 1, 3, 0).reshape(POSITIONS, shape.channels, shape.kernels)
    return Weights(shape.kernels, shape.channels, values.astype(np.float64), None)


def extend(p: Cdma, data: Array, pad: float) -> Array:
    """Pad the cube [surface, y, x, channel] and fold strides into channels: [y, x, channel].

    Padding channels of the last surface are taken as they are.
    """
    surfaces, height, width, atom = data.shape
    full_y, full_x = p.pad_top + height + p.pad_bottom, p.pad_left + width + p.pad_right
    if full_y % (4 * p.stride_y) or full_x % (4 * p.stride_x):
        raise HardwareFault(
            "CDMA",
            f"a padded Winograd input of {full_x} x {full_y}: multiples of {4 * p.stride_x} and"
            f" {4 * p.stride_y} expected",
        )
    bits = data.view(np.uint16) if data.dtype == np.float16 else data
    frame = np.full((surfaces, full_y, full_x, atom), pad, bits.dtype)
    frame[:, p.pad_top : p.pad_top + height, p.pad_left : p.pad_left + width] = bits
    rows, columns = full_y // p.stride_y, full_x // p.stride_x
    folded = frame.reshape(surfaces, rows, p.stride_y, columns, p.stride_x, atom)
    return folded.transpose(1, 3, 2, 4, 0, 5).reshape(rows, columns, -1)


def _combine(lines: list[Array], plus: Pair, minus: Pair) -> list[Array]:
    """Multiply by BT: [[1,0,-1,0], [0,1,1,0], [0,-1,1,0], [0,1,0,-1]]."""
    a, b, c, d = lines
    return [minus(a, c), plus(b, c), minus(c, b), minus(b, d)]


def transform(extended: Array, tiles: tuple[int, int], truncate: int, precision: int) -> Array:
    """Transform all windows: [tile y, tile x, position, channel], integers or fp16 patterns."""
    rows, columns = tiles
    if 2 * rows + 2 > extended.shape[0] or 2 * columns + 2 > extended.shape[1]:
        raise HardwareFault(
            "CSC",
            f"{columns} x {rows} Winograd tiles from an input of"
            f" {extended.shape[1]} x {extended.shape[0]}",
        )
    sy, sx, sc = extended.strides
    windows = np.lib.stride_tricks.as_strided(
        extended,
        (rows, columns, 4, 4, extended.shape[2]),
        (2 * sy, 2 * sx, sy, sx, sc),
        writeable=False,
    )
    if precision == FP16:
        values = floats.widened(floats.half(windows), floats.FP17)
        done = _transformed(
            values,
            lambda a, b: floats.add(a, b, floats.FP17),
            lambda a, b: floats.subtract(a, b, floats.FP17),
        )
        return floats.half_bits(done)
    done = _transformed(windows.astype(np.float64), np.add, np.subtract)
    rounding_shift(done, truncate)
    return np.clip(done, *RANGES[precision], out=done)


def _transformed(windows: Array, plus: Pair, minus: Pair) -> Array:
    lines = _combine([windows[:, :, i] for i in range(4)], plus, minus)
    half = np.stack(lines, axis=2)
    whole = np.stack(_combine([half[:, :, :, i] for i in range(4)], plus, minus), axis=3)
    return whole.reshape(*windows.shape[:2], POSITIONS, windows.shape[4])


def back(products: Array) -> Array:
    """Transform sums of products [..., position, kernel] back to outputs [..., 2, 2, kernel]."""
    shape = products.shape
    m = products.reshape(*shape[:-2], 4, 4, shape[-1])
    upper = m[..., 0, :, :] + m[..., 1, :, :] + m[..., 2, :, :]
    lower = m[..., 1, :, :] - m[..., 2, :, :] - m[..., 3, :, :]
    p = np.stack([upper, lower], axis=-3)
    left = p[..., 0, :] + p[..., 1, :] + p[..., 2, :]
    right = p[..., 1, :] - p[..., 2, :] - p[..., 3, :]
    return np.stack([left, right], axis=-2)


def multiply(tiles: Array, weights: Weights) -> NDArray[np.float64]:
    """Return accumulator values [y, x, kernel]: exact integers, or FP32 numbers."""
    rows, columns, _, channels = tiles.shape
    if channels != weights.channels:
        raise HardwareFault(
            "CSC", f"{weights.channels} Winograd weight channels, the input has {channels}"
        )
    flat = tiles.reshape(rows * columns, POSITIONS, channels)
    if weights.values is not None:
        with outside:
            products = np.matmul(flat.transpose(1, 0, 2), weights.values)
        outputs = back(products.transpose(1, 0, 2))
    else:
        assert weights.steps is not None
        outputs = floats.single(_steps(flat, weights.steps))
    cube = outputs.reshape(rows, columns, 2, 2, -1).transpose(0, 2, 1, 3, 4)
    return cube.reshape(2 * rows, 2 * columns, -1)


def _steps(flat: NDArray[np.uint16], weights: fp16.Weights) -> NDArray[np.uint32]:
    """fp16: the 64 products of a step share a scale, then four accumulators take the sums."""
    zero = np.zeros((len(flat), 2, 2, weights.kernels), np.int64)
    state = steps.Accumulators(zero, zero)
    for number in range(len(weights.starts) - 1):
        rows = slice(weights.starts[number], weights.starts[number + 1])
        channels = slice(number * BLOCK, (number + 1) * BLOCK)
        inputs = np.ascontiguousarray(flat[:, :, channels]).reshape(len(flat), -1)
        packed = weights.packed[rows, : weights.kernels]
        shifted, scales = steps.products(packed, inputs)
        sums = back(shifted.reshape(len(flat), POSITIONS, BLOCK, -1).sum(axis=2))
        scale = np.broadcast_to(scales[:, None, None], sums.shape)
        found = steps.accumulate(state, sums, scale)
        if weights.odd[number] or steps.has_nan(inputs):
            nan = steps.nan_of(weights.raw[rows, : weights.kernels], inputs)
            found = steps.with_nan(state, found, nan[:, None, None])
        state = found
    return steps.to_single(state)
