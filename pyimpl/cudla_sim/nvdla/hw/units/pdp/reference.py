"""PDP, the planar data processor: maximum, minimum and average pooling.

Source: nvdla/hw ``cmod/pdp/NV_NVDLA_pdp.cpp`` and ``cmod/include/NvdlaAvgPooling.h``. Splitting
a wide cube into stripes does not change the result and is ignored here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .....native.halves import HalfPool, HalfPoolLayer
from .....native.planes import Pool, PoolLayer
from ....errors import HardwareFault
from ....facts import precisions
from ....facts.configs import HardwareConfig
from ....facts.modes import Pooling
from ....facts.precisions import FP16, RANGES
from ... import floats
from ...arithmetic import rounding_shift
from ...fields import Params, address, bits
from ...memory import DTYPES, Memory

MAX_OVERHANG = 16
"""Elements that windows may reach past the input."""


@dataclass(slots=True)
class Pdp(Params):
    """Registers of PDP that matter for the result."""

    _block = "PDP"

    width: int = bits("D_DATA_CUBE_IN_WIDTH.CUBE_IN_WIDTH", plus=1)
    height: int = bits("D_DATA_CUBE_IN_HEIGHT.CUBE_IN_HEIGHT", plus=1)
    channels: int = bits("D_DATA_CUBE_IN_CHANNEL.CUBE_IN_CHANNEL", plus=1)
    out_width: int = bits("D_DATA_CUBE_OUT_WIDTH.CUBE_OUT_WIDTH", plus=1)
    out_height: int = bits("D_DATA_CUBE_OUT_HEIGHT.CUBE_OUT_HEIGHT", plus=1)
    out_channels: int = bits("D_DATA_CUBE_OUT_CHANNEL.CUBE_OUT_CHANNEL", plus=1)
    method: int = bits("D_OPERATION_MODE_CFG.POOLING_METHOD")
    splits: int = bits("D_OPERATION_MODE_CFG.SPLIT_NUM", plus=1)
    off_flying: int = bits("D_OPERATION_MODE_CFG.FLYING_MODE")
    kernel_width: int = bits("D_POOLING_KERNEL_CFG.KERNEL_WIDTH", plus=1)
    kernel_height: int = bits("D_POOLING_KERNEL_CFG.KERNEL_HEIGHT", plus=1)
    stride_x: int = bits("D_POOLING_KERNEL_CFG.KERNEL_STRIDE_WIDTH", plus=1)
    stride_y: int = bits("D_POOLING_KERNEL_CFG.KERNEL_STRIDE_HEIGHT", plus=1)
    reciprocal_width: int = bits("D_RECIP_KERNEL_WIDTH.RECIP_KERNEL_WIDTH")
    reciprocal_height: int = bits("D_RECIP_KERNEL_HEIGHT.RECIP_KERNEL_HEIGHT")
    nan_to_zero: int = bits("D_NAN_FLUSH_TO_ZERO.NAN_TO_ZERO")
    pad_left: int = bits("D_POOLING_PADDING_CFG.PAD_LEFT")
    pad_top: int = bits("D_POOLING_PADDING_CFG.PAD_TOP")
    pad_right: int = bits("D_POOLING_PADDING_CFG.PAD_RIGHT")
    pad_bottom: int = bits("D_POOLING_PADDING_CFG.PAD_BOTTOM")
    pad_1: int = bits("D_POOLING_PADDING_VALUE_1_CFG.PAD_VALUE_1X", signed=True)
    pad_2: int = bits("D_POOLING_PADDING_VALUE_2_CFG.PAD_VALUE_2X", signed=True)
    pad_3: int = bits("D_POOLING_PADDING_VALUE_3_CFG.PAD_VALUE_3X", signed=True)
    pad_4: int = bits("D_POOLING_PADDING_VALUE_4_CFG.PAD_VALUE_4X", signed=True)
    pad_5: int = bits("D_POOLING_PADDING_VALUE_5_CFG.PAD_VALUE_5X", signed=True)
    pad_6: int = bits("D_POOLING_PADDING_VALUE_6_CFG.PAD_VALUE_6X", signed=True)
    pad_7: int = bits("D_POOLING_PADDING_VALUE_7_CFG.PAD_VALUE_7X", signed=True)
    destination: int = address("D_DST_BASE_ADDR_HIGH", "D_DST_BASE_ADDR_LOW")
    line_stride: int = bits("D_DST_LINE_STRIDE")
    surface_stride: int = bits("D_DST_SURFACE_STRIDE")
    destination_mc: int = bits("D_DST_RAM_CFG.DST_RAM_TYPE")
    precision: int = bits("D_DATA_FORMAT.INPUT_DATA")

    @property
    def pads(self) -> list[int]:
        """Value that n missing elements add, by n."""
        return [
            0, self.pad_1, self.pad_2, self.pad_3, self.pad_4, self.pad_5, self.pad_6, self.pad_7
        ]  # fmt: skip


@dataclass(slots=True)
class PdpRdma(Params):
    """Registers of PDP_RDMA that matter for the result."""

    _block = "PDP_RDMA"

    width: int = bits("D_DATA_CUBE_IN_WIDTH.CUBE_IN_WIDTH", plus=1)
    height: int = bits("D_DATA_CUBE_IN_HEIGHT.CUBE_IN_HEIGHT", plus=1)
    channels: int = bits("D_DATA_CUBE_IN_CHANNEL.CUBE_IN_CHANNEL", plus=1)
    source: int = address("D_SRC_BASE_ADDR_HIGH", "D_SRC_BASE_ADDR_LOW")
    line_stride: int = bits("D_SRC_LINE_STRIDE")
    surface_stride: int = bits("D_SRC_SURFACE_STRIDE")
    source_mc: int = bits("D_SRC_RAM_CFG.SRC_RAM_TYPE")


@dataclass(slots=True)
class Odd:
    """NaN and infinite elements that were seen."""

    nan_inputs: int = 0
    infinite_inputs: int = 0
    nan_outputs: int = 0


def fetch(
    groups: Mapping[str, Sequence[int]], config: HardwareConfig, memory: tuple[Memory, Memory]
) -> NDArray[Any]:
    """Return the input cube from memory as [y, x, channel]."""
    view = _input(groups, config, memory)
    return view.transpose(1, 2, 0, 3).reshape(*view.shape[1:3], -1)


def _input(
    groups: Mapping[str, Sequence[int]], config: HardwareConfig, memory: tuple[Memory, Memory]
) -> NDArray[Any]:
    """View the input cube in memory as [surface, y, x, channel]."""
    r = PdpRdma.decode(groups["PDP_RDMA"])
    p = Pdp.decode(groups["PDP"])
    if (r.width, r.height, r.channels) != (p.width, p.height, p.channels):
        raise HardwareFault("PDP_RDMA", "the cube size differs from that in PDP")
    _check_precision(p, config)
    return memory[r.source_mc].cube(
        "PDP_RDMA",
        r.source,
        p.precision,
        (r.channels, r.height, r.width),
        r.line_stride,
        r.surface_stride,
        config.memory_atom,
    )


def _output(p: Pdp, config: HardwareConfig, memory: tuple[Memory, Memory]) -> NDArray[Any]:
    """View the output cube in memory as [surface, y, x, channel]."""
    return memory[p.destination_mc].cube(
        "PDP output",
        p.destination,
        p.precision,
        (p.out_channels, p.out_height, p.out_width),
        p.line_stride,
        p.surface_stride,
        config.memory_atom,
        write=True,
    )


def _check_precision(p: Pdp, config: HardwareConfig) -> None:
    if p.precision not in config.precisions:
        label = precisions.name(p.precision)
        raise HardwareFault("PDP", f"{config.name} has no precision {label}")


def run(
    groups: Mapping[str, Sequence[int]],
    config: HardwareConfig,
    memory: tuple[Memory, Memory],
    cube: NDArray[Any],
) -> Odd:
    """Pool a cube [y, x, channel] (padding channels included) and write the result."""
    p = Pdp.decode(groups["PDP"])
    _check_precision(p, config)
    if p.method not in METHODS:
        raise HardwareFault("PDP", f"pooling method {p.method} does not exist")
    if cube.shape[:2] != (p.height, p.width):
        raise HardwareFault(
            "PDP",
            f"the input is set to {p.width} x {p.height}, SDP delivers"
            f" {cube.shape[1]} x {cube.shape[0]}",
        )
    target = _output(p, config, memory)
    odd = Odd()
    cube = cube.astype(DTYPES[p.precision], copy=False)
    if p.precision == FP16:
        result = pool_half(p, _inspected(p, cube.view(np.uint16), odd))
        odd.nan_outputs = int(floats.is_nan_half(result.view(np.uint16)).sum())
    else:
        result = pool(p, cube)
    surfaces, _, _, atom = target.shape
    if result.shape[2] < surfaces * atom:
        raise HardwareFault("PDP", f"{p.out_channels} output channels from {p.channels}")
    part = result[:, :, : surfaces * atom].reshape(p.out_height, p.out_width, surfaces, atom)
    np.copyto(target, part.transpose(2, 0, 1, 3), casting="unsafe")
    return odd


def compiled(
    groups: Mapping[str, Sequence[int]], config: HardwareConfig, memory: tuple[Memory, Memory]
) -> PoolLayer | HalfPoolLayer | None:
    """The layer from memory to memory for the compiled function; None when numpy has to do it, or
    has to say what is wrong with it."""
    p = Pdp.decode(groups["PDP"])
    if p.precision not in config.precisions:
        return None
    method = METHODS.get(p.method)
    if method is None or not method.compiled:
        return None
    source, target = _input(groups, config, memory), _output(p, config, memory)
    over_y, over_x = _overhang(p)
    if over_y > MAX_OVERHANG or over_x > MAX_OVERHANG or source.shape[0] < target.shape[0]:
        return None
    if np.may_share_memory(source, target):
        return None
    if p.precision == FP16:
        return _compiled_half(p, source, target)
    low, high = RANGES[p.precision]
    pool_ = Pool(
        p.method, p.out_height, p.out_width, p.kernel_height, p.kernel_width, p.stride_y,
        p.stride_x, p.pad_top, p.pad_left, low if p.method == Pooling.MAX else high, (low, high),
        p.reciprocal_height, p.reciprocal_width, [*p.pads, *[0] * 9],
    )  # fmt: skip
    return PoolLayer(pool_, source, target)


def _compiled_half(p: Pdp, source: NDArray[Any], target: NDArray[Any]) -> HalfPoolLayer | None:
    rows = _valid(p.out_height, p.stride_y, p.kernel_height, p.pad_top, p.height)
    columns = _valid(p.out_width, p.stride_x, p.kernel_width, p.pad_left, p.width)
    if min(rows) < 1 or min(columns) < 1 or source.shape[0] != target.shape[0]:
        return None
    pads, down = _half_pads(p)
    job = HalfPool(
        p.method, p.out_height, p.out_width, p.kernel_height, p.kernel_width, p.stride_y,
        p.stride_x, p.pad_top, p.pad_left, bool(p.nan_to_zero), pads.tolist(), down.tolist(),
        float(floats.fp17(p.reciprocal_height)), float(floats.fp17(p.reciprocal_width)),
    )  # fmt: skip
    return HalfPoolLayer(job, source, target)


def _half_pads(p: Pdp) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """FP17 numbers that n missing columns, and lines, add."""
    pads = floats.fp17(np.array(p.pads) & 0x1FFFF)
    return pads, floats.multiply(pads, np.asarray(float(p.kernel_width)), floats.FP17)


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


def _extent(p: Pdp) -> tuple[int, int]:
    """Height and width of what the windows cover."""
    return (
        (p.out_height - 1) * p.stride_y + p.kernel_height,
        (p.out_width - 1) * p.stride_x + p.kernel_width,
    )


def _overhang(p: Pdp) -> tuple[int, int]:
    """How far windows reach past the input, below and on the right."""
    height, width = _extent(p)
    return height - p.pad_top - p.height, width - p.pad_left - p.width


def _frame(p: Pdp, cube: NDArray[Any], fill: Any, dtype: Any) -> NDArray[Any]:
    """Put the cube into a frame that covers all windows."""
    height, width = _extent(p)
    if max(_overhang(p)) > MAX_OVERHANG:
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


def _valid(count: int, stride: int, kernel: int, pad: int, size: int) -> NDArray[np.int64]:
    """Elements of each window that lie inside the input, along one axis."""
    start = np.arange(count) * stride - pad
    inside = np.minimum(start + kernel, size) - np.maximum(start, 0)
    return np.clip(inside, 0, kernel)


def pool(p: Pdp, cube: NDArray[Any]) -> NDArray[Any]:
    """Return the pooled cube [y, x, channel] of integers; average values are not yet cast."""
    return METHODS[p.method].integers(p, cube)


def _extreme(p: Pdp, cube: NDArray[Any]) -> NDArray[Any]:
    largest = p.method == Pooling.MAX
    fill = RANGES[p.precision][0 if largest else 1]
    return _fold(p, _frame(p, cube, fill, cube.dtype), np.maximum if largest else np.minimum)


def _average(p: Pdp, cube: NDArray[Any]) -> NDArray[Any]:
    rows = _valid(p.out_height, p.stride_y, p.kernel_height, p.pad_top, p.height)
    columns = _valid(p.out_width, p.stride_x, p.kernel_width, p.pad_left, p.width)
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
    pads, down = _half_pads(p)
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
    compiled: bool = False
    """``shim/native/int_pool.c`` computes it, too."""


METHODS: dict[int, Method] = {
    Pooling.AVERAGE: Method(_average, _average_half, compiled=True),
    Pooling.MAX: Method(_extreme, _extreme_half, compiled=True),
    Pooling.MIN: Method(_extreme, _extreme_half, compiled=True),
}
