"""Convolutions of integers for the compiled functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....constants.native_types import sim_converter, sim_window
from .....native import ints
from ....facts.precisions import FP16
from .registers import Window

Weights = ints.Weights

DEPTHWISE = 8
"""Channels of depthwise convolutions that are computed as such; NVDLA knows dense ones only, and
software fills up with zeros."""


def prepare_weights(
    unit: ints.Ints, weights: NDArray[np.integer[Any]], window: Window, depthwise: bool = True
) -> ints.Weights:
    """Arrange weights [kernel, product] of int8 or int16. *depthwise*: look whether each kernel has
    weights for one channel only.

    Neighbouring columns and their channels are neighbours in the input, too, unless they are
    dilated: a run is then one column.
    """
    kernels = len(weights)
    taps = weights.reshape(kernels, window.rows * window.columns, -1)
    if depthwise and weights.dtype == np.int8 and taps.shape[2] >= DEPTHWISE:
        found = unit.pack_diagonal(taps)
        if found is not None:
            return found
    runs = window.rows if window.dilation_x == 1 else window.rows * window.columns
    return unit.pack(weights.reshape(kernels, runs, -1))


def frame(
    window: Window,
    channels: int,
    top: int,
    left: int,
    pad: int,
    truncate: int,
    table: NDArray[np.int16] | None = None,
    convert: sim_converter | None = None,
    diagonal: bool = False,
) -> ints.Frame:
    """The frame of padded input that the window moves over; strides that skip whole lines or
    columns are taken when it is filled. *diagonal*: for such weights."""
    height, width = window.extent()
    stride_y, stride_x, step_y, step_x = window.stride_y, window.stride_x, 1, 1
    if window.rows == 1:
        stride_y, step_y, height = 1, stride_y, window.out_height
    if window.columns == 1:
        stride_x, step_x, width = 1, stride_x, window.out_width
    rows = np.arange(window.rows, dtype=np.int64) * (window.dilation_y * width * channels)
    if window.dilation_x != 1 or diagonal:
        columns = np.arange(window.columns, dtype=np.int64) * (window.dilation_x * channels)
        rows = np.add.outer(rows, columns).reshape(-1)
    if diagonal and len(rows) % 2:
        rows = np.append(rows, rows[-1])
    job = sim_window(
        out_height=window.out_height,
        out_width=window.out_width,
        stride_y=stride_y,
        stride_x=stride_x,
        height=height,
        width=width,
        channels=channels,
        pad=pad,
        top=top,
        left=left,
        step_y=step_y,
        step_x=step_x,
        truncate=truncate,
    )
    return ints.Frame(job, rows, table, convert)


def usable_weights(precision: int, winograd: int, unit: ints.Ints | None) -> bool:
    """Whether the compiled convolution knows this kind of layer."""
    return unit is not None and precision != FP16 and not winograd
