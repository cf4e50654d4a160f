"""Cross-layer equalisation: channels of unlike ranges between convolutions become alike.

What a convolution computes for a channel is divided by a factor that the weights of the next one
are multiplied with: behind ReLU, PReLU and poolings the network computes the same numbers. Kernels
have scales of their own, so the convolution in front loses nothing; the tensor between has one
scale for all channels and gains where ranges differ, the weights behind gain or lose. The noise
of both is computed from the data for some choices of factors, and the least one is taken.
Source: Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias Correction", 4.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.facts.precisions import INT8_TOP

from .calibrate.ranges import Runner
from .graph import Clip, Conv, Graph, Node, Pool, PRelu, Value

Real = NDArray[np.float64]

POWERS = ((0.5, 0.5), (1.0, 0.0), (0.5, 0.0), (0.75, 0.25), (0.25, 0.25), (0.75, 0.75), (1.0, 0.5))
"""Factors that are tried: range of the channel ** a / range of the weights behind ** b."""
GAIN = 0.5
"""Decibels that the noise must fall by."""
_SPREAD = 6.0
"""A channel may reach so many times its root mean square, whatever the samples show."""
_FURTHEST = 1e3
_ENOUGH = 1000
"""Elements of a channel that must have been seen: others will go beyond the ends of fewer."""


@dataclass(frozen=True, slots=True)
class Equalised:
    """A convolution whose channels were made alike, and by how much its tensor's noise fell."""

    node: str
    decibels: float


@dataclass(slots=True)
class _Seen:
    """Of each channel of a value, over samples and pixels: ends of the range, mean, mean square,
    number of elements."""

    low: Real
    high: Real
    mean: Real
    square: Real
    count: int = 0


@dataclass(frozen=True, slots=True)
class _Behind:
    """A convolution that reads a value: which channel each weight belongs to [kernels, span]."""

    node: Conv
    value: Value

    @property
    def channels(self) -> NDArray[np.int64]:
        kernels, span = self.node.weights.shape[:2]
        first = np.arange(kernels) // (kernels // self.node.groups) * span
        found: NDArray[np.int64] = first[:, None] + np.arange(span)[None, :]
        return found


def equalise(graph: Graph, samples: Iterable[Mapping[str, NDArray[Any]]]) -> list[Equalised]:
    """Change the weights of *graph* in place; return what was done.

    *samples* are {name of an input: array of the ONNX input's shape}. Tensors that the model gives
    scales, outputs of the network and convolutions with quantised weights stay. Raises
    CompileError.
    """
    readers = graph.consumers()
    outputs = {port.value for port in graph.outputs}
    found = []
    chains = {}
    for node in graph.nodes:
        if isinstance(node, Conv) and node.weight_scale is None:
            chain = _chain(node, readers, outputs)
            if chain is not None:
                chains[node] = chain
    seen = _statistics(graph, samples, {v for values, _ in chains.values() for v in values})
    for node, (values, behind) in chains.items():
        if seen[values[0]].count < _ENOUGH:
            continue
        factors, gain = _factors(values, behind, seen)
        if gain >= GAIN:
            node.weights = (node.weights / factors[:, None, None, None]).astype(np.float32)
            node.bias = (node.bias / factors).astype(np.float32)
            for item in behind:
                spread = factors[item.channels][:, :, None, None]
                item.node.weights = (item.node.weights * spread).astype(np.float32)
            found.append(Equalised(node.name, gain))
    return found


def _even(node: Node) -> bool:
    """True if factors of channels (positive ones) go through the node."""
    if isinstance(node, Clip):
        return (node.low, node.high) == (0.0, np.inf)
    return isinstance(node, PRelu) or (isinstance(node, Pool) and node.mode in ("max", "average"))


def _chain(
    node: Conv, readers: Mapping[Value, list[Node]], outputs: set[Value]
) -> tuple[list[Value], list[_Behind]] | None:
    """Values that the factors of a convolution reach, and the convolutions that read them."""
    values, behind = [node.output], []
    for value in values:  # it grows on the way
        if value in outputs or value.scale is not None or not readers[value]:
            return None
        for reader in readers[value]:
            if _even(reader):
                values.append(reader.output)
            elif isinstance(reader, Conv) and not reader.pad_value and reader.weight_scale is None:
                behind.append(_Behind(reader, value))
            else:
                return None
    stored = [value for value in values if not _in_passing(readers[value])]
    return stored, behind


def _in_passing(readers: list[Node]) -> bool:
    """True for a value that its only reader changes before it is stored."""
    return len(readers) == 1 and isinstance(readers[0], Clip | PRelu)


def _statistics(
    graph: Graph, samples: Iterable[Mapping[str, NDArray[Any]]], values: set[Value]
) -> dict[Value, _Seen]:
    found: dict[Value, _Seen] = {}
    if not values:
        return found
    run = Runner(graph, values)
    count = 0
    for sample in samples:
        count += 1
        for value, array in run(sample).items():
            low, high = array.min((0, 2, 3)), array.max((0, 2, 3))
            square = np.square(array, dtype=np.float64).mean((0, 2, 3))
            zeros = np.zeros(len(square))
            old = found.setdefault(value, _Seen(low, high, zeros, zeros))
            old.low, old.high = np.minimum(old.low, low), np.maximum(old.high, high)
            old.mean = old.mean + array.mean((0, 2, 3), dtype=np.float64)
            old.square = old.square + square
            old.count += array[:, 0].size
    for item in found.values():
        item.mean, item.square = item.mean / count, item.square / count
    return found


def _factors(
    values: list[Value], behind: list[_Behind], seen: Mapping[Value, _Seen]
) -> tuple[Real, float]:
    """The best factors of the channels, and the decibels they bring."""
    known = seen[values[0]]
    reach = np.maximum(np.maximum(-known.low, known.high), _SPREAD * np.sqrt(known.square))
    weights = np.zeros(len(reach))
    for item in behind:
        taps = np.abs(item.node.weights).max(axis=(2, 3))
        np.maximum.at(weights, item.channels, taps)
    live = (reach > reach.max(initial=0.0) * 1e-6) & (weights > 0)
    ones = np.ones(len(reach))
    if not live.any():
        return ones, 0.0
    before = _noise(ones, values[0], behind, seen)
    best, least = ones, before
    for factors in _choices(reach, weights, live):
        noise = _noise(factors, values[0], behind, seen)
        if noise < least:
            best, least = factors, noise
    return best, 10 * log10(before / least) if least > 0 else 0.0


def _choices(reach: Real, weights: Real, live: NDArray[np.bool_]) -> Iterator[Real]:
    """Factors to try; the largest channel stays as large as it was."""
    for a, b in POWERS:
        factors = np.ones(len(reach))
        factors[live] = reach[live] ** a * weights[live] ** -b
        factors[live] /= np.exp(np.log(factors[live]).mean())
        factors = np.clip(factors, 1 / _FURTHEST, _FURTHEST)
        yield factors * ((reach / factors).max() / reach.max())


def _noise(
    factors: Real, first: Value, behind: list[_Behind], seen: Mapping[Value, _Seen]
) -> float:
    """What int8 adds to the outputs of the convolutions, in parts of their energy. What rounded
    weights add to the mean, the bias takes away."""
    total = 0.0
    for item in behind:
        known, channels = seen[item.value], item.channels
        noise = _step(known, factors) ** 2
        if item.value is not first:  # poolings between: of many elements one is made
            many = (first.shape[2] * first.shape[3]) / (item.value.shape[2] * item.value.shape[3])
            noise += _step(seen[first], factors) ** 2 / many
        real = item.node.weights.astype(np.float64)
        scaled = real * factors[channels][:, :, None, None]
        inputs = known.square[channels]
        changes = np.maximum(inputs - known.mean[channels] ** 2, 0)
        taps = real.shape[2] * real.shape[3]
        steps = np.abs(scaled).reshape(len(scaled), -1).max(axis=1) / INT8_TOP
        rounding = noise * np.square(scaled).sum()
        rounding += taps * (steps**2 * (changes / factors[channels] ** 2).sum(axis=1)).sum()
        energy = (np.square(real).sum(axis=(2, 3)) * inputs).sum()
        total += float(rounding / max(energy, 1e-30)) / 12
    return total


def _step(known: _Seen, factors: Real) -> float:
    """Of the integers of a tensor whose channels were divided by factors."""
    low = min(float((known.low / factors).min()), 0.0)
    high = max(float((known.high / factors).max()), 0.0)
    return min((high - low) / (2 * INT8_TOP + 1), max(high, -low) / INT8_TOP)
