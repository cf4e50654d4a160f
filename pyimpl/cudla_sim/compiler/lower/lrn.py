"""Local response normalisation by CDP: the factor by the sum of squares is a table.

The linear table LO has the factors of all sums; in fp16 the exponential table LE takes over above
its end. A table that is not wanted is placed where every value falls below it, and the priorities
prefer the other one. Source: nvdla hardware manual "CDP", "LUT programming".
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, floor, log2

import numpy as np

from cudla_sim.nvdla.descriptors import CdpOp, CdpSurface, CvtParam, LutParam, OpType
from cudla_sim.nvdla.facts.limits import CDP_START_BITS
from cudla_sim.nvdla.facts.precisions import FP16, INT8, RANGES
from cudla_sim.nvdla.facts.tables import LE_ENTRIES, LO_ENTRIES

from ..graph import Lrn
from . import lut, numbers
from .cubes import Cube
from .cuts import places
from .task import Task

_FACTOR_BITS = 14
_LOWEST = -16
"""Exponent of the first entry of LE."""


def _far(precision: int) -> int:
    """A sum that is never reached; for int8 one that CDP takes as it is."""
    return (1 << (CDP_START_BITS - 1 if precision == INT8 else 37)) - 1


def emit(task: Task, node: Lrn, source: Cube, target: Cube) -> None:
    """Append the operation."""
    cvt = CvtParam(1, 0, 1, 0)
    if source.precision == FP16:
        table = _half(node)
    else:
        table, unit = _integer(node, source.precision, source.scale)
        cvt = numbers.converter(unit * source.scale / target.scale)
    operation = CdpOp(
        in_precision=source.precision,
        out_precision=source.precision,
        lut_index=task.lut(table),
        in_cvt=CvtParam(1, 0, 1, 0),
        out_cvt=cvt,
        local_size=node.size,
    )
    for place in places(target):
        surface = CdpSurface(src=task.cube(source.box(*place)), dst=task.cube(target.box(*place)))
        task.append(OpType.CDP, replace(operation), surface, {source.buffer}, {target.buffer})


def _half(node: Lrn) -> LutParam:
    """LO ends where the factor has bent: where alpha / size * sum is many times k."""
    knee = node.k * node.size / max(node.alpha, 1e-6)
    select = min(max(floor(log2(knee / 8)), -8), 40)  # eight steps up to the knee
    sums = np.arange(LO_ENTRIES, dtype=np.float64) * 2.0**select
    above = 2.0 ** (np.arange(LE_ENTRIES, dtype=np.float64) + _LOWEST)
    return LutParam(
        linear_only_table=lut.halves(node.factor(sums)),
        linear_only_offset=select,
        linear_only_end=lut.single(float(sums[-1])),
        linear_exp_table=lut.halves(node.factor(above)),
        linear_exp_offset=_LOWEST,
        linear_exp_end=lut.single(float(above[-1])),
        **lut.PREFER_LO,
    )


def _integer(node: Lrn, precision: int, scale: float) -> tuple[LutParam, float]:
    """The table for integers of *scale*, and the real value of one step of its factors."""
    largest = node.size * float(RANGES[precision][0]) ** 2
    select = ceil(log2((largest + 1) / (LO_ENTRIES - 1)))
    sums = np.arange(LO_ENTRIES, dtype=np.float64) * 2.0**select
    # a value equal to the start counts as below it, so the table starts one step earlier
    factors = node.factor(np.maximum(sums - 1, 0) * scale**2)
    unit = float(factors.max()) / (1 << _FACTOR_BITS)
    end = (LO_ENTRIES - 1) << select
    return lut.linear(lut.integers(factors / unit), -1, end, select, _far(precision)), unit
