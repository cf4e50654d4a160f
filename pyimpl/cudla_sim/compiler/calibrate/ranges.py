"""Runs the network in float and measures the range of every value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.facts.precisions import INT8_TOP

from .. import render
from ..errors import CompileError
from ..graph import Curve, Graph, Value
from ..runtime import session
from .histogram import Histogram
from .methods import METHODS, PERCENTILE

Progress = Callable[[int], None]


def ranges(
    graph: Graph,
    samples: Iterable[Mapping[str, NDArray[Any]]],
    method: str = "minmax",
    *,
    percentile: float = PERCENTILE,
    progress: Progress | None = None,
) -> dict[str, float]:
    """{name of a value: real value of one int8 step (limit / 127)}.

    *samples* are {name of an input: array of the ONNX input's shape}; *method* is one of METHODS.
    Inputs of the network are never clipped; scales that the model itself gives (Q/DQ) win.
    *progress* is called with the number of samples done. Raises CompileError.
    """
    if method not in METHODS:
        raise CompileError(f"no calibration method {method!r}; there are {', '.join(METHODS)}")
    if not 50 < percentile <= 100:
        raise CompileError(f"percentile {percentile} is not between 50 and 100")
    run = Runner(graph)
    limits = measure(graph, run, samples, method != "minmax", progress)
    inputs = {port.value for port in graph.inputs}
    scales = {}
    for value, histogram in limits.items():
        clip = METHODS["minmax" if value in inputs else method]
        limit = clip(histogram, percentile) or histogram.largest
        if not limit and value in inputs:
            raise CompileError(
                f"calibration: input {value.name!r} is 0 in all samples; calibrate with real data"
            )
        # what is always 0 stays 0 with any scale
        scales[value.name] = (limit or 1.0) / INT8_TOP
    for value in graph.values():
        if value.scale is not None:
            scales[value.name] = value.scale
    return scales


def measure(
    graph: Graph,
    run: Runner,
    samples: Iterable[Mapping[str, NDArray[Any]]],
    bins: bool,
    progress: Progress | None,
) -> dict[Value, Histogram]:
    """Largest magnitudes of all values, with *bins* whole histograms. Raises CompileError."""
    found: dict[Value, Histogram] = {value: Histogram() for value in graph.values()}
    makers = {node.output: node.name for node in graph.nodes}
    count = 0
    for sample in samples:
        for value, array in run(sample).items():
            largest = max(float(array.max()), -float(array.min()))
            if not np.isfinite(largest):
                where = f" (node {makers[value]!r})" if value in makers else ""
                raise CompileError(
                    f"calibration: {value.name!r}{where} becomes NaN or infinite in sample "
                    f"{count}; check mean, scale and the model"
                )
            if bins:
                found[value].add(array, largest)
            else:
                found[value].largest = max(found[value].largest, largest)
        count += 1
        if progress:
            progress(count)
    if not count:
        raise CompileError("calibration: there are no samples")
    return found


class Runner:
    """The network in onnxruntime, all values of it (as [n, c, h, w])."""

    def __init__(self, graph: Graph, values: Iterable[Value] | None = None) -> None:
        inputs = {port.value for port in graph.inputs}
        chosen = list(values) if values is not None else list(graph.values())
        self._ports = graph.inputs
        self._inputs = {value.name: value for value in chosen if value in inputs}
        self._values = {value.name: value for value in chosen if value not in inputs}
        large: dict[str, NDArray[Any]] = {}
        proto = render.model(graph, list(self._values.values()), large)
        self._session = session(proto, large) if self._values else None

    def __call__(self, sample: Mapping[str, NDArray[Any]]) -> dict[Value, NDArray[np.float32]]:
        """Every value for one sample."""
        feeds = {port.value.name: _fed(port, sample) for port in self._ports}
        names = list(self._values)
        results = [] if self._session is None else self._session.run(names, feeds)
        found = {self._values[name]: array for name, array in zip(names, results, strict=True)}
        found.update({value: feeds[name] for name, value in self._inputs.items()})
        return found


def _fed(port: Any, sample: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
    if port.name not in sample:
        raise CompileError(f"calibration: a sample lacks the input {port.name!r}")
    array = sample[port.name]
    if array.shape != port.shape:
        said = " x ".join(map(str, array.shape))
        raise CompileError(
            f"calibration: a sample for input {port.name!r} is {said}, not "
            f"{' x '.join(map(str, port.shape))}"
        )
    found: NDArray[np.float32] = port.to_value(array)
    return found


@dataclass(slots=True)
class Statistics:
    """What running the float network has shown, by names of values: *means* of each channel [c]
    over samples and pixels, *spans* from the least to the largest element."""

    means: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    spans: dict[str, tuple[float, float]] = field(default_factory=dict)


def statistics(
    graph: Graph,
    samples: Iterable[Mapping[str, NDArray[Any]]],
    values: Iterable[Value] | None = None,
) -> Statistics:
    """Means and spans of all values, or of some *values*.

    *samples* are {name of an input: array of the ONNX input's shape}. Raises CompileError.
    """
    run = Runner(graph, values)
    found = Statistics()
    count = 0
    for sample in samples:
        for value, array in run(sample).items():
            name = value.name
            means = array.mean((0, 2, 3), dtype=np.float64)
            found.means[name] = found.means.get(name, 0.0) + means
            low, high = found.spans.get(name, (np.inf, -np.inf))
            found.spans[name] = min(low, float(array.min())), max(high, float(array.max()))
        count += 1
    if not count:
        raise CompileError("calibration: there are no samples")
    for name, total in found.means.items():
        found.means[name] = total / count
    return found


def channel_means(
    graph: Graph, samples: Iterable[Mapping[str, NDArray[Any]]]
) -> dict[str, NDArray[np.float64]]:
    """The means of :func:`statistics`."""
    return statistics(graph, samples).means


def statistics_for(
    graph: Graph, samples: Iterable[Mapping[str, NDArray[Any]]] | None, precision: str
) -> Statistics:
    """What the back end wants to know of *samples*; fp16 needs the inputs of curves only."""
    if samples is None:
        return Statistics()
    if precision != "fp16":
        return statistics(graph, samples)
    curves = [node for node in graph.nodes if isinstance(node, Curve)]
    if not curves:
        return Statistics()
    values = dict.fromkeys(value for node in curves for value in (*node.inputs, node.output))
    return replace(statistics(graph, samples, values), means={})
