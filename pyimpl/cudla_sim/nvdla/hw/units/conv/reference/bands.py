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
from .. import exact, fp16, native
from ..layer import Convolution
from ..registers import Window
from . import gemm, winograd

BAND_ELEMENTS = 1 << 22
"""Size of the patch matrix that is built at a time."""


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
    padded = exact.padded(layer, window, channels, batch, _data_type(layer))
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
    patches = exact.patches(window, padded)
    for first in range(0, window.out_height, lines):
        band = patches[first : first + lines]
        rows = band.shape[0] * band.shape[1]
        values = gemm.multiply(band.reshape(rows, products), matrix, parts)
        shape = (band.shape[0], band.shape[1], values.shape[1])
        if layer.precision == FP16:
            values = floats.rounded(values.astype(np.float64), floats.SINGLE)
        yield first, _accumulate(layer, values, bound).reshape(shape)


def _exact_bands(
    layer: Convolution,
    kernel: Fp16Mac,
    window: Window,
    padded: NDArray[Any],
    weights: fp16.Weights,
    lines: int,
) -> Iterator[tuple[int, NDArray[np.floating[Any]]]]:
    """fp16, step by step as the hardware adds."""
    where, width = exact.gather(layer, window, padded), window.out_width
    for first in range(0, window.out_height, lines):
        pixels = where.pixels[first * width : (first + lines) * width]
        values = floats.single(fp16.run(kernel, where._replace(pixels=pixels), weights))
        yield first, values.reshape(-1, width, weights.kernels)


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
    sums = values.astype(np.float64)
    rounding_shift(sums, layer.truncate)
    if bound * 2.0**-layer.truncate >= float((1 << 31) - 1):
        before = sums.copy()
        saturate32(sums)
        layer.saturated += int(np.count_nonzero(before != sums))
    return sums
