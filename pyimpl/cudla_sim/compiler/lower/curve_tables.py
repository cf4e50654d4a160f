"""Where the entries of SDP's two look-up tables go, for one curve over one range of inputs.

LO has 257 entries in equal steps; LE has 65, in equal steps or at distances from its start that
double. One of them takes the bend, the other one the range, by the hardware's own priorities;
candidates are compared by what hardware would compute from them. Outside, a curve goes on with a
slope only where that leaves none of its bounds.
Source: nvdla hardware manual "LUT programming".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from math import ceil, floor, log2, log10, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.descriptors import LutParam, Slope
from cudla_sim.nvdla.facts.precisions import FP16_TOP, INT8_TOP, INT16_TOP
from cudla_sim.nvdla.facts.tables import LE_ENTRIES, LO_ENTRIES

from .. import curves
from ..graph import Curve
from . import lut

Real = NDArray[np.float64]
_Key = tuple[str, tuple[tuple[str, float], ...]]
"""A function and its parameters."""

_FAR = (1 << 31) - 1
"""An integer input that is never reached: an unused LE lies there."""
_HALF_FAR = 3e38
_FINE = 20
"""An integer input counts 2**-20 of the part of the axis where the curve bends."""
_LEVELS = 12
"""Steps are tried down to 2**-12 of those that reach over the whole range."""
_POINTS = 1025
_MARGIN = 1.05
"""Results beyond the largest one by so much are still wanted."""
_HEADROOM = 1.25
"""An entry just outside of the range may be this much larger than the results in it."""
_FAR_COUNT = 1 / 1024
_LEAST = 2.0**-14
"""The least half that is not subnormal."""
"""What an input counts that is larger than usual, or near a bend, where nothing is known."""
_BEST = 4
"""Tables of LO that are tried with tables of LE."""
_OFTEN = 401
_ENOUGH = (100.0, 90.0)
"""Decibels with which LO alone is as good as integers, and halves, can be."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What is known of a curve: its least and largest input, the largest magnitude of its results,
    real. Not *measured*, it may take other inputs, too, and small results count as large ones."""

    low: float
    high: float
    top: float = FP16_TOP
    measured: bool = True
    usual: bool = False
    """Nothing is known: the range is what such curves mostly have."""


@dataclass(frozen=True, slots=True)
class Table:
    """Parameters, the real value of one step of the output, and how far the values in the range
    of the inputs are from the curve: 10 log10 (signal / noise)."""

    lut: LutParam
    unit: float
    decibels: float


@dataclass(frozen=True, slots=True)
class _Part:
    """One table: entries at *start* + *step* * 0, 1, 2, ..., or * 1, 2, 4, ... (exponential)."""

    start: float
    step: float
    entries: int
    exponential: bool = False

    @property
    def nodes(self) -> Real:
        count = np.arange(self.entries, dtype=np.float64)
        return self.start + self.step * (2.0**count if self.exponential else count)

    def misses(self, x: Real) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Inputs below, and above."""
        nodes = self.nodes
        under = x < nodes[0] if self.exponential else x <= nodes[0]
        return under, ~under & (x >= nodes[-1])


@dataclass(frozen=True, slots=True)
class _Tables:
    """Both tables, and who answers (0 LE, 1 LO) if both hit, or both miss below or above."""

    lo: _Part
    le: _Part | None = None
    hybrid: int = 1
    under: int = 1
    over: int = 1

    @property
    def end(self) -> float:
        """The last entry of LO."""
        return float(self.lo.nodes[-1])


class _Problem:
    """A curve over a range; *unit* is the real value of an integer input (None in fp16)."""

    def __init__(self, key: _Key, inputs: Inputs, unit: float | None) -> None:
        self.function, self.parameters = key[0], dict(key[1])
        self.unit, self.top = unit, inputs.top
        self.bounds = curves.bounds(self.function, self.parameters)
        self.straight = curves.straight(self.function, self.parameters)
        low, high = _within(self, inputs)
        self.low, self.high = low, high
        spread = np.linspace(low, high, _POINTS)
        near = (high - low) * 2.0 ** -np.arange(1.0, 16.0)
        bend = self._bends(spread)
        close = np.concatenate([center + np.concatenate([near, -near]) for center in bend])
        self.spread = spread
        self.x = np.concatenate([spread, close[(close > low) & (close < high)]])
        self.bends = bend
        self.measured = inputs.measured
        self.scaleless = inputs.usual and self.function in curves.SCALELESS
        if not inputs.measured:
            first = _LEAST if self.scaleless else max(abs(low), abs(high))
            far = np.geomspace(first, FP16_TOP, 255 if self.scaleless else 64)[1:]
            defined = curves.defined(self.function, self.parameters)
            self.x = np.concatenate([self.x, far, -far[-far > defined]])
        self.y = self.evaluate(self.x)
        # what would have larger results than there are is no input: both sides of a pole
        self.wanted = self.possible(self.x)
        self.often = self._often(inputs)
        self.often = self.often[self.possible(self.often)]
        self.often_y = self.evaluate(self.often)
        size = np.abs(self.y)
        self.peak = float(size.max()) or 1.0
        self.weight = 1 / (size + float(np.median(size)) + 1e-30)
        usual = np.arange(len(self.x)) < _POINTS
        self.counts = np.where(usual == self.scaleless, _FAR_COUNT, 1.0)
        if self.scaleless:
            octaves = np.log2(np.abs(self.x) + _LEAST)
            seldom = 1 / 4 if curves.pole(self.function, self.parameters) else 1.0
            self.counts *= np.where(self.x < 0, seldom, 1.0) / (1 + ((octaves - 2) / 4) ** 2)
            self.weight = 1 / (size + 1e-30)
        self._all = np.concatenate([self.x, self.often])
        self._answers: dict[_Part, tuple[Real, NDArray[np.bool_], NDArray[np.bool_]]] = {}

    def _often(self, inputs: Inputs) -> Real:
        """Inputs as activations mostly are: normally distributed around 0, or around what is next
        to it, with the largest ones four deviations away."""
        around = min(max(0.0, inputs.low), inputs.high)
        points = around + (inputs.high - inputs.low) / 8 * _quantiles()
        return points[(points >= self.low) & (points <= self.high)]

    def possible(self, points: Real) -> NDArray[np.bool_]:
        """Points with results that are wanted."""
        with np.errstate(all="ignore"):
            values = np.asarray(curves.CURVES[self.function](points, **self.parameters))
        return np.abs(np.nan_to_num(values, nan=np.inf)) <= self.top * _MARGIN

    def evaluate(self, points: Real) -> Real:
        """The function, with finite values everywhere."""
        with np.errstate(all="ignore"):
            values = np.asarray(curves.CURVES[self.function](points, **self.parameters), np.float64)
        most = min(self.top * _HEADROOM, FP16_TOP if self.unit is None else np.inf)
        values = np.nan_to_num(values, nan=0.0, posinf=most, neginf=-most)
        return np.clip(values, max(self.bounds[0], -most), min(self.bounds[1], most))

    def _bends(self, spread: Real) -> list[float]:
        """Where the curve bends most, and 0."""
        values = self.evaluate(spread)
        bent = np.abs(np.diff(values, 2))
        found = [float(spread[1 + int(bent.argmax())])] if bent.any() else []
        if self.low <= 0 <= self.high:
            found.append(0.0)
        return found or [self.low]

    # -- candidates ---------------------------------------------------------------------------

    def step(self, level: int) -> float:
        """A power of two, in units."""
        return 2.0**level if self.unit is None else self.unit * 2.0 ** max(level, 0)

    def level(self, length: float) -> int:
        """The smallest step that is as long as this."""
        return ceil(log2(max(length, 1e-300) / (self.unit or 1.0)) - 1e-9)

    def at(self, start: float, step: float) -> float:
        """A place where a table can start: a whole number of units, or of steps, from 0."""
        if self.unit is not None:
            return floor(start / self.unit + 1e-9) * self.unit
        return float(np.float32(floor(start / step + 1e-9) * step))

    def los(self) -> Iterator[_Part]:
        """Tables of LO: over the whole range, over halves of it, and so on, around the bends."""
        whole = self.level((self.high - self.low) / (LO_ENTRIES - 1))
        for level in range(whole + 1, whole - _LEVELS, -1):
            step = self.step(level)
            length = step * (LO_ENTRIES - 1)
            starts = {self.low - step, self.low, self.high - length}
            for bend in self.bends:
                starts |= {bend - length / 2, bend, bend - length}
            if self.scaleless:  # LE has what lies below
                starts |= {length / 256, length / 64, length / 16}
            for start in dict.fromkeys(self.at(item, step) for item in sorted(starts)):
                yield _Part(start, step, LO_ENTRIES)
            if self.unit is not None and level <= 0:
                return

    def les(self, errors: Real) -> Iterator[_Part]:
        """Tables of LE where the *errors* of another table on the spread points are largest."""
        span = self.high - self.low
        whole = self.level(span / (LE_ENTRIES - 1))
        total = np.concatenate([[0.0], np.cumsum(errors**2)])
        for level in range(whole + 1, whole - _LEVELS, -1):
            step = self.step(level)
            length = step * (LE_ENTRIES - 1)
            count = min(max(round(length / span * (_POINTS - 1)), 1), _POINTS)
            best = int((total[count:] - total[:-count]).argmax())
            middle = float(self.spread[min(best + count // 2, _POINTS - 1)])
            last = max(self.high - length, self.low)
            centers = [middle, *self.bends]
            starts = [min(max(one - length / 2, self.low - step), last) for one in centers]
            starts += [self.low, self.low - step] if level >= whole else []
            for start in dict.fromkeys(self.at(item, step) for item in starts):
                yield _Part(start, step, LE_ENTRIES)
        for start in dict.fromkeys([self.low, *self.bends]):
            for halvings in range(1, 22, 2):
                step = self.step(self.level(span / 2.0**halvings))
                if self.unit is None or step * 2.0 ** (LE_ENTRIES - 1) < self.unit * 2.0**62:
                    yield _Part(self.at(start, step), step, LE_ENTRIES, exponential=True)

    def candidates(self) -> Iterator[_Tables]:
        """LO alone, then the best of those with a table of LE."""
        alone = [_Tables(part) for part in self.los()]
        alone.sort(key=self.score)
        yield alone[0]
        if self.decibels(alone[0]) > _ENOUGH[self.unit is None]:
            return
        whole = {
            item.lo.step: item
            for item in reversed(alone)
            if item.lo.start <= self.low and item.end >= self.high
        }
        finest = [whole[step] for step in sorted(whole)[:2]]
        upper = [item for item in alone if self.scaleless and item.lo.start > 0]
        for lo in dict.fromkeys(item.lo for item in [*alone[:_BEST], *finest, *upper]):
            error = (self.result(_Tables(lo))[:_POINTS] - self.y[:_POINTS]) * self.wanted[:_POINTS]
            end = float(lo.nodes[-1])
            for le in self.les(error):
                inner = lo.start <= le.start and float(le.nodes[-1]) <= end
                below, above = int(lo.start <= le.start), int(end >= float(le.nodes[-1]))
                yield _Tables(lo, le, int(not inner), below, above)

    # -- what hardware computes ---------------------------------------------------------------

    def unit_of(self, tables: _Tables) -> float:
        """Real value of a step of integer entries."""
        parts = [self.evaluate(part.nodes) for part in (tables.lo, tables.le) if part is not None]
        return max(float(np.abs(part).max()) for part in parts) / INT16_TOP or 1.0

    def entries(self, part: _Part) -> Real:
        """Entries as they are stored, in real numbers."""
        values = self.evaluate(part.nodes)
        if self.unit is not None:
            unit = self.peak / INT16_TOP
            return np.rint(values / unit) * unit
        return values.clip(-FP16_TOP, FP16_TOP).astype(np.float16).astype(np.float64)

    def slopes(self, part: _Part) -> tuple[float, float]:
        """Slopes below and above a table: those of the curve, where they leave no bound."""
        if part.exponential:  # the last entry is farther than inputs go
            return 0.0, 0.0
        nodes = part.nodes
        low, high = float(nodes[0]), float(nodes[-1])
        if self.straight is not None:
            reach = self.straight[0] * (1 - 1e-6)
            return (
                self.straight[1] if low <= -reach else self._slope(low, -1, part.step),
                self.straight[2] if high >= reach else self._slope(high, 1, part.step),
            )
        return self._slope(low, -1, part.step), self._slope(high, 1, part.step)

    def _slope(self, end: float, way: int, step: float) -> float:
        here, there = self.evaluate(np.array([end, end - way * step]))
        slope = float(here - there) * way / step
        low, high = self.bounds
        leaves = (slope * way > 0 and np.isfinite(high)) or (slope * way < 0 and np.isfinite(low))
        defined = end > curves.defined(self.function, self.parameters) or way > 0
        pole = curves.pole(self.function, self.parameters)  # beyond, results come nearer to 0
        return 0.0 if leaves or pole or not defined or not np.isfinite(slope) else slope

    def result(self, tables: _Tables) -> Real:
        """What hardware computes at all points, but for roundings of sums."""
        answer, below, above = self._answer(tables.lo)
        if tables.le is None:
            return answer
        other, under, over = self._answer(tables.le)
        hits, missed = ~(under | over), below | above
        use_le = np.where(hits & ~missed, tables.hybrid == 0, hits & missed)
        both_under, both_over = under & below, over & above
        use_le = np.where(both_under, tables.under == 0, use_le)
        use_le = np.where(both_over, tables.over == 0, use_le)
        mixed = ~hits & missed & ~both_under & ~both_over
        return np.where(np.where(mixed, tables.hybrid == 0, use_le), other, answer)

    def _answer(self, part: _Part) -> tuple[Real, NDArray[np.bool_], NDArray[np.bool_]]:
        """What one table says, and which points lie below and above it."""
        if part not in self._answers:
            x, nodes, entries = self._all, part.nodes, self.entries(part)
            below, above = self.slopes(part)
            found = np.interp(x, nodes, entries)
            found += below * np.minimum(x - nodes[0], 0) + above * np.maximum(x - nodes[-1], 0)
            self._answers[part] = found, *part.misses(x)
        return self._answers[part]

    def score(self, tables: _Tables) -> float:
        """The smaller, the better: mean errors over the range and where inputs mostly are, and the
        largest one."""
        made, count = self.result(tables), len(self.x)
        error = np.abs(made[:count] - self.y) * self.wanted
        if not self.measured:  # nobody knows which inputs matter: all do a little
            return float((np.minimum(error * self.weight, 1.0) * self.counts).mean())
        found = _noise(error[:_POINTS], self.y[:_POINTS]) + float(error.max()) / self.peak / 4
        if len(self.often):
            found += _noise(made[count:] - self.often_y, self.often_y)
        return found

    def decibels(self, tables: _Tables) -> float:
        """Over the range of the inputs, all of them equally often; without a usual range, of each
        result to its own error."""
        if self.scaleless:
            missed = np.abs(self.result(tables)[: len(self.x)] - self.y) * self.wanted * self.weight
            share = self.counts / self.counts.sum()
            return -10 * log10(max(float((np.minimum(missed, 1.0) ** 2 * share).sum()), 1e-300))
        wanted = self.wanted[:_POINTS]
        signal = self.y[:_POINTS] * wanted
        noise = float(((self.result(tables)[:_POINTS] * wanted - signal) ** 2).mean())
        return 10 * log10(max(float((signal**2).mean()), 1e-300) / max(noise, 1e-300))


@cache
def _quantiles() -> Real:
    """Of the normal distribution."""
    normal = NormalDist()
    return np.array([normal.inv_cdf((i + 0.5) / _OFTEN) for i in range(_OFTEN)])


def _noise(error: Real, signal: Real) -> float:
    """Noise beside the signal."""
    return sqrt(float((error**2).mean()) / max(float((signal**2).mean()), 1e-300))


def _within(problem: _Problem, inputs: Inputs) -> tuple[float, float]:
    """The part of the axis that tables must hold: where the curve is defined, bends, and has
    results that are wanted."""
    low = max(inputs.low, curves.defined(problem.function, problem.parameters))
    high = max(inputs.high, low)
    if problem.straight is not None:
        reach = problem.straight[0]
        low, high = max(low, -reach), min(high, reach)
        if low >= high:  # all inputs lie where it is straight
            low, high = -reach, reach
    if _is_a_point(low, high):
        high = low + max(abs(low) * 1e-3, 1e-6)
    near = (high - low) * 2.0 ** -np.arange(30.0)
    points = np.concatenate([np.linspace(low, high, 4097), low + near, near, -near])
    points = np.sort(points[(points >= low) & (points <= high)])
    wanted = points[problem.possible(points)]
    if not len(wanted) or _is_a_point(float(wanted[0]), float(wanted[-1])):
        return low, high  # the curve's results are next to nothing there
    return float(wanted[0]), float(wanted[-1])


def _is_a_point(low: float, high: float) -> bool:
    return high - low < 1e-30 + 1e-6 * max(abs(low), abs(high))


def _best(problem: _Problem) -> tuple[_Tables, float]:
    found = min(problem.candidates(), key=problem.score)
    return found, problem.decibels(found)


def integer(curve: Curve, unit: float, inputs: Inputs, codes: bool = False) -> Table:
    """Table for integer inputs of *unit* (real value of one step).

    With *codes*, inputs are those of int8 themselves: LO has an entry for each.
    """
    return _integer(_key(curve), unit, inputs, codes)


def half(curve: Curve, inputs: Inputs | None) -> Table:
    """Table for fp16 inputs; *inputs* are None where nothing is known of them."""
    return _half(_key(curve), inputs)


def _key(curve: Curve) -> _Key:
    return curve.function, tuple(sorted(curve.parameters.items()))


@lru_cache(512)
def _integer(key: _Key, unit: float, inputs: Inputs, codes: bool) -> Table:
    problem = _Problem(key, inputs, unit)
    if codes:
        start = -(INT8_TOP + 1) - 1
        tables = _Tables(_Part(start * unit, unit, LO_ENTRIES))
        decibels = problem.decibels(tables)
    else:
        tables, decibels = _best(problem)
    out = problem.unit_of(tables)

    def place(value: float) -> int:
        return round(value / unit) & 0xFFFFFFFFFFFFFFFF

    def slopes(part: _Part) -> tuple[Slope, Slope]:
        below, above = problem.slopes(part)
        return lut.fixed_slope(below * unit / out), lut.fixed_slope(above * unit / out)

    made = _parameters(tables, slopes)
    for name, part in (("linear_only", tables.lo), ("linear_exp", tables.le)):
        if part is None:
            made.linear_exp_start = made.linear_exp_end = _FAR
            continue
        end = min(float(part.nodes[-1]) / unit, float(_FAR))
        setattr(made, f"{name}_table", lut.integers(problem.evaluate(part.nodes) / out))
        setattr(made, f"{name}_start", place(part.start))
        setattr(made, f"{name}_end", round(end) & 0xFFFFFFFFFFFFFFFF)
        setattr(made, f"{name}_offset", round(log2(part.step / unit)))
    return Table(made, out, decibels)


@lru_cache(512)
def _half(key: _Key, inputs: Inputs | None) -> Table:
    if inputs is None:
        usual = curves.usual_inputs(key[0], dict(key[1]))
        inputs = Inputs(*usual, measured=False, usual=True)
    problem = _Problem(key, inputs, None)
    tables, decibels = _best(problem)

    def slopes(part: _Part) -> tuple[Slope, Slope]:
        below, above = problem.slopes(part)
        return lut.half_slope(below), lut.half_slope(above)

    made = _parameters(tables, slopes)
    for name, part in (("linear_only", tables.lo), ("linear_exp", tables.le)):
        if part is None:
            made.linear_exp_start = made.linear_exp_end = lut.single(_HALF_FAR)
            continue
        nodes = part.nodes
        setattr(made, f"{name}_table", lut.halves(problem.evaluate(nodes)))
        setattr(made, f"{name}_start", lut.single(part.start))
        setattr(made, f"{name}_end", lut.single(min(float(nodes[-1]), _HALF_FAR)))
        setattr(made, f"{name}_offset", round(log2(part.step)))
    return Table(made, 1.0, decibels)


def _parameters(tables: _Tables, slopes: Callable[[_Part], tuple[Slope, Slope]]) -> LutParam:
    """Priorities, the form of LE, and slopes."""
    lo = slopes(tables.lo)
    le = (Slope(), Slope()) if tables.le is None or tables.le.exponential else slopes(tables.le)
    return LutParam(
        linear_only_underflow_slope=lo[0],
        linear_only_overflow_slope=lo[1],
        linear_exp_underflow_slope=le[0],
        linear_exp_overflow_slope=le[1],
        hybrid_priority=tables.hybrid,
        underflow_priority=tables.under,
        overflow_priority=tables.over,
        method=int(tables.le is not None and not tables.le.exponential),
    )


def best_unit(curve: Curve, inputs: Inputs) -> float:
    """The real value of an integer input with which a table can be fine where the curve bends."""
    found = curves.straight(curve.function, curve.parameters)
    problem = _Problem(_key(curve), inputs, None)
    reach = max(abs(problem.low), abs(problem.high))
    if found is not None and reach >= found[0] * 0.75:
        reach = found[0]  # corners lie on entries
    return 2 * reach / (1 << _FINE)
