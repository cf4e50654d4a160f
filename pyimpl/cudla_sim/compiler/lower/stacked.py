"""Convolutions that do the same to every surface, as one over all surfaces stacked.

Averages and their like have the same weights for each channel. An operation over all channels
would multiply by zeros, one for each surface would fetch the same weights again and wait for its
own input. A packed cube is also a cube of one surface whose lines are those of all surfaces: where
no window reaches from one surface into the next, one operation does them all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cudla_sim.nvdla.facts.limits import CONVOLUTION_STRIDE, LARGEST

from ..legalise.nodes import KernelConv
from .cubes import Cube
from .cuts import restrict
from .fit import Fit, Limit
from .weights import Weights


class Stacked(NamedTuple):
    """A convolution of one surface, and its cubes."""

    node: KernelConv
    fit: Fit
    weights: Weights
    source: Cube
    target: Cube


def of(node: KernelConv, fit: Fit, weights: Weights, source: Cube, target: Cube) -> Stacked | None:
    """The same work over stacked surfaces; None where that cannot be."""
    atom, surfaces = source.per_atom, source.surfaces
    stride = _stride(node, source, target)
    if surfaces < 2 or len(node.weights) != surfaces * atom or stride is None:
        return None
    if not (source.dense and target.dense and target.per_atom == atom):
        return None
    if node.weights.shape[1] != 1 or not np.array_equal(node.first, np.arange(surfaces * atom)):
        return None
    constant = all(item is None or isinstance(item, Limit) for item in (fit.x2, fit.y_mul))
    if fit.operands or not constant or target.channels != source.channels:
        return None
    per_channel = [weights.elements, weights.step, fit.scale, fit.shift]
    if not all(_repeats(array, atom) for array in per_channel):
        return None
    if surfaces * max(source.height, target.height) > LARGEST:
        return None
    first = np.arange(atom)
    return Stacked(
        replace(
            node,
            weights=node.weights[:atom],
            bias=node.bias[:atom],
            first=first,
            stride=(stride, node.stride[1]),
        ),
        restrict(fit, first, slice(None), slice(None)),
        replace(weights, elements=weights.elements[:atom], step=weights.step[:atom]),
        _stack(source),
        _stack(target),
    )


def _stride(node: KernelConv, source: Cube, target: Cube) -> int | None:
    """The step down with which windows stay inside their surface; None if there is none."""
    step, rest = divmod(source.height, target.height)
    rows = (node.weights.shape[2] - 1) * node.dilation[0] + 1
    if rest or any(node.pads[:2]) or rows > step or step > CONVOLUTION_STRIDE:
        return None
    if target.height > 1 and step != node.stride[0]:
        return None
    close = all(cube.surface == cube.height * cube.line for cube in (source, target))
    return step if close else None


def _repeats(array: Any, period: int) -> bool:
    """True if an array says the same of each surface's channels."""
    if array is None or array.size == 1:
        return True
    if array.ndim == 3 and array.shape[1:] != (1, 1):
        return False
    parts = array.reshape(-1, period, *array.shape[1:])
    return bool((parts == parts[:1]).all())


def _stack(cube: Cube) -> Cube:
    return replace(
        cube,
        channels=cube.per_atom,
        height=cube.height * cube.surfaces,
        surface=cube.surface * cube.surfaces,
        positions=np.arange(cube.per_atom),
    )
