"""A convolution in bands of output lines, ready for SDP: arrays of any type with exact integers, or
in fp16 FP32 numbers. Integers and fp16 are multiplied by compiled functions where they can be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ......native.fp16 import Fp16Mac
from .....facts.precisions import FP16, RANGES
from .... import floats
from ....arithmetic import rounding_shift, saturate32
from .. import fp16, native
from ..layer import Convolution
from ..registers import Window
from . import gemm, winograd

BAND_ELEMENTS = 1 << 22
"""Size of the patch matrix that is built at a time."""


def _padded(layer: Convolution, window: Window, channels: int, batch: int) -> NDArray[Any]:
    """Return the input with its frame of pad values, [y, x, channel] in BLAS precision."""
    data = layer.data[batch]
    surfaces, pixels = (data, None) if data.ndim == 4 else (None, data)
    height, width = data.shape[-3], data.shape[-2]
    left, top = layer.check_extent(window, channels, batch)
    need_y, need_x = window.extent()
    full_y, full_x = max(need_y, top + height), max(need_x, left + width)
    dtype = _data_type(layer)
    frame = (full_y, full_x, channels)
    if (full_y, full_x) == (height, width):
        result = np.empty(frame, dtype)
    else:
        pad = layer.pad_value()
        result = np.full(frame, pad, dtype) if pad else np.zeros(frame, dtype)
    target = result[top : top + height, left : left + width]
    if layer.fp16 is not None:  # bit patterns
        surfaces = None if surfaces is None else surfaces.view(np.uint16)
        pixels = None if pixels is None else pixels.view(np.uint16)
    if pixels is not None:
        target[...] = pixels[:, :, :channels]
        return result
    assert surfaces is not None
    atom = surfaces.shape[3]
    whole = channels // atom
    if whole:
        inner = target[:, :, : whole * atom].reshape(height, width, whole, atom)
        inner[...] = surfaces[:whole].transpose(1, 2, 0, 3)
    if channels > whole * atom:
        target[:, :, whole * atom :] = surfaces[whole, :, :, : channels - whole * atom]
    return result


def _data_type(layer: Convolution) -> np.dtype[Any]:
    """Element type that the implementation multiplies."""
    if isinstance(layer.matrix, gemm.Matrix):
        return layer.matrix.weights.dtype
    return np.dtype(np.uint16)


def bands(layer: Convolution, batch: int) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield (first line, values [line, x, kernel]) of one output until it is complete."""
    if isinstance(layer.matrix, winograd.Weights):
        yield from _winograd_bands(layer, layer.matrix)
        return
    if isinstance(layer.matrix, native.Weights):
        assert layer.ints is not None
        sums, cut = layer.ints.sums(layer.frame(batch), layer.matrix, layer.data[batch])
        layer.saturated += cut
        yield 0, sums
        return
    window, channels = layer.plan()
    padded = _padded(layer, window, channels, batch)
    products = window.rows * window.columns * channels
    lines = max(1, BAND_ELEMENTS // (products * window.out_width))
    if isinstance(layer.matrix, gemm.Matrix):
        yield from _blas_bands(layer, window, padded, layer.matrix, lines)
        return
    assert layer.fp16 is not None
    yield from _exact_bands(layer, layer.fp16, window, padded, layer.matrix, lines)


def _blas_bands(
    layer: Convolution, window: Window, padded: NDArray[Any], matrix: gemm.Matrix, lines: int
) -> Iterator[tuple[int, NDArray[np.floating[Any]]]]:
    products = matrix.weights.shape[1]
    parts = [(0, products)]
    bound = float("inf")
    if layer.precision != FP16:
        largest = -float(RANGES[layer.precision][0])
        if matrix.total * largest > float(1 << 24):
            largest = float(max(padded.max(), -padded.min()))
        bound = matrix.total * largest
        parts = gemm.chunks(matrix, largest)
    patches = _patches(window, padded)
    for first in range(0, window.out_height, lines):
        band = patches[first : first + lines]
        rows = band.shape[0] * band.shape[1]
        values = gemm.multiply(band.reshape(rows, products), matrix, parts)
        shape = (band.shape[0], band.shape[1], values.shape[1])
        if layer.precision == FP16:
            values = floats.rounded(values.astype(np.float64), floats.SINGLE)
        yield first, _accumulate(layer, values, bound).reshape(shape)


def _patches(window: Window, padded: NDArray[Any]) -> NDArray[Any]:
    """View the padded input as [y, x, row, column, channel] of every window."""
    sy, sx, sc = padded.strides
    return np.lib.stride_tricks.as_strided(
        padded,
        (window.out_height, window.out_width, window.rows, window.columns, padded.shape[2]),
        (
            sy * window.stride_y,
            sx * window.stride_x,
            sy * window.dilation_y,
            sx * window.dilation_x,
            sc,
        ),
        writeable=False,
    )


def _exact_bands(
    layer: Convolution,
    kernel: Fp16Mac,
    window: Window,
    padded: NDArray[Any],
    weights: fp16.Weights,
    lines: int,
) -> Iterator[tuple[int, NDArray[np.floating[Any]]]]:
    """fp16, step by step as the hardware adds."""
    where, width = _gather(layer, window, padded), window.out_width
    for first in range(0, window.out_height, lines):
        pixels = where.pixels[first * width : (first + lines) * width]
        values = floats.single(fp16.run(kernel, where._replace(pixels=pixels), weights))
        yield first, values.reshape(-1, width, weights.kernels)


def exact_patterns(layer: Convolution, batch: int) -> NDArray[np.uint32] | None:
    """FP32 patterns [y, x, kernel] of an exact fp16 convolution, all at once; None for others."""
    if not isinstance(layer.matrix, fp16.Weights) or layer.fp16 is None:
        return None
    window, channels = layer.plan()
    padded = _padded(layer, window, channels, batch)
    where = _gather(layer, window, padded)
    patterns = fp16.run(layer.fp16, where, layer.matrix)
    return patterns.reshape(window.out_height, window.out_width, layer.matrix.kernels)


def _gather(layer: Convolution, window: Window, padded: NDArray[Any]) -> fp16.Gather:
    """Where the inputs of all windows lie."""
    positions = _patches(window, np.arange(padded.size).reshape(padded.shape))
    order, _ = fp16.product_order(layer.weight_shape, layer.config.atomic_c)
    offsets = positions[0, 0].reshape(-1)[order]
    return fp16.Gather(padded.reshape(-1), positions[:, :, 0, 0, 0].reshape(-1), offsets)


def _winograd_bands(
    layer: Convolution, weights: winograd.Weights
) -> Iterator[tuple[int, NDArray[np.floating[Any]]]]:
    """All lines at once: CDMA pads and folds, CSC transforms."""
    s = layer.csc
    tiles = winograd.transform(
        winograd.extend(layer.cdma, layer.data[0], layer.pad_value()),
        (-(-s.out_height // 2), -(-s.out_width // 2)),
        s.transform_truncate,
        layer.precision,
    )
    values: NDArray[np.floating[Any]] = winograd.multiply(tiles, weights)
    if layer.precision != FP16:
        values = _accumulate(layer, values, float("inf"))
    yield 0, values[: s.out_height, : s.out_width]


def _accumulate(
    layer: Convolution, values: NDArray[np.floating[Any]], bound: float
) -> NDArray[np.floating[Any]]:
    """CACC: truncate with rounding and saturate to 32 bits."""
    if layer.precision == FP16 or (layer.truncate == 0 and bound < float(1 << 31)):
        return values
    exact = values.astype(np.float64)
    rounding_shift(exact, layer.truncate)
    if bound * 2.0**-layer.truncate >= float((1 << 31) - 1):
        before = exact.copy()
        saturate32(exact)
        layer.saturated += int(np.count_nonzero(before != exact))
    return exact
