"""PDP, the planar data processor: maximum, minimum and average pooling.

Source: nvdla/hw ``cmod/pdp/NV_NVDLA_pdp.cpp`` and ``cmod/include/NvdlaAvgPooling.h``. Splitting
a wide cube into stripes does not change the result and is ignored here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....errors import HardwareFault
from ....facts.configs import HardwareConfig
from ....facts.modes import Pooling
from ....facts.precisions import FP16, RANGES
from ... import floats
from ...arithmetic import rounding_shift
from ...doubt import Doubt
from ...memory import DTYPES, Memory
from . import cubes
from .registers import Odd, Pdp


def run(
    groups: Mapping[str, Sequence[int]],
    config: HardwareConfig,
    memory: tuple[Memory, Memory],
    cube: NDArray[Any],
    doubt: Doubt | None = None,
) -> Odd:
    """Pool a cube [y, x, channel] (padding channels included) and write the result.

    *doubt* says what becomes of averages that leave the range of a chip's adders.
    """
    p = Pdp.decode(groups["PDP"])
    cubes.check_precision(p, config)
    if p.method not in METHODS:
        raise HardwareFault("PDP", f"pooling method {p.method} does not exist")
    if cube.shape[:2] != (p.height, p.width):
        raise HardwareFault(
            "PDP",
            f"the input is set to {p.width} x {p.height}, SDP delivers"
            f" {cube.shape[1]} x {cube.shape[0]}",
        )
    target = cubes.target(p, config, memory)
    odd = Odd()
    cube = cube.astype(DTYPES[p.precision], copy=False)
    result: NDArray[Any]
    if p.precision == FP16:
        result = pool_half(p, _inspected(p, cube.view(np.uint16), odd))
        odd.nan_outputs = int(floats.is_nan_half(result.view(np.uint16)).sum())
    else:
        result = pool(p, cube)
        if cubes.can_overflow(p, config):
            result = _within_chip(p, cube, result, doubt or Doubt())
    surfaces, _, _, atom = target.shape
    if result.shape[2] < surfaces * atom:
        raise HardwareFault("PDP", f"{p.out_channels} output channels from {p.channels}")
    part = result[:, :, : surfaces * atom].reshape(p.out_height, p.out_width, surfaces, atom)
    np.copyto(target, part.transpose(2, 0, 1, 3), casting="unsafe")
    return odd


def _inspected(p: Pdp, bits: NDArray[np.uint16], odd: Odd) -> NDArray[np.uint16]:
    """Count NaNs and infinities of an input that comes from memory; clear NaNs if that is set."""
    if not p.off_flying:
        return bits
    nan = floats.is_nan_half(bits)
    odd.nan_inputs = int(nan.sum())
    odd.infinite_inputs = int(floats.is_infinite_half(bits).sum())
    if p.nan_to_zero and odd.nan_inputs:
        return np.where(nan, np.uint16(0), bits)
    return bits


def _frame(p: Pdp, cube: NDArray[Any], fill: Any, dtype: Any) -> NDArray[Any]:
    """Put the cube into a frame that covers all windows."""
    height, width = cubes.extent(p)
    if max(cubes.overhang(p)) > cubes.MAX_OVERHANG:
        raise HardwareFault(
            "PDP",
            f"an output of {p.out_width} x {p.out_height} does not belong to an input of"
            f" {p.width} x {p.height}",
        )
    height, width = max(height, p.pad_top + p.height), max(width, p.pad_left + p.width)
    if (height, width) == cube.shape[:2]:
        return cube.astype(dtype, copy=False)
    frame = np.full((height, width, cube.shape[2]), fill, dtype)
    frame[p.pad_top : p.pad_top + p.height, p.pad_left : p.pad_left + p.width] = cube
    return frame


def _fold(p: Pdp, frame: NDArray[Any], combine: Callable[..., NDArray[Any]]) -> NDArray[Any]:
    """Combine the elements of every window: along lines, then along columns."""
    stop = (p.out_width - 1) * p.stride_x + 1
    rows = frame[:, : stop : p.stride_x].copy()
    for column in range(1, p.kernel_width):
        combine(rows, frame[:, column : column + stop : p.stride_x], out=rows)
    stop = (p.out_height - 1) * p.stride_y + 1
    result: NDArray[Any] = rows[: stop : p.stride_y].copy()
    for row in range(1, p.kernel_height):
        combine(result, rows[row : row + stop : p.stride_y], out=result)
    return result


def pool(p: Pdp, cube: NDArray[Any]) -> NDArray[Any]:
    """Return the pooled cube [y, x, channel] of integers; average values are not yet cast."""
    return METHODS[p.method].integers(p, cube)


def _extreme(p: Pdp, cube: NDArray[Any]) -> NDArray[Any]:
    largest = p.method == Pooling.MAX
    fill = RANGES[p.precision][0 if largest else 1]
    return _fold(p, _frame(p, cube, fill, cube.dtype), np.maximum if largest else np.minimum)


def _average(p: Pdp, cube: NDArray[Any]) -> NDArray[Any]:
    rows = cubes.inside(p.out_height, p.stride_y, p.kernel_height, p.pad_top, p.height)
    columns = cubes.inside(p.out_width, p.stride_x, p.kernel_width, p.pad_left, p.width)
    total = _fold(p, _frame(p, cube, 0, np.float64), np.add)
    if min(rows) < p.kernel_height or min(columns) < p.kernel_width:
        pads = np.array([*p.pads, *[0] * 9])
        across = pads[p.kernel_width - columns]
        down = pads[p.kernel_height - rows]
        extra = np.multiply.outer(rows, across) + (p.kernel_width * down)[:, None]
        total += extra[:, :, None]
    total *= p.reciprocal_width
    rounding_shift(total, 16)
    total *= p.reciprocal_height
    rounding_shift(total, 16)
    return np.clip(total, *RANGES[p.precision], out=total)


_OVERFLOW = (
    "averages leave the 8 bits of the output: D_RECIP_KERNEL_WIDTH and HEIGHT must be at most"
    " 65536 / kernel, pad values those of numbers from -128 to 127; the chip keeps low bits"
)


def _within_chip(p: Pdp, cube: NDArray[Any], saturated: NDArray[Any], doubt: Doubt) -> NDArray[Any]:
    """Averages that may leave the range of a chip's adders: strict, they saturate as in the public
    C model, with a warning; otherwise they are what the chip computes."""
    cut = _cut_average(p, cube)
    if not (cut != saturated).any():
        return saturated
    if doubt.strict:
        doubt.warn("PDP", f"{_OVERFLOW}, here they saturate (CUDLA_SIM_HARDWARE=chip keeps them)")
        return saturated
    doubt("PDP", _OVERFLOW)
    return cut


def _wrapped(values: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """The low *width* bits as signed numbers."""
    half = 1 << (width - 1)
    return ((values + half) & ((1 << width) - 1)) - half


def _scaled_down(values: NDArray[np.int64], reciprocal: int, width: int) -> NDArray[np.int64]:
    """RS(values * reciprocal, 16) in *width* bits; of positive numbers the sign is lost."""
    product = values * reciprocal
    whole, rest = product >> 16, product & 0xFFFF
    up = np.where(product < 0, rest > 0x8000, rest >= 0x8000)
    kept = np.where(product < 0, whole, whole & ((1 << (width - 1)) - 1))
    return _wrapped(kept + up, width)


def _cut_average(p: Pdp, cube: NDArray[Any]) -> NDArray[np.int64]:
    """Averages of int8 as the chip computes them: 11 bits for lines, 14 for windows, 8 for results.

    Source: nvdla/hw master ``vmod/nvdla/pdp/NV_NVDLA_PDP_CORE_cal1d.v``, ``cal2d``.
    """
    rows = cubes.inside(p.out_height, p.stride_y, p.kernel_height, p.pad_top, p.height)
    columns = cubes.inside(p.out_width, p.stride_x, p.kernel_width, p.pad_left, p.width)
    pads = np.array(p.pads, np.int64)
    frame = _frame(p, cube, 0, np.int64)
    stop = (p.out_width - 1) * p.stride_x + 1
    lines = sum(frame[:, at : at + stop : p.stride_x] for at in range(p.kernel_width))
    lines = _wrapped(lines + pads[p.kernel_width - columns][None, :, None], 11)
    height = lines.shape[0]
    inside = np.zeros((height, 1, 1), np.int64)
    inside[p.pad_top : p.pad_top + p.height] = 1
    lines = lines * inside  # lines of the pad count by their own value
    stop = (p.out_height - 1) * p.stride_y + 1
    total = sum(lines[at : at + stop : p.stride_y] for at in range(p.kernel_height))
    extra = p.kernel_width * pads[p.kernel_height - rows]
    total = _wrapped(total + _wrapped(extra, 14)[:, None, None], 14)
    across = _scaled_down(total, p.reciprocal_width, 11)
    return _scaled_down(across, p.reciprocal_height, 8)


def pool_half(p: Pdp, bits: NDArray[np.uint16]) -> NDArray[np.float16]:
    """Pool fp16 patterns [y, x, channel]."""
    return METHODS[p.method].half(p, bits)


def _extreme_half(p: Pdp, bits: NDArray[np.uint16]) -> NDArray[np.float16]:
    largest = p.method == Pooling.MAX
    frame = _frame(p, floats.half(bits), -np.inf if largest else np.inf, np.float64)
    combine = floats.larger if largest else floats.smaller
    across = _reduce(frame, p.out_width, p.stride_x, p.kernel_width, 1, combine)
    # a new row is the first operand
    result = _reduce(
        across, p.out_height, p.stride_y, p.kernel_height, 0, lambda old, new: combine(new, old)
    )
    with np.errstate(invalid="ignore"):
        infinite = np.copysign(np.uint16(0x7C00).view(np.float16), result)
    clean = floats.half_bits(np.where(np.isinf(result), 0.0, result)).view(np.float16)
    return np.where(np.isinf(result), infinite, clean).astype(np.float16, copy=False)


def _average_half(p: Pdp, bits: NDArray[np.uint16]) -> NDArray[np.float16]:
    """Averages are computed in FP17, element by element."""
    pads, down = cubes.half_pads(p)
    frame = _frame(p, floats.widened(floats.half(bits), floats.FP17), np.nan, np.float64)
    inside = _frame(p, np.ones((*bits.shape[:2], 1), bool), False, bool)[:, :, 0]
    geometry = (p.out_width, p.stride_x, p.kernel_width)
    total = _sum(frame, np.asarray(inside.any(axis=0)), 1, geometry, pads)
    geometry = (p.out_height, p.stride_y, p.kernel_height)
    total = _sum(total, np.asarray(inside.any(axis=1)), 0, geometry, down)
    for pattern in (p.reciprocal_width, p.reciprocal_height):
        total = floats.multiply(total, floats.fp17(pattern), floats.FP17)
    return floats.half_bits(total).view(np.float16)


def _part(data: NDArray[Any], axis: int, first: int, count: int, stride: int) -> NDArray[Any]:
    """Every *stride*-th line (or column) from *first* on."""
    cut = slice(first, first + (count - 1) * stride + 1, stride)
    return data[cut] if axis == 0 else data[:, cut]


def _reduce(
    frame: NDArray[Any],
    count: int,
    stride: int,
    kernel: int,
    axis: int,
    combine: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]],
) -> NDArray[Any]:
    """Combine the elements of windows along one axis, in order."""
    result = _part(frame, axis, 0, count, stride)
    for step in range(1, kernel):
        result = combine(result, _part(frame, axis, step, count, stride))
    return result


def _sum(
    frame: NDArray[np.float64],
    inside: NDArray[np.bool_],
    axis: int,
    geometry: tuple[int, int, int],
    pads: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Add the valid elements of windows along one axis in FP17, then the pad for the others.

    Along columns the running sum is the first operand, along lines the new line is.
    """
    count, stride, kernel = geometry
    shape = (count, 1, 1) if axis == 0 else (1, count, 1)
    result = _part(frame, axis, 0, count, stride)
    begun = _part(inside, 0, 0, count, stride).reshape(shape)
    valid = begun.astype(np.int64)
    for step in range(1, kernel):
        new = _part(frame, axis, step, count, stride)
        here = _part(inside, 0, step, count, stride).reshape(shape)
        pair = (result, new) if axis == 1 else (new, result)
        total = floats.add(*pair, floats.FP17)
        result = np.where(begun & here, total, np.where(here, new, result))
        begun = begun | here
        valid = valid + here
    pad = pads[kernel - valid]
    return np.where(pad != 0, floats.add(result, pad, floats.FP17), result)


class Method(NamedTuple):
    """What a pooling method computes of a cube [y, x, channel] without its frame."""

    integers: Callable[[Pdp, NDArray[Any]], NDArray[Any]]
    half: Callable[[Pdp, NDArray[np.uint16]], NDArray[np.float16]]


METHODS: dict[int, Method] = {
    Pooling.AVERAGE: Method(_average, _average_half),
    Pooling.MAX: Method(_extreme, _extreme_half),
    Pooling.MIN: Method(_extreme, _extreme_half),
}
