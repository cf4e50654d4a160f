"""Poolings for the compiled functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....constants.native_types import sim_half_pool, sim_pool
from .....native.halves import HalfPoolLayer
from .....native.planes import PoolLayer
from ....facts.configs import HardwareConfig
from ....facts.modes import Pooling
from ....facts.precisions import FP16, RANGES
from ... import floats
from ...memory import Memory
from . import cubes
from .registers import Pdp

COMPILED = (Pooling.AVERAGE, Pooling.MAX, Pooling.MIN)
"""Methods that ``shim/native/int_pool.c`` and ``half_pool.c`` compute."""


def compiled(
    groups: Mapping[str, Sequence[int]], config: HardwareConfig, memory: tuple[Memory, Memory]
) -> PoolLayer | HalfPoolLayer | None:
    """The layer from memory to memory for the compiled function; None when numpy has to do it, or
    has to say what is wrong with it."""
    p = Pdp.decode(groups["PDP"])
    if p.precision not in config.precisions:
        return None
    if p.method not in COMPILED or cubes.can_overflow(p, config):
        return None
    source, target = cubes.source(groups, config, memory), cubes.target(p, config, memory)
    over_y, over_x = cubes.overhang(p)
    if (
        over_y > cubes.MAX_OVERHANG
        or over_x > cubes.MAX_OVERHANG
        or source.shape[0] < target.shape[0]
    ):
        return None
    if np.may_share_memory(source, target):
        return None
    if p.precision == FP16:
        return _compiled_half(p, source, target)
    low, high = RANGES[p.precision]
    job = sim_pool(
        method=p.method,
        out_height=p.out_height,
        out_width=p.out_width,
        kernel_y=p.kernel_height,
        kernel_x=p.kernel_width,
        stride_y=p.stride_y,
        stride_x=p.stride_x,
        pad_top=p.pad_top,
        pad_left=p.pad_left,
        fill=low if p.method == Pooling.MAX else high,
        low=low,
        high=high,
        reciprocal_y=p.reciprocal_height,
        reciprocal_x=p.reciprocal_width,
        pads=p.pads,
    )
    return PoolLayer(job, source, target)


def _compiled_half(p: Pdp, source: NDArray[Any], target: NDArray[Any]) -> HalfPoolLayer | None:
    rows = cubes.inside(p.out_height, p.stride_y, p.kernel_height, p.pad_top, p.height)
    columns = cubes.inside(p.out_width, p.stride_x, p.kernel_width, p.pad_left, p.width)
    if min(rows) < 1 or min(columns) < 1 or source.shape[0] != target.shape[0]:
        return None
    pads, down = cubes.half_pads(p)
    job = sim_half_pool(
        method=p.method,
        out_height=p.out_height,
        out_width=p.out_width,
        kernel_y=p.kernel_height,
        kernel_x=p.kernel_width,
        stride_y=p.stride_y,
        stride_x=p.stride_x,
        pad_top=p.pad_top,
        pad_left=p.pad_left,
        nan_to_zero=bool(p.nan_to_zero),
        across=pads.tolist(),
        down=down.tolist(),
        reciprocal_y=float(floats.fp17(p.reciprocal_height)),
        reciprocal_x=float(floats.fp17(p.reciprocal_width)),
    )
    return HalfPoolLayer(job, source, target)
