"""PDP, the planar data processor: maximum, minimum and average pooling.

Source: nvdla/hw ``cmod/pdp/NV_NVDLA_pdp.cpp`` and ``cmod/include/NvdlaAvgPooling.h``. Splitting
a wide cube into stripes does not change the result and is ignored here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.errors import HardwareFault
from cudla_sim.nvdla.hw.arithmetic import RANGES, rounding_shift
from cudla_sim.nvdla.hw.configs import FP16, HardwareConfig
from cudla_sim.nvdla.hw.fields import Params, address, bits
from cudla_sim.nvdla.hw.memory import DTYPES, Memory

AVERAGE, MAXIMUM, MINIMUM = 0, 1, 2


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
    off_flying: int = bits("D_OPERATION_MODE_CFG.FLYING_MODE")
    kernel_width: int = bits("D_POOLING_KERNEL_CFG.KERNEL_WIDTH", plus=1)
    kernel_height: int = bits("D_POOLING_KERNEL_CFG.KERNEL_HEIGHT", plus=1)
    stride_x: int = bits("D_POOLING_KERNEL_CFG.KERNEL_STRIDE_WIDTH", plus=1)
    stride_y: int = bits("D_POOLING_KERNEL_CFG.KERNEL_STRIDE_HEIGHT", plus=1)
    reciprocal_width: int = bits("D_RECIP_KERNEL_WIDTH.RECIP_KERNEL_WIDTH")
    reciprocal_height: int = bits("D_RECIP_KERNEL_HEIGHT.RECIP_KERNEL_HEIGHT")
    pad_left: int = bits("D_POOLING_PADDING_CFG.PAD_LEFT")
    pad_top: int = bits("D_POOLING_PADDING_CFG.PAD_TOP")
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


def fetch(
    groups: Mapping[str, Sequence[int]], config: HardwareConfig, memory: tuple[Memory, Memory]
) -> NDArray[Any]:
    """Return the input cube from memory as [y, x, channel]."""
    r = PdpRdma.decode(groups["PDP_RDMA"])
    p = Pdp.decode(groups["PDP"])
    if (r.width, r.height, r.channels) != (p.width, p.height, p.channels):
        raise HardwareFault("PDP_RDMA", "the cube size differs from that in PDP")
    _check_precision(p, config)
    view = memory[r.source_mc].cube(
        "PDP_RDMA",
        r.source,
        p.precision,
        (r.channels, r.height, r.width),
        r.line_stride,
        r.surface_stride,
        config.memory_atom,
    )
    return view.transpose(1, 2, 0, 3).reshape(r.height, r.width, -1)


def _check_precision(p: Pdp, config: HardwareConfig) -> None:
    if p.precision not in config.precisions:
        label = ("int8", "int16", "fp16", "3")[p.precision]
        raise HardwareFault("PDP", f"{config.name} has no precision {label}")


def run(
    groups: Mapping[str, Sequence[int]],
    config: HardwareConfig,
    memory: tuple[Memory, Memory],
    cube: NDArray[Any],
) -> None:
    """Pool a cube [y, x, channel] (padding channels included) and write the result."""
    p = Pdp.decode(groups["PDP"])
    _check_precision(p, config)
    if p.method > MINIMUM:
        raise HardwareFault("PDP", f"pooling method {p.method} does not exist")
    if cube.shape[:2] != (p.height, p.width):
        raise HardwareFault(
            "PDP",
            f"the input is set to {p.width} x {p.height}, SDP delivers"
            f" {cube.shape[1]} x {cube.shape[0]}",
        )
    target = memory[p.destination_mc].cube(
        "PDP output",
        p.destination,
        p.precision,
        (p.out_channels, p.out_height, p.out_width),
        p.line_stride,
        p.surface_stride,
        config.memory_atom,
        write=True,
    )
    result = pool(p, cube.astype(DTYPES[p.precision], copy=False))
    surfaces, _, _, atom = target.shape
    if result.shape[2] < surfaces * atom:
        raise HardwareFault("PDP", f"{p.out_channels} output channels from {p.channels}")
    part = result[:, :, : surfaces * atom].reshape(p.out_height, p.out_width, surfaces, atom)
    np.copyto(target, part.transpose(2, 0, 1, 3), casting="unsafe")


def _frame(p: Pdp, cube: NDArray[Any], fill: Any, dtype: Any) -> NDArray[Any]:
    """Put the cube into a frame that covers all windows."""
    height = (p.out_height - 1) * p.stride_y + p.kernel_height
    width = (p.out_width - 1) * p.stride_x + p.kernel_width
    if height - p.pad_top - p.height > 16 or width - p.pad_left - p.width > 16:
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
    """Return the pooled cube [y, x, channel]; average values are not yet cast."""
    if p.method != AVERAGE:
        if p.precision == FP16:
            fill: float = -np.inf if p.method == MAXIMUM else np.inf
        else:
            fill = RANGES[p.precision][0 if p.method == MAXIMUM else 1]
        combine = np.maximum if p.method == MAXIMUM else np.minimum
        return _fold(p, _frame(p, cube, fill, cube.dtype), combine)
    rows = _valid(p.out_height, p.stride_y, p.kernel_height, p.pad_top, p.height)
    columns = _valid(p.out_width, p.stride_x, p.kernel_width, p.pad_left, p.width)
    if p.precision == FP16:
        total = _fold(p, _frame(p, cube, 0, np.float32), np.add)
        return _scale_float(p, total)
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


def _scale_float(p: Pdp, total: NDArray[np.float32]) -> NDArray[Any]:
    """Multiply by the reciprocals, FP17 patterns (6-bit exponent, bias 31, 10-bit mantissa)."""
    for pattern in (p.reciprocal_width, p.reciprocal_height):
        total = total * np.float32(fp17(pattern))
    return np.clip(total, -65504.0, 65504.0).astype(np.float16)


def fp17(pattern: int) -> float:
    """Value of an FP17 pattern."""
    exponent = pattern >> 10 & 0x3F
    if exponent == 0 and not pattern & 0x3FF:
        return 0.0
    value = (1.0 + (pattern & 0x3FF) / 1024.0) * 2.0 ** (exponent - 31)
    return -value if pattern >> 16 & 1 else value
