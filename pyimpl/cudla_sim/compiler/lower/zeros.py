"""Zero points: tensors whose numbers are not as far below 0 as above use all 256 integers.

Behind a ReLU half of the integers of a symmetric scale stay unused. The output converter of SDP
subtracts, so any integer may mean 0. Who reads such a tensor makes up for it exactly: a convolution
pads with that integer and has its share of every sum in the bias, X1 of SDP subtracts it from a
tensor, a sum behind a convolution has it in the bias, too. Copies and maxima need nothing.
Source: nvdla hardware manual "SDP" (CVT), "CSC" (zero padding value).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import numpy as np

from cudla_sim.nvdla.facts.precisions import INT8, INT8_TOP, RANGES

from .. import graph as g
from ..legalise.nodes import GatherLines, Interleave, KernelConv, View
from .passes import Pass

_COPIES = (g.Slice, g.Concat, g.Transpose, Interleave, GatherLines, View)
_WORTH = 0.75
"""Steps must become this much smaller."""

Range = tuple[float, float]


def choose(
    passes: Iterable[Pass],
    kept: Collection[g.Value],
    scales: Mapping[g.Value, float],
    spans: Mapping[g.Value, Range],
) -> dict[g.Value, tuple[float, int]]:
    """Scale and zero point of the int8 values that gain by one.

    *kept* values stay as they are (those that programs see), as do those whose scale the model
    gives. *scales* are the symmetric ones, *spans* the least and the largest element of values.
    """
    groups = _Groups()
    found: dict[g.Value, tuple[float, int]] = {}
    barred = set(kept)
    lows: dict[g.Value, Range] = {}
    for item in passes:
        groups.add(item.main, item.output)
        if _copies(item, scales, spans):
            for value in item.head.inputs:
                groups.join(value, item.output)
            continue
        barred.update(_bound(item))
        reach = _range(item, spans)
        if reach is None:
            barred.add(item.output)
        else:
            lows[item.output] = reach
    for members in groups.members():
        if not barred.isdisjoint(members) or any(value.scale is not None for value in members):
            continue
        pair = _pair([lows[value] for value in members if value in lows], members, scales)
        if pair is not None:
            found.update(dict.fromkeys(members, pair))
    return found


def _pair(
    ranges: list[Range], members: Collection[g.Value], scales: Mapping[g.Value, float]
) -> tuple[float, int] | None:
    """Scale and zero point of values that share them, where that pays."""
    step = max((scales.get(value, 0.0) for value in members), default=0.0)
    if not ranges or step <= 0:
        return None
    limit = step * INT8_TOP  # what calibration leaves of the range
    low = max(min(min(low for low, _ in ranges), 0.0), -limit)
    high = min(max(max(high for _, high in ranges), 0.0), limit)
    least, most = RANGES[INT8]
    found = (high - low) / (most - least)
    if not 0 < found < _WORTH * step:
        return None
    return found, int(np.clip(round(least - low / found), least, most))


def _copies(item: Pass, scales: Mapping[g.Value, float], spans: Mapping[g.Value, Range]) -> bool:
    """True for what leaves integers as they are, so that its output must mean the same by them."""
    node = item.head
    if isinstance(node, g.Pool):
        return node.mode != "average"
    if not isinstance(node, KernelConv) or item.fit is None:
        return isinstance(node, _COPIES)
    if item.fit.nodes or item.precision != INT8 or np.any(node.bias) or item.output in spans:
        return False
    taps = np.count_nonzero(node.weights.reshape(len(node.weights), -1), axis=1)
    same = scales.get(item.main) == scales.get(item.output)
    return (
        same
        and not node.pad_value
        and bool((taps <= 1).all() and np.isin(node.weights, (0, 1)).all())
    )


def _range(item: Pass, spans: Mapping[g.Value, Range]) -> Range | None:
    """What is known of the output of a pass."""
    if item.output in spans:
        return spans[item.output]
    last = item.fit.nodes[-1] if item.fit is not None and item.fit.nodes else None
    return (last.low, np.inf) if isinstance(last, g.Clip) and last.low >= 0 else None


def _bound(item: Pass) -> Iterator[g.Value]:
    """Values that a pass needs, or makes, with 0 for 0."""
    fit = item.fit
    if fit is None or item.precision != INT8:
        yield from item.head.inputs
        yield item.main
        yield item.output
        if fit is None:
            return
    per_element = fit.scale is not None and fit.scale.ndim == 3
    if per_element or (fit.lut is not None and not fit.conv):
        yield item.main
    for operand in fit.operands:
        if fit.zero_at(operand) is None:
            yield operand.value


class _Groups:
    """Values that share scale and zero point."""

    def __init__(self) -> None:
        self._parents: dict[g.Value, g.Value] = {}

    def add(self, *values: g.Value) -> None:
        for value in values:
            self._parents.setdefault(value, value)

    def join(self, one: g.Value, other: g.Value) -> None:
        self.add(one, other)
        self._parents[self._root(one)] = self._root(other)

    def _root(self, value: g.Value) -> g.Value:
        while self._parents[value] is not value:
            value = self._parents[value]
        return value

    def members(self) -> Iterable[list[g.Value]]:
        """Each group once."""
        found: dict[g.Value, list[g.Value]] = {}
        for value in self._parents:
            found.setdefault(self._root(value), []).append(value)
        return found.values()
