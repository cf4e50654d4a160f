"""Pooling."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.facts.windows import output_size

from ...errors import Unsupported
from ...graph import Affine, Conv, Pool, Value
from ..tensors import Item, Tensor
from ..windows import needed_stride, pads_of, two
from .convolutions import picture, placed
from .reductions import reduced
from .registry import Call, operator


@operator("MaxPool", integers=True)
def _max_pool(call: Call) -> Item:
    if call.wants(1):
        raise Unsupported("its indices are read", "leave MaxPool with indices to the host")
    if any(d != 1 for d in call.attribute("dilations") or []):
        raise Unsupported("it is dilated", "pool without dilation")
    return _pool(call, "max")


@operator("AveragePool")
def _average_pool(call: Call) -> Item:
    kernel = call.attribute("kernel_shape")
    if len(kernel) == 3 and call.tensor().rank == 5:
        return _across_channels(call)
    return _pool(call, "average")


@operator("LpPool")
def _lp_pool(call: Call) -> Item:
    raise Unsupported("it sums powers", "use AveragePool or MaxPool")


@operator("GlobalAveragePool", "GlobalMaxPool")
def _global(call: Call) -> Item:
    x = call.tensor()
    mode = "average" if call.op == "GlobalAveragePool" else "max"
    return reduced(call.build, x, list(range(2, x.rank)), mode, True)


def _pool(call: Call, mode: str) -> Tensor:
    x = call.tensor()
    value, groups = picture(call, x)
    n, c, h, w = value.shape
    taps = two(call.attribute("kernel_shape"))
    stride = two(call.attribute("strides"))
    dilation = two(call.attribute("dilations"))
    kernel = tuple((count - 1) * step + 1 for count, step in zip(taps, dilation, strict=True))
    top, bottom, left, right = pads_of(call, (h, w), taps, stride, dilation)
    if min(top, bottom, left, right) < 0:
        raise Unsupported("it has negative pads", "use Slice")
    ceiling = bool(call.attribute("ceil_mode", 0)) and call.attribute("auto_pad", "NOTSET") in (
        "NOTSET",
        "",
    )
    oh, more_y = _windows(h, top, bottom, kernel[0], stride[0], ceiling)
    ow, more_x = _windows(w, left, right, kernel[1], stride[1], ceiling)
    pads = (top, bottom + more_y, left, right + more_x)
    counted = stride
    stride = (
        needed_stride(stride[0], h + pads[0] + pads[1] - kernel[0]),
        needed_stride(stride[1], w + pads[2] + pads[3] - kernel[1]),
    )
    if kernel == stride == (1, 1) and not any(pads):
        return x
    if mode == "max":
        y = call.build.add(Pool, [value], (n, c, oh, ow), mode=mode, kernel=kernel, stride=stride,
                           pads=pads)  # fmt: skip
        return placed(x, y, groups)
    inside = bool(call.attribute("count_include_pad", 0))
    rows = _counted(oh, h, top, bottom, taps[0], counted[0], dilation[0], inside)
    columns = _counted(ow, w, left, right, taps[1], counted[1], dilation[1], inside)
    counts = np.outer(rows, columns).astype(np.float32)
    if dilation != (1, 1):
        total = call.build.add(Conv, [value], (n, c, oh, ow), stride=stride, pads=pads,
                               weights=np.ones((c, 1, *taps), np.float32), groups=c,
                               bias=np.zeros(c, np.float32), dilation=dilation)  # fmt: skip
        y = call.build.add(Affine, [total], (n, c, oh, ow), scale=1 / counts[None, None])
        return placed(x, y, groups)
    divisor = float(counts.max()) if len(np.unique(counts)) == 1 else counts
    y = call.build.add(Pool, [value], (n, c, oh, ow), mode=mode, kernel=kernel, stride=stride,
                       pads=pads, divisor=divisor)  # fmt: skip
    return placed(x, y, groups)


def _windows(
    length: int, before: int, after: int, kernel: int, stride: int, ceiling: bool
) -> tuple[int, int]:
    """Number of windows, and lines to be added behind so that the last one is complete."""
    if length + before + after < kernel:
        raise Unsupported(f"its kernel of {kernel} is larger than {length} lines with pads")
    # rounded up, the last window may hang over
    count = output_size(length, kernel, stride, before, after + (stride - 1 if ceiling else 0))
    if ceiling and (count - 1) * stride >= length + before:
        count -= 1  # it would lie in the padding altogether
    return count, max((count - 1) * stride + kernel - length - before - after, 0)


def _counted(
    count: int,
    length: int,
    before: int,
    after: int,
    taps: int,
    stride: int,
    dilation: int,
    inside: bool,
) -> NDArray[np.int64]:
    """How many lines of each window count: those of the input, with *inside* the pads, too (but
    never those that ceil_mode adds)."""
    lines = np.arange(count)[:, None] * stride - before + np.arange(taps) * dilation
    low, high = (-before, length + after) if inside else (0, length)
    return np.asarray(((lines >= low) & (lines < high)).sum(axis=1))


def _across_channels(call: Call) -> Tensor:
    """An average over neighbouring channels, written as three-dimensional pooling of
    [n, 1, c, h, w] (torch's local response normalisation): a 1 x 1 convolution."""
    x = call.tensor()
    kernel = list(call.attribute("kernel_shape"))
    pads = call.attribute("pads") or [0] * 6
    strides = call.attribute("strides") or [1] * 3
    flat = x.shape[1] == 1 and kernel[1:] == [1, 1] and list(strides) == [1, 1, 1]
    if not flat or any(pads[i] for i in (1, 2, 4, 5)) or call.attribute("ceil_mode", 0):
        raise Unsupported("it has three spatial dimensions", "use two-dimensional layers")
    view = x.view.without(1)
    value = call.build.plain(view)
    before, after = pads[0], pads[3]
    c = value.shape[1]
    count = c + before + after - kernel[0] + 1
    band = band_weights(count, c, before, kernel[0])
    counted = kernel[0] if call.attribute("count_include_pad", 0) else band.sum(1, keepdims=True)
    y = band_conv(call, value, band / counted)
    result = placed(Tensor(view, x.dtype), y, [[0], [1], [2], [3]])
    dims = result.view.dims
    return x.viewed(type(view)(y, (dims[0], (), *dims[1:])))


def band_weights(count: int, channels: int, before: int, size: int) -> NDArray[np.float32]:
    """Row i has ones at the channels i - before ... i - before + size - 1."""
    row, column = np.arange(count)[:, None] - before, np.arange(channels)
    return ((column >= row) & (column < row + size)).astype(np.float32)


def band_conv(call: Call, x: Value, weights: NDArray[np.float32]) -> Value:
    """A 1 x 1 convolution without bias."""
    n, _, h, w = x.shape
    kernels = weights.shape[0]
    return call.build.add(
        Conv,
        [x],
        (n, kernels, h, w),
        weights=np.ascontiguousarray(weights[:, :, None, None], np.float32),
        bias=np.zeros(kernels, np.float32),
    )
