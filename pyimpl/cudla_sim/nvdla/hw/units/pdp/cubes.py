"""What PDP reads and writes, and how windows lie on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....errors import HardwareFault
from ....facts import precisions
from ....facts.configs import HardwareConfig
from ....facts.modes import Pooling
from ....facts.precisions import INT8, RANGES
from ... import floats
from ...memory import Memory
from .registers import Pdp, PdpRdma

MAX_OVERHANG = 16
"""Elements that windows may reach past the input."""


def fetch(
    groups: Mapping[str, Sequence[int]], config: HardwareConfig, memory: tuple[Memory, Memory]
) -> NDArray[Any]:
    """Return the input cube from memory as [y, x, channel]."""
    view = source(groups, config, memory)
    return view.transpose(1, 2, 0, 3).reshape(*view.shape[1:3], -1)


def source(
    groups: Mapping[str, Sequence[int]], config: HardwareConfig, memory: tuple[Memory, Memory]
) -> NDArray[Any]:
    """View the input cube in memory as [surface, y, x, channel]."""
    r = PdpRdma.decode(groups["PDP_RDMA"])
    p = Pdp.decode(groups["PDP"])
    if (r.width, r.height, r.channels) != (p.width, p.height, p.channels):
        raise HardwareFault("PDP_RDMA", "the cube size differs from that in PDP")
    if r.splits != p.splits:
        raise HardwareFault("PDP_RDMA", f"SPLIT_NUM says {r.splits} stripes, PDP's {p.splits}")
    check_precision(p, config)
    return memory[r.source_mc].cube(
        "PDP_RDMA",
        r.source,
        p.precision,
        (r.channels, r.height, r.width),
        r.line_stride,
        r.surface_stride,
        config.memory_atom,
    )


def target(p: Pdp, config: HardwareConfig, memory: tuple[Memory, Memory]) -> NDArray[Any]:
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


def check_precision(p: Pdp, config: HardwareConfig) -> None:
    if p.precision not in config.precisions:
        label = precisions.name(p.precision)
        raise HardwareFault("PDP", f"{config.name} has no precision {label}")


def can_overflow(p: Pdp, config: HardwareConfig) -> bool:
    """Whether averages of int8 may leave the adders and multipliers of a chip, which cut them: they
    fit when reciprocals and pads are those of the kernel.

    Source: nvdla/hw master ``vmod/nvdla/pdp/NV_NVDLA_PDP_CORE_cal1d.v``, ``cal2d``.
    """
    if p.method != Pooling.AVERAGE or p.precision != INT8 or config.line != "master":
        return False
    low, high = RANGES[INT8]
    one = 1 << 16
    return (
        p.reciprocal_width * p.kernel_width > one + p.kernel_width
        or p.reciprocal_height * p.kernel_height > one + p.kernel_height
        or any(not low * n <= pad <= high * n for n, pad in enumerate(p.pads))
    )


def half_pads(p: Pdp) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """FP17 numbers that n missing columns, and lines, add."""
    pads = floats.fp17(np.array(p.pads) & 0x1FFFF)
    return pads, floats.multiply(pads, np.asarray(float(p.kernel_width)), floats.FP17)


def extent(p: Pdp) -> tuple[int, int]:
    """Height and width of what the windows cover."""
    return (
        (p.out_height - 1) * p.stride_y + p.kernel_height,
        (p.out_width - 1) * p.stride_x + p.kernel_width,
    )


def overhang(p: Pdp) -> tuple[int, int]:
    """How far windows reach past the input, below and on the right."""
    height, width = extent(p)
    return height - p.pad_top - p.height, width - p.pad_left - p.width


def inside(count: int, stride: int, kernel: int, pad: int, size: int) -> NDArray[np.int64]:
    """Elements of each window that lie inside the input, along one axis."""
    start = np.arange(count) * stride - pad
    inside = np.minimum(start + kernel, size) - np.maximum(start, 0)
    return np.clip(inside, 0, kernel)
