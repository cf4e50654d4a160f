"""Filling the look-up tables of SDP and CDP.

SDP curves use the linear table LO over the whole input range. CDP factors use LO over the sums of
squares; in fp16 the exponential table LE takes over above its end. A table that is not wanted is
placed where every value falls below it, and the priorities prefer the other one.
Source: nvdla hardware manual "LUT programming".
"""

from __future__ import annotations

from math import ceil, floor, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..descriptors import LutParam
from ..facts.precisions import FP16, INT8, INT16, RANGES
from ..facts.tables import LE_ENTRIES, LO_ENTRIES
from .layers import CURVES, Curve, Normalise

_EXTRA_BITS = 8
_FACTOR_BITS = 14
_CURVE_END, _CURVE_STEP = 8.0, -4
_LRN_LOWEST = -16


def _integers(values: NDArray[Any]) -> list[int]:
    return [int(item) for item in np.clip(np.rint(values), *RANGES[INT16])]


def _halves(values: NDArray[Any]) -> list[int]:
    return [int(item) for item in values.astype(np.float16).view(np.int16)]


def _single(value: float) -> int:
    return int(np.float32(value).view(np.uint32))


def _linear_only(values: list[int], start: int, end: int, select: int, far: int) -> LutParam:
    """Use LO for everything; *far* is a start of LE above all values."""
    return LutParam(
        linear_only_table=values,
        linear_only_offset=select,
        linear_only_start=start & 0xFFFFFFFFFFFFFFFF,
        linear_only_end=end & 0xFFFFFFFFFFFFFFFF,
        linear_exp_start=far,
        linear_exp_end=far,
        hybrid_priority=1,
        underflow_priority=1,
        overflow_priority=1,
    )


def curve(layer: Curve, precision: int) -> tuple[LutParam, int]:
    """Table of a function, and how many bits its integers have below the output scale."""
    function = CURVES[layer.function]
    steps = np.arange(LO_ENTRIES, dtype=np.float64)
    if precision == FP16:
        points = -_CURVE_END + steps * 2.0**_CURVE_STEP
        start, end = _single(-_CURVE_END), _single(_CURVE_END)
        return _linear_only(_halves(function(points)), start, end, _CURVE_STEP, _single(3e38)), 0
    # a value equal to the start counts as below it, so the table starts one step earlier
    low, high = RANGES[precision]
    select, bits = (0, _EXTRA_BITS) if precision == INT8 else (8, 0)
    points = (low - 1 + steps * float(1 << select)) * layer.inputs[0].scale
    values = _integers(function(points) / layer.output.scale * (1 << bits))
    return _linear_only(values, low - 1, high + 1, select, (1 << 31) - 1), bits


def normalise(layer: Normalise, precision: int) -> tuple[LutParam, float]:
    """Table of the factor by the sum of squares, and the real value of one step of it."""
    steps = np.arange(LO_ENTRIES, dtype=np.float64)
    if precision == FP16:
        # the factor bends where alpha / size * sum reaches k: eight steps up to there
        knee = layer.k * layer.size / max(layer.alpha, 1e-6)
        select = min(max(floor(log2(knee / 8)), -8), 40)
        lut = LutParam(
            linear_only_table=_halves(layer.factor(steps * 2.0**select)),
            linear_only_offset=select,
            linear_only_end=_single(256 * 2.0**select),
            linear_exp_table=_halves(
                layer.factor(2.0 ** (np.arange(LE_ENTRIES, dtype=np.float64) + _LRN_LOWEST))
            ),
            linear_exp_offset=_LRN_LOWEST,
            linear_exp_end=_single(2.0 ** (64 + _LRN_LOWEST)),
            hybrid_priority=1,
            underflow_priority=1,
            overflow_priority=1,
        )
        return lut, 1.0
    largest = layer.size * float(RANGES[precision][0]) ** 2
    select = ceil(log2((largest + 1) / 256))
    points = np.maximum(steps * 2.0**select - 1, 0) * layer.inputs[0].scale ** 2
    factors = layer.factor(points)
    unit = float(factors.max()) / (1 << _FACTOR_BITS)
    far = (1 << 37) - 1
    return _linear_only(_integers(factors / unit), -1, 256 << select, select, far), unit
