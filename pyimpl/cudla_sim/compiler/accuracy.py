"""How near a compiled network comes to the float network: SQNR and cosine, value by value.

The loadable runs on the model of the hardware; values that lie in memory are read when they are
complete. The reference is the graph in onnxruntime, in single precision and without its own
optimisations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import inf, log10, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.annotation import PlaceNote

from .graph import Array, Graph, Value

Sample = Mapping[str, NDArray[Any]]
Reference = Callable[[Sample], Mapping[str, Array]]
"""From the network's inputs (ONNX tensors by name) to values of the graph by name."""


@dataclass(frozen=True, slots=True)
class Row:
    """One value over all samples. SQNR in dB: energy of the float values over that of the errors.

    The centred figures take the mean float value of each element (over the samples) off both
    sides first, so that a constant answer earns nothing; None for layers. *largest* is the
    largest error, in parts of the largest float magnitude.
    """

    name: str
    nodes: tuple[str, ...]
    precision: str
    sqnr: float
    cosine: float
    largest: float
    centred_sqnr: float | None = None
    centred_cosine: float | None = None


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Outputs in the order of the network, layers with the worst first."""

    samples: int
    outputs: tuple[Row, ...]
    layers: tuple[Row, ...]

    @property
    def worst(self) -> float:
        """SQNR of the worst output."""
        return min((row.sqnr for row in self.outputs), default=inf)

    def as_dict(self) -> dict[str, Any]:
        """For JSON; a figure without bound (no error at all) is None."""

        def plain(row: Row) -> dict[str, Any]:
            return {
                key: None if isinstance(value, float) and not np.isfinite(value) else value
                for key, value in asdict(row).items()
            }

        return {
            "samples": self.samples,
            "outputs": [plain(row) for row in self.outputs],
            "layers": [plain(row) for row in self.layers],
        }


@dataclass
class _Sums:
    """What both figures need, collected sample by sample."""

    centred: bool
    count: int = 0
    xx: float = 0.0
    yy: float = 0.0
    xy: float = 0.0
    noise: float = 0.0
    error: float = 0.0
    peak: float = 0.0
    x_sum: NDArray[np.float64] = field(default_factory=lambda: np.zeros(()))
    y_sum: NDArray[np.float64] = field(default_factory=lambda: np.zeros(()))

    def add(self, expected: NDArray[Any], found: NDArray[Any]) -> None:
        x, y = (np.asarray(item, np.float64).ravel() for item in (expected, found))
        difference = x - y
        self.count += 1
        self.xx += _dot(x, x)
        self.yy += _dot(y, y)
        self.xy += _dot(x, y)
        self.noise += _dot(difference, difference)
        self.error = max(self.error, float(np.abs(difference).max(initial=0)))
        self.peak = max(self.peak, float(np.abs(x).max(initial=0)))
        if self.centred:
            self.x_sum, self.y_sum = self.x_sum + x, self.y_sum + y

    def row(self, name: str, nodes: tuple[str, ...], precision: str) -> Row:
        largest = self.error / self.peak if self.peak else (inf if self.error else 0.0)
        centred: tuple[float | None, float | None] = None, None
        if self.centred:
            # with m the mean of x: sums of (x - m)^2, (x - m)(y - m) and (y - m)^2
            x, y = self.x_sum, self.y_sum
            square, product = float(np.sum(x * x)) / self.count, float(np.sum(x * y)) / self.count
            xx, xy = max(self.xx - square, 0.0), self.xy - product
            yy = max(self.yy - 2 * product + square, 0.0)
            centred = _decibels(xx, self.noise), _cosine(xx, yy, xy)
        return Row(
            name,
            nodes,
            precision,
            _decibels(self.xx, self.noise),
            _cosine(self.xx, self.yy, self.xy),
            largest,
            *centred,
        )


def _dot(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """On one core: threads of a BLAS wait for one another longer than this takes."""
    return float(np.einsum("i,i->", a, b))


def _decibels(signal: float, noise: float) -> float:
    if noise <= 0:
        return inf
    return 10 * log10(signal / noise) if signal > 0 else -inf


def _cosine(xx: float, yy: float, xy: float) -> float:
    if xx <= 0 or yy <= 0:
        return 1.0 if xx <= 0 and yy <= 0 else 0.0
    return xy / sqrt(xx * yy)


def float_reference(graph: Graph, names: Iterable[str]) -> Reference:
    """Values of *graph* by name in onnxruntime."""
    from . import render
    from .runtime import session

    inputs = {port.value.name for port in graph.inputs}
    wanted = [value for value in _named(graph, names) if value.name not in inputs]
    large: dict[str, NDArray[Any]] = {}
    running = session(render.model(graph, wanted, large), large)

    def compute(sample: Sample) -> Mapping[str, Array]:
        feeds = {port.value.name: port.to_value(sample[port.name]) for port in graph.inputs}
        found = running.run([value.name for value in wanted], feeds)
        return dict(zip((value.name for value in wanted), found, strict=True)) | feeds

    return compute


def _named(graph: Graph, names: Iterable[str]) -> list[Value]:
    wanted = set(names)
    return [value for value in graph.values() if value.name in wanted]


def measure(
    loadable: bytes,
    graph: Graph,
    samples: Sequence[Sample],
    *,
    layers: bool = True,
    reference: Reference | None = None,
    progress: Callable[[int], None] | None = None,
) -> Accuracy:
    """Run *loadable* on *samples* (ONNX input tensors by name) beside the float network.

    *layers* compares each value of the graph that lies in memory, too; *reference* replaces
    onnxruntime; *progress* is told how many samples are done. Raises NvdlaError.
    """
    from cudla_sim.nvdla.real_numbers import RealNetwork  # with all of the hardware's model

    with RealNetwork(loadable) as network:
        places = network.note.places if layers else ()
        names = {place.name for place in places} | {port.value.name for port in graph.outputs}
        compute = reference or float_reference(graph, names)
        inner = {place.name: _Sums(centred=False) for place in places}
        outer = {port.name: _Sums(centred=True) for port in graph.outputs}
        for number, sample in enumerate(samples):
            expected = compute(sample)

            def seen(
                place: PlaceNote, found: Array, expected: Mapping[str, Array] = expected
            ) -> None:
                inner[place.name].add(expected[place.name], found)

            results = network.run(sample, seen if layers else None)
            for port in graph.outputs:
                outer[port.name].add(port.from_value(expected[port.value.name]), results[port.name])
            if progress is not None:
                progress(number + 1)
        nodes = {(note.task, note.index): note.nodes for note in network.note.operations}
        rows = [
            inner[place.name].row(place.name, _nodes(place, nodes), place.precision)
            for place in places
        ]
        makers = {node.output: (node.name,) for node in graph.nodes}
        options = network.note.options
        outputs = tuple(
            outer[port.name].row(
                port.name, makers.get(port.value, ()), str(options.get("precision", ""))
            )
            for port in graph.outputs
        )
    return Accuracy(len(samples), outputs, tuple(sorted(rows, key=lambda row: row.sqnr)))


def _nodes(place: PlaceNote, known: Mapping[tuple[int, int], tuple[str, ...]]) -> tuple[str, ...]:
    """The ONNX nodes whose operations made a value."""
    found = (name for index in place.operations for name in known.get((place.task, index), ()))
    return tuple(dict.fromkeys(found))
