"""fp16 convolutions for the compiled multiply-accumulate: the input with its frame, where the
inputs of each window lie in it, and all sums at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import fp16
from .layer import Convolution
from .registers import Window


def padded(
    layer: Convolution, window: Window, channels: int, batch: int, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return the input with its frame of pad values, [y, x, channel]."""
    data = layer.data[batch]
    surfaces, pixels = (data, None) if data.ndim == 4 else (None, data)
    height, width = data.shape[-3], data.shape[-2]
    left, top = layer.check_extent(window, channels, batch)
    need_y, need_x = window.extent()
    full_y, full_x = max(need_y, top + height), max(need_x, left + width)
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


def patches(window: Window, padded: NDArray[Any]) -> NDArray[Any]:
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


def patterns(layer: Convolution, batch: int) -> NDArray[np.uint32] | None:
    """FP32 patterns [y, x, kernel] of an exact fp16 convolution, all at once; None for others."""
    if not isinstance(layer.matrix, fp16.Weights) or layer.fp16 is None:
        return None
    window, channels = layer.plan()
    frame = padded(layer, window, channels, batch, np.dtype(np.uint16))
    where = gather(layer, window, frame)
    found = fp16.run(layer.fp16, where, layer.matrix)
    return found.reshape(window.out_height, window.out_width, layer.matrix.kernels)


def gather(layer: Convolution, window: Window, frame: NDArray[Any]) -> fp16.Gather:
    """Where the inputs of all windows lie."""
    positions = patches(window, np.arange(frame.size).reshape(frame.shape))
    order, _ = fp16.product_order(layer.weight_shape, layer.config.atomic_c)
    offsets = positions[0, 0].reshape(-1)[order]
    return fp16.Gather(frame.reshape(-1), positions[:, :, 0, 0, 0].reshape(-1), offsets)
