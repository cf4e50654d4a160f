"""Fits the constants that are marked so, and leaves networks or boards out of it.

Least squares of logarithms with Huber's limit, so that a row that something else decides does not
pull; weak strings to the starts, so that a constant that no row tells stays there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cudla_sim.boards.timing.parameters import FITTED, Constant, Parameters, constants, parameters

from .predicted import Prepared, prepared
from .rows import EXPECTED, MEASURED, MIXED, rows

LIMIT = 0.15
"""Of the error of a logarithm; beyond, it counts linearly."""
STRING = 0.05
WEIGHTS = {MEASURED: 1.0, EXPECTED: 0.5, MIXED: 0.0}
ONLY = {"softmax_cycles": "YOLO11n-pose"}
"""Fitted on the one row that is about nothing else."""
STEPS, TRIES = 15, 6
ENOUGH = 1e-6
"""Of the cost, that a step has to save: below, no constant changes in what is printed of it."""
INSIDE = 0.9


def fitted_constants() -> list[Constant]:
    return [c for c in constants() if c.origin == FITTED]


def everything() -> list[Prepared]:
    return [prepared(row) for row in rows()]


def fit(cases: Sequence[Prepared], near: Parameters | None = None) -> Parameters:
    """The constants, by these rows. *near*: where to begin to look, else at their starts."""
    free = [c for c in fitted_constants() if c.name not in ONLY]
    start = np.log([c.start for c in free])
    base = replace(parameters(), **{c.name: c.start for c in fitted_constants()})
    used = [case for case in cases if WEIGHTS[case.row.kind]]
    families = Counter(case.row.family for case in used)
    weight = np.array([WEIGHTS[c.row.kind] / families[c.row.family] ** 0.5 for c in used])

    def at(x: np.ndarray) -> Parameters:
        values = dict(zip((c.name for c in free), np.exp(x).tolist(), strict=True))
        return replace(base, **values)

    def errors(x: np.ndarray) -> np.ndarray:
        values = at(x)
        return np.array([np.log(case.ms(values) / case.row.ms) for case in used])

    begin = start if near is None else np.log([getattr(near, c.name) for c in free])
    found = at(_least(errors, begin, start, weight))
    attention = [c for c in cases if str(c.row.recipe.part).startswith("only")]
    return replace(found, softmax_cycles=_softmax(attention[0], found)) if attention else found


def _softmax(case: Prepared, values: Parameters) -> float:
    """So that the row comes out; its time grows with the constant linearly where that decides."""
    one, two = (case.ms(replace(values, softmax_cycles=c)) for c in (100.0, 200.0))
    return max(100.0 + 100.0 * (case.row.ms - one) / (two - one), 1.0)


def _least(
    errors: Callable[[np.ndarray], np.ndarray],
    begin: np.ndarray,
    start: np.ndarray,
    weight: np.ndarray,
) -> np.ndarray:
    """Levenberg and Marquardt from *begin* with weights that fall beyond the limit; the strings go
    to *start*."""

    def cost(x: np.ndarray, e: np.ndarray) -> float:
        size = np.abs(e)
        huber = np.where(size < LIMIT, size**2 / 2, LIMIT * (size - LIMIT / 2))
        return float((weight * huber).sum() + STRING**2 * ((x - start) ** 2).sum())

    x, damping = begin.copy(), 1e-2
    e = errors(x)
    for _ in range(STEPS):
        slope = np.array([(errors(x + d) - e) / 1e-3 for d in 1e-3 * np.eye(len(x))]).T
        w = weight * np.minimum(1, LIMIT / np.maximum(np.abs(e), 1e-9))
        matrix = slope.T @ (w[:, None] * slope) + 2 * STRING**2 * np.eye(len(x))
        gradient = slope.T @ (w * e) + 2 * STRING**2 * (x - start)
        for _ in range(TRIES):
            damped = matrix + damping * np.diag(np.diag(matrix))
            next_x = x + np.clip(np.linalg.solve(damped, -gradient), -0.5, 0.5)
            next_e = errors(next_x)
            saved = cost(x, e) - cost(next_x, next_e)
            if saved > 0:
                x, e, damping = next_x, next_e, damping / 3
                break
            damping *= 4
        if saved <= ENOUGH * cost(x, e):
            break
    return x


@dataclass(frozen=True)
class LeftOut:
    """A row predicted without its network (or board). *factor*: of the interval, from the errors
    of other networks only."""

    case: Prepared
    values: Parameters
    ms: float
    factor: float = 0.0

    @property
    def error(self) -> float:
        """Of the logarithm."""
        return float(np.log(self.ms / self.case.row.ms))

    @property
    def inside(self) -> bool:
        return abs(self.error) <= np.log(self.factor)


def left_out(cases: Sequence[Prepared], by: Callable[[Prepared], str]) -> list[LeftOut]:
    found = []
    whole = fit(cases)
    for group in dict.fromkeys(by(case) for case in cases):
        values = fit([case for case in cases if by(case) != group], near=whole)
        found += [LeftOut(c, values, c.ms(values)) for c in cases if by(c) == group]
    return with_intervals(found)


def factors(found: Sequence[LeftOut]) -> dict[str, tuple[float, int]]:
    """For each name of a spread the factor that holds 90 % of the left-out rows that it decides
    (of n rows the (n + 1) x 0.9-th error; with few rows the largest and a quarter more), and n."""
    errors: dict[str, list[float]] = {}
    for each in found:
        if each.case.row.kind != MIXED:
            errors.setdefault(each.case.decides(each.values), []).append(abs(each.error))
    return {name: (_quantile(sorted(sizes)), len(sizes)) for name, sizes in errors.items()}


def _quantile(sizes: Sequence[float]) -> float:
    place = int(np.ceil((len(sizes) + 1) * INSIDE))
    return float(np.exp(sizes[place - 1] if place <= len(sizes) else 1.25 * sizes[-1]))


LEAST = {"int8_orin": 1.1, "fp16_orin": 1.5, "depthwise": 2.0, "xavier": 1.4, "others": 3.0}
"""Factors where no row, or hardly any, says one: assumed."""


def spread_factors(found: Sequence[LeftOut]) -> dict[str, tuple[float, int]]:
    known = factors(found)
    return {
        name: (max(least, known.get(name, (0.0, 0))[0]), known.get(name, (0.0, 0))[1])
        for name, least in LEAST.items()
    }


def with_intervals(found: Sequence[LeftOut]) -> list[LeftOut]:
    done = []
    for each in found:
        others = [o for o in found if o.case.row.family != each.case.row.family]
        known = {name: factor for name, (factor, _) in spread_factors(others).items()}
        done.append(replace(each, factor=each.case.factor(each.values, known)))
    return done
