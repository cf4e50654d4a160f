"""Which calibration method suits a network: each is compiled and run on a few samples.

Clipping helps most networks and ruins some (squeeze-excite, heavy tails), and nothing in the
ranges tells which. A few samples of the calibration data do, as far as others are like them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite

import numpy as np

from cudla_sim.nvdla.facts.precisions import INT8_TOP

from ..graph import Conv, Deconv, Graph, Value
from .histogram import Histogram
from .methods import METHODS, PERCENTILE
from .ranges import Progress, Runner, measure
from .samples import Samples

CANDIDATES = ("minmax", "mse", "percentile")
_SLOW, _TOO_SLOW = 2e9, 12e9
"""Multiply-accumulates beyond which one sample, or none, is run."""


def multiplications(graph: Graph) -> float:
    """Multiply-accumulates of convolutions for one sample."""
    total = 0.0
    for node in graph.nodes:
        if isinstance(node, Conv):
            total += float(np.prod(node.output.shape)) * float(np.prod(node.weights.shape[1:]))
        elif isinstance(node, Deconv):
            total += float(np.prod(node.inputs[0].shape)) * float(np.prod(node.weights.shape[1:]))
    return total


def best(
    samples: Samples,
    build: Callable[[dict[str, float]], bytes],
    progress: Progress | None = None,
) -> tuple[dict[str, float], str]:
    """Return the scales of the method whose network is nearest to the float one, and its name.

    *build* compiles with scales. The first sample (four for small networks) decides.
    """
    from .. import accuracy

    graph = samples.graph
    run = Runner(graph)
    limits = measure(graph, run, samples, True, progress)
    macs = multiplications(graph)
    if macs > _TOO_SLOW:
        return scales_of(graph, limits, "minmax"), "minmax"
    tests = []
    for sample in samples:
        tests.append(sample)
        if len(tests) == (1 if macs > _SLOW else 4):
            break
    found = {}
    for method in CANDIDATES:
        scales = scales_of(graph, limits, method)
        result = accuracy.measure(build(scales), graph, tests, layers=False)
        found[method] = (_score([row.sqnr for row in result.outputs]), scales)
    name = max(found, key=lambda method: found[method][0])
    if found[name][0] < found["minmax"][0] + 0.3:
        name = "minmax"
    return found[name][1], name


def _score(decibels: Sequence[float | None]) -> float:
    known = [min(item, 100.0) for item in decibels if item is not None and isfinite(item)]
    return float(np.mean(known)) if known else 0.0


def scales_of(
    graph: Graph, limits: dict[Value, Histogram], method: str, percentile: float = PERCENTILE
) -> dict[str, float]:
    """Scales by one method from histograms; inputs are never clipped."""
    inputs = {port.value for port in graph.inputs}
    scales = {}
    for value, histogram in limits.items():
        clip = METHODS["minmax" if value in inputs else method]
        limit = clip(histogram, percentile) or histogram.largest
        scales[value.name] = (limit or 1.0) / INT8_TOP
    for value in graph.values():
        if value.scale is not None:
            scales[value.name] = value.scale
    return scales
