"""Choosing integers for an int8 network.

A tensor with scale s holds round(x / s). Activations have one scale each (from the largest
magnitude seen in the calibration data), weights one per kernel. The stage X1 of SDP multiplies
each kernel's sum with a 16-bit factor and shifts, so that one rounding leads to the output scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import NvdlaError
from ..facts.precisions import INT8_TOP, INT16_TOP
from .layers import (
    Activation,
    Add,
    Array,
    Contract,
    Layer,
    Pool,
    Softmax,
    Tensor,
)


@dataclass(frozen=True, slots=True)
class Factors:
    """16-bit factors and their common right shift: real factor = value / 2**shift."""

    values: NDArray[np.int16]
    shift: int


@dataclass(frozen=True, slots=True)
class Offsets:
    """16-bit summands and their common left shift."""

    values: NDArray[np.int16]
    shift: int


def factors(real: NDArray[Any]) -> Factors:
    """Represent positive or negative real factors with one shift of 0..31."""
    largest = float(np.max(np.abs(real)))
    if largest == 0.0:
        return Factors(np.zeros(len(real), np.int16), 0)
    if largest > INT16_TOP:
        raise NvdlaError(f"a scale factor of {largest:g} does not fit into 16 bits")
    shift = min(max(floor(log2(INT16_TOP / largest)), 0), 31)
    return Factors(np.rint(real * 2.0**shift).astype(np.int16), shift)


def offsets(real: NDArray[Any]) -> Offsets:
    """Represent integers of any size as 16-bit values shifted to the left."""
    largest = float(np.max(np.abs(real)))
    shift = max(ceil(log2(largest / INT16_TOP)), 0) if largest > 0 else 0
    if shift > 15:
        raise NvdlaError(f"a bias of {largest:g} steps does not fit into 32 bits")
    return Offsets(np.rint(real / 2.0**shift).astype(np.int16), shift)


def weights(real: Array, limit: int = INT8_TOP) -> tuple[NDArray[np.int16], NDArray[np.float64]]:
    """Return integer weights up to *limit*, and the scale of each kernel."""
    largest = np.abs(real).reshape(len(real), -1).max(axis=1).astype(np.float64)
    # an empty kernel must not ask for a larger factor than the others
    common = float(largest.max()) / limit or 1.0
    scale = np.where(largest > 0, largest / limit, common)
    return np.rint(real / scale[:, None, None, None]).astype(np.int16), scale


def accumulator_shift(integers: NDArray[np.int16], limit: int) -> int:
    """Right shift that keeps every sum of products with inputs up to *limit* inside 32 bits."""
    sums = np.abs(integers.astype(np.int64)).reshape(len(integers), -1).sum(axis=1)
    largest = float(sums.max()) * (limit + 1)
    return max(ceil(log2(largest / 2**31)), 0) if largest > 0 else 0


def _group(layers: Sequence[Layer]) -> dict[Tensor, Tensor]:
    """Map tensors that must share a scale (pooling, activation, sums) to one of them."""
    leader: dict[Tensor, Tensor] = {}

    def find(tensor: Tensor) -> Tensor:
        while leader.get(tensor, tensor) is not tensor:
            tensor = leader[tensor]
        return tensor

    for layer in layers:
        if isinstance(layer, Pool | Activation | Contract):
            leader[find(layer.output)] = find(layer.inputs[0])
        elif isinstance(layer, Add):
            leader[find(layer.inputs[1])] = find(layer.inputs[0])
    return {tensor: find(tensor) for layer in layers for tensor in (*layer.inputs, layer.output)}


def run(layers: Sequence[Layer], source: Tensor, images: Array) -> dict[Tensor, Array]:
    """Evaluate the network in floating point; return every tensor."""
    values = {source: images}
    for layer in layers:
        values[layer.output] = layer.reference(*[values[item] for item in layer.inputs])
    return values


def calibrate(
    layers: Sequence[Layer], source: Tensor, images: Array, limit: int = INT8_TOP
) -> None:
    """Set the scale of every tensor from sample inputs [n, c, h, w]; *limit* is the top integer."""
    values = run(layers, source, images)
    groups = _group(layers)
    largest: dict[Tensor, float] = {}
    for tensor, value in values.items():
        key = groups.get(tensor, tensor)
        largest[key] = max(largest.get(key, 0.0), float(np.abs(value).max()))
    for layer in layers:
        if isinstance(layer, Softmax):
            largest[groups[layer.output]] = 1.0
    for tensor in values:
        magnitude = largest[groups.get(tensor, tensor)]
        tensor.scale = magnitude / limit if magnitude > 0 else 1.0
