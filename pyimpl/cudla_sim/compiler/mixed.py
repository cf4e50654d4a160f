"""Which layers of an int8 network should compute in fp16 for a wanted accuracy.

The layers are ranked by the noise that each one adds, as the samples show, for the time that it
takes; then the shortest beginning of that list is found with which the network comes near enough.
Every figure is measured: networks are compiled, run beside the float network, and timed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from cudla_sim.nvdla.facts.configs import config
from cudla_sim.nvdla.facts.precisions import FP16
from cudla_sim.nvdla.loadable import Loadable
from cudla_sim.nvdla.timing.layer_times import layer_times
from cudla_sim.nvdla.timing.parameters import Surroundings

from . import accuracy
from .accuracy import Accuracy, Row, Sample
from .backend import Compiled, compile_graph
from .errors import CompileError
from .graph import Graph
from .options import Options

SAMPLES = 4
"""Samples on which each choice is run."""


WHOLE = 1 << 30
"""More layers than a network has: all, with inputs and outputs."""
TARGET = 40.0
"""Decibels that are wanted where nobody says how many."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Some layers in fp16: ONNX nodes, SQNR of the worst output, hardware time."""

    layers: int
    keep: tuple[str, ...]
    decibels: float
    milliseconds: float


@dataclass(slots=True)
class Found:
    """The choice that was taken, its loadable, and everything that was measured, by layers."""

    choice: Choice
    compiled: Compiled
    tried: list[Choice]


@dataclass(slots=True)
class Search:
    """One network and what it is compiled with."""

    graph: Graph
    scales: Mapping[str, float]
    options: Options
    samples: Sequence[Sample]
    means: Mapping[str, Any]
    spans: Mapping[str, tuple[float, float]]
    say: Callable[[str], None] = lambda text: None
    whole: bool = False
    """A network that is fp16 throughout, inputs and outputs included, will do, too."""

    def run(self, target: float) -> Found:
        """The fastest choice of the ranking with at least *target* dB, or the best one if none
        comes so near. Raises CompileError."""
        hardware = config(self.options.config)
        if FP16 not in hardware.precisions:
            raise CompileError(f"--target-db: {hardware.name} has no fp16 to keep layers in")
        samples = self.samples[:SAMPLES]
        reference = accuracy.float_reference(
            self.graph, [value.name for value in self.graph.values()]
        )
        known = {id(sample): reference(sample) for sample in samples}
        tried: dict[int, tuple[Choice, Compiled]] = {}

        def attempt(layers: int, keep: tuple[str, ...]) -> Accuracy:
            options = replace(self.options, keep_fp16=(*self.options.keep_fp16, *keep))
            if layers == WHOLE:
                options = replace(self.options, precision="fp16", keep_fp16=())
            made = compile_graph(self.graph, self.scales, options, self.means, None, self.spans)
            found = accuracy.measure(
                made.loadable,
                self.graph,
                samples,
                layers=not layers,
                reference=lambda sample: known[id(sample)],
            )
            cycles = sum(self._times(made).values())
            milliseconds = cycles / Surroundings().clock_mhz / 1e3
            choice = Choice(layers, keep, found.worst, milliseconds)
            tried[layers] = choice, made
            what = "everything" if layers == WHOLE else f"{layers} layers"
            self.say(f"{what} in fp16: {found.worst:.1f} dB, {milliseconds:.4g} ms")
            return found

        first = attempt(0, ())
        ranked = self._ranked(first, self._times(tried[0][1]))

        def reached(layers: int) -> bool:
            if layers not in tried:
                attempt(layers, tuple(name for row in ranked[:layers] for name in row))
            return tried[layers][0].decibels >= target

        low, high = 0, 1
        if not reached(0):
            while high < len(ranked) and not reached(min(high, len(ranked))):
                low, high = high, high * 2
            high = min(high, len(ranked))
            if ranked and reached(high):
                while high - low > 1:
                    middle = (low + high) // 2
                    low, high = (low, middle) if reached(middle) else (middle, high)
        missed = not any(entry[0].decibels >= target for entry in tried.values())
        if missed or (self.whole and not reached(0)):
            attempt(WHOLE, ())
        if not self.whole:
            tried.pop(WHOLE, None)
        enough = [entry for entry in tried.values() if entry[0].decibels >= target]
        chosen, compiled = (
            min(enough, key=lambda entry: entry[0].milliseconds)
            if enough
            else max(tried.values(), key=lambda entry: entry[0].decibels)
        )
        return Found(chosen, compiled, [tried[layers][0] for layers in sorted(tried)])

    def _times(self, made: Compiled) -> dict[str, int]:
        network = Loadable.parse(made.loadable)
        return layer_times(network, self.options.config, Surroundings())

    def _ranked(self, found: Accuracy, times: Mapping[str, int]) -> list[tuple[str, ...]]:
        """Nodes of layers, those first that add most noise for the time they take."""
        names = {name for node in self.graph.nodes for name in node.name.split(" + ")}
        rows = {row.name: row for row in found.layers}
        scores: dict[tuple[str, ...], float] = {}
        for row in rows.values():
            nodes = tuple(name for name in row.nodes if name in names)
            if not nodes:
                continue
            before = max((_noise(rows[name]) for name in self._inputs(row, rows)), default=0.0)
            added = max(_noise(row) - before, _noise(row) * 1e-3)
            spent = sum(
                times.get(label, 0) for label in times if set(label.split(" + ")) & {*nodes}
            )
            scores[nodes] = max(scores.get(nodes, 0.0), added / max(spent, 1))
        return sorted(scores, key=lambda nodes: -scores[nodes])

    def _inputs(self, row: Row, rows: Mapping[str, Row]) -> set[str]:
        """The nearest values in memory that a value is computed from."""
        makers = {node.output.name: node for node in self.graph.nodes}
        found: set[str] = set()
        seen, open_ = {row.name}, [row.name]
        while open_:
            node = makers.get(open_.pop())
            for value in node.inputs if node is not None else ():
                if value.name in rows:
                    found.add(value.name)
                elif value.name not in seen:
                    seen.add(value.name)
                    open_.append(value.name)
        return found


def _noise(row: Row) -> float:
    """Noise beside the signal."""
    return float(10 ** (-row.sqnr / 10)) if isfinite(row.sqnr) else 0.0
