"""Look-up tables of SDP-Y for curves.

Integers: table LO has 257 entries over 256 equal steps of its domain and interpolates; outside,
a slope continues. Its outputs are scaled so that the largest is near 2**15, the converter divides.
In fp16 the entries are halves. LE is moved out of the way, LO has every priority.
Source: nvdla hardware manual "LUT programming"; facts on the index and its 35 fraction bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.descriptors import LutParam, Slope
from cudla_sim.nvdla.facts.precisions import FP16_TOP, INT16_TOP
from cudla_sim.nvdla.facts.tables import LO_ENTRIES

from ..curves import CURVES
from ..graph import Curve

_FAR = (1 << 31) - 1
"""An input that is never reached: LE lies there, behind the range of LO."""

PREFER_LO: dict[str, Any] = {"hybrid_priority": 1, "underflow_priority": 1, "overflow_priority": 1}

_STRAIGHT: dict[str, tuple[float, float, float]] = {
    "Sigmoid": (10.0, 0.0, 0.0),
    "Tanh": (6.0, 0.0, 0.0),
    "HardSigmoid": (4.0, 0.0, 0.0),
    "SiLU": (12.0, 0.0, 1.0),
    "GELU": (6.0, 0.0, 1.0),
    "GELUTanh": (6.0, 0.0, 1.0),
    "Mish": (12.0, 0.0, 1.0),
    "HardSwish": (4.0, 0.0, 1.0),
    "Softplus": (12.0, 0.0, 1.0),
    "Erf": (4.0, 0.0, 0.0),
    "Elu": (10.0, 0.0, 1.0),
    "Selu": (10.0, 0.0, 1.05070098735548),
    "Celu": (10.0, 0.0, 1.0),
}
"""Beyond which magnitude a curve is straight, and its slopes below and above."""


def _straight(curve: Curve) -> tuple[float, float, float] | None:
    """Where a curve with its parameters becomes straight; corners lie on entries of the table."""
    found = _STRAIGHT.get(curve.function)
    given = curve.parameters
    if found is None or not given:
        return found
    reach, below, above = found
    if curve.function == "HardSigmoid":
        alpha, beta = given.get("alpha", 0.2), given.get("beta", 0.5)
        corner = max(abs(beta), abs(1 - beta)) / max(abs(alpha), 1e-6)
        return corner * 4 / 3, below, above
    if curve.function == "SiLU":
        return reach / max(abs(given.get("beta", 1.0)), 1e-3), below, above
    if curve.function == "Celu":
        return reach * max(given.get("alpha", 1.0), 0.1), below, above
    if curve.function == "Selu":
        return reach, below, given.get("gamma", above)
    return found


@dataclass(frozen=True, slots=True)
class Table:
    """A table, and the real value of one step of its output."""

    lut: LutParam
    unit: float


def evaluate(curve: Curve, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The function, with finite values everywhere."""
    with np.errstate(all="ignore"):
        values = CURVES[curve.function](points, **curve.parameters)
    finite = np.asarray(values)[np.isfinite(values)]
    top = float(np.abs(finite).max()) if len(finite) else 0.0
    return np.nan_to_num(np.asarray(values, np.float64), nan=0.0, posinf=top, neginf=-top)


def domain(curve: Curve, largest: float) -> tuple[float, float]:
    """The part of the axis that a table must cover when inputs reach *largest*."""
    straight = _straight(curve)
    if straight is not None:
        corner = straight[0]
        largest = min(largest, corner)
    if curve.function in ("Sqrt", "Log") or (
        curve.function == "Pow" and not float(curve.parameters.get("exponent", 2.0)).is_integer()
    ):
        return 0.0, largest
    return -largest, largest


def _slopes(curve: Curve, low: float, high: float) -> tuple[float, float]:
    """Slopes outside the domain."""
    straight = _straight(curve)
    if straight is not None and max(-low, high) >= straight[0] * (1 - 1e-6):
        return straight[1], straight[2]
    step = (high - low) / 256
    ends = evaluate(curve, np.array([low, low + step, high - step, high]))
    if not np.isfinite(ends).all():
        return 0.0, 0.0
    return (ends[1] - ends[0]) / step, (ends[3] - ends[2]) / step


def _fixed_slope(real: float) -> Slope:
    if real == 0.0:
        return Slope()
    shift = min(max(floor(log2(INT16_TOP / abs(real))), -16), 15)
    scale = int(np.clip(np.rint(real * 2.0**shift), -INT16_TOP, INT16_TOP))
    return Slope(scale=scale, shifter=shift)


def integers(values: NDArray[np.float64]) -> list[int]:
    """Entries of an integer table."""
    return [int(item) for item in np.clip(np.rint(values), -INT16_TOP, INT16_TOP)]


def halves(values: NDArray[np.float64]) -> list[int]:
    """Entries of an fp16 table: patterns as int16."""
    return [
        int(item) for item in np.clip(values, -FP16_TOP, FP16_TOP).astype(np.float16).view("i2")
    ]


def single(value: float) -> int:
    """The pattern of a float32, as starts and ends have it in fp16."""
    return int(np.float32(value).view(np.uint32))


def linear(
    entries: list[int],
    start: int,
    end: int,
    select: int,
    far: int,
    slopes: tuple[Slope, Slope] = (Slope(), Slope()),
) -> LutParam:
    """A table of LO alone, with steps of 2**select; *far* is a start of LE above all values.
    *slopes* go on below and above."""
    return LutParam(
        linear_only_table=entries,
        linear_only_offset=select,
        linear_only_start=start & 0xFFFFFFFFFFFFFFFF,
        linear_only_end=end & 0xFFFFFFFFFFFFFFFF,
        linear_exp_start=far,
        linear_exp_end=far,
        linear_only_underflow_slope=slopes[0],
        linear_only_overflow_slope=slopes[1],
        **PREFER_LO,
    )


def integer(curve: Curve, unit: float, largest: float, codes: int = 0) -> Table:
    """Table for integer inputs of *unit* (real value of one step) up to *largest* (real).

    With *codes*, inputs are the integers -codes - 1 ... codes themselves: an entry for each.
    """
    if codes:
        low, select = -codes - 2, max(ceil(log2((2 * codes + 2) / 256)), 0)
    else:
        start, end = domain(curve, largest)
        select = max(ceil(log2(max(end - start, 1e-30) / unit / 256) - 1e-9), 0)
        low = floor(start / unit)
    high = low + (256 << select)
    points = (low + np.arange(LO_ENTRIES, dtype=np.float64) * (1 << select)) * unit
    values = evaluate(curve, points)
    top = float(np.abs(values).max()) or 1.0
    out = top / INT16_TOP
    below, above = _slopes(curve, low * unit, high * unit)
    slopes = _fixed_slope(below * unit / out), _fixed_slope(above * unit / out)
    return Table(linear(integers(values / out), low, high, select, _FAR, slopes), out)


def best_unit(curve: Curve, largest: float, bits: int = 8) -> float:
    """Real value of one input step with which the domain is 256 steps of 2**bits."""
    start, end = domain(curve, largest)
    return max(end - start, 1e-30) / (256 << bits)


def half(curve: Curve, largest: float = 8.0) -> Table:
    """Table for fp16 inputs; the domain is a power of two around *largest*."""
    straight = _straight(curve)
    reach = largest if straight is None else min(largest, straight[0])
    select = ceil(log2(2 * reach / 256))
    start = -(LO_ENTRIES // 2) * 2.0**select
    positive = domain(curve, 1.0)[0] == 0.0
    if positive:
        start, select = 0.0, select
    points = start + np.arange(LO_ENTRIES, dtype=np.float64) * 2.0**select
    low, high = float(points[0]), float(points[-1])
    below, above = (Slope(scale=halves(np.array([s]))[0]) for s in _slopes(curve, low, high))
    entries = halves(evaluate(curve, points))
    far = single(3e38)
    return Table(linear(entries, single(low), single(high), select, far, (below, above)), 1.0)
