"""The reports of trtexec about an engine that runs, in its wording and in hardware time.

Queries follow each other as they would on one stream; every one takes what the pipeline model says,
transfers what the memory's bandwidth says. Source: the reports of trtexec of TensorRT 8.6.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from ...nvdla.facts.configs import config
from ...nvdla.loadable import Loadable
from ...nvdla.parts.package import MAGIC, Package
from ...nvdla.target import choose
from ...nvdla.timing.layer_times import layer_times
from ...nvdla.timing.parameters import Surroundings, transfer_cycles

_MOST = 100_000
"""Queries that a duration alone asks for: all of them are alike."""
_PERCENTILES = (90, 95, 99)


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer of the profile: its name as the network has it, and its time in a query."""

    name: str
    milliseconds: float


@dataclass(slots=True)
class Engine:
    """A loadable, or a package of parts, and what a query of it takes. *host* are the parts whose
    time is not known."""

    layers: list[Layer]
    host: list[str]
    h2d: float
    d2h: float

    @property
    def compute(self) -> float:
        """Milliseconds of a query on the DLA."""
        return sum(layer.milliseconds for layer in self.layers)

    @property
    def latency(self) -> float:
        """Milliseconds of a query with its transfers."""
        return self.h2d + self.compute + self.d2h


@dataclass(frozen=True, slots=True)
class Pace:
    """How long queries are repeated: before anything counts, and then at least."""

    warm_up: float = 200.0
    duration: float = 3.0
    iterations: int = 10
    average: int = 10

    def queries(self, engine: Engine) -> tuple[int, int]:
        """How many do not count, and how many do."""
        one = max(engine.latency, 1e-6)
        wanted = max(self.iterations, min(ceil(self.duration * 1e3 / one), _MOST))
        return ceil(self.warm_up / one), wanted


def engine_of(data: bytes, hardware: str, around: Surroundings) -> Engine:
    """Time an engine file. Raises NvdlaError, CompileError."""
    if not data.startswith(MAGIC):
        network = Loadable.parse(data)
        chosen = choose(network, hardware)
        h2d, d2h = (
            sum(transfer_cycles(tensor.size, config(chosen), around) for tensor in tensors)
            / around.clock_mhz
            / 1e3
            for tensors in (network.inputs, network.outputs)
        )
        return Engine(list(_layers(network, chosen, around)), [], h2d, d2h)
    package = Package.decode(data)
    engine = Engine([], [], 0.0, 0.0)
    for part in package.parts:
        if part.host:
            engine.host += part.nodes
            continue
        found = engine_of(part.data, hardware or package.config, around)
        engine.layers += found.layers
        engine.h2d += found.h2d
        engine.d2h += found.d2h
    return engine


def _layers(network: Loadable, hardware: str, around: Surroundings) -> Iterator[Layer]:
    for name, cycles in layer_times(network, hardware, around).items():
        yield Layer(name, cycles / around.clock_mhz / 1e3)


def performance(engine: Engine, pace: Pace) -> Iterator[str]:
    """What trtexec prints about speed."""
    warm, count = pace.queries(engine)
    total = count * engine.latency / 1e3
    yield f"Warmup completed {warm} queries over {pace.warm_up:g} ms"
    yield f"Timing trace has {count} queries over {total:g} s"
    yield ""
    yield "=== Trace details ==="
    yield f"Trace averages of {pace.average} runs:"
    for _ in range(min(count // max(pace.average, 1), 10)):
        yield (
            f"Average on {pace.average} runs - GPU latency: {engine.compute:g} ms - Host latency: "
            f"{engine.latency:g} ms (enqueue 0 ms)"
        )
    yield ""
    yield "=== Performance summary ==="
    yield f"Throughput: {1e3 / max(engine.latency, 1e-9):g} qps"
    for name, value in (
        ("Latency", engine.latency),
        ("Enqueue Time", 0.0),
        ("H2D Latency", engine.h2d),
        ("GPU Compute Time", engine.compute),
        ("D2H Latency", engine.d2h),
    ):
        yield f"{name}: {_spread(value)}"
    yield f"Total Host Walltime: {total:g} s"
    yield f"Total GPU Compute Time: {count * engine.compute / 1e3:g} s"
    yield "Explanations of the performance metrics are printed in the verbose logs."


def _spread(value: float) -> str:
    """All queries take the same."""
    words = [f"{name} = {value:g} ms" for name in ("min", "max", "mean", "median")]
    words += [f"percentile({share}%) = {value:g} ms" for share in _PERCENTILES]
    return ", ".join(words)


def profile(engine: Engine, count: int) -> Iterator[str]:
    """What --dumpProfile prints."""
    total = max(engine.compute, 1e-12)
    yield f"=== Profile ({count} iterations ) ==="
    yield "   Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer"
    for layer in [*engine.layers, Layer("Total", engine.compute)]:
        one = layer.milliseconds
        share = 100 * one / total
        yield f"{one * count:11.2f}{one:13.4f}{one:13.4f}{share:10.1f}   {layer.name}"


def profile_json(engine: Engine, count: int) -> str:
    """What --exportProfile writes."""
    total = max(engine.compute, 1e-12)
    rows: list[dict[str, Any]] = [{"count": count}]
    rows += [
        {
            "name": layer.name,
            "timeMs": layer.milliseconds * count,
            "averageMs": layer.milliseconds,
            "medianMs": layer.milliseconds,
            "percentage": 100 * layer.milliseconds / total,
        }
        for layer in engine.layers
    ]
    return _rows(rows)


def times_json(engine: Engine, pace: Pace) -> str:
    """What --exportTimes writes: when each query was where, from the first one that counts."""
    _, count = pace.queries(engine)
    rows = []
    for number in range(count):
        start = number * engine.latency
        computes, leaves = start + engine.h2d, start + engine.h2d + engine.compute
        end = start + engine.latency
        rows.append(
            {
                "startEnqMs": start,
                "endEnqMs": start,
                "startH2dMs": start,
                "endH2dMs": computes,
                "startComputeMs": computes,
                "endComputeMs": leaves,
                "startD2hMs": leaves,
                "endD2hMs": end,
                "h2dMs": engine.h2d,
                "computeMs": engine.compute,
                "d2hMs": engine.d2h,
                "latencyMs": engine.latency,
            }
        )
    return _rows(rows)


def _rows(rows: Sequence[dict[str, Any]]) -> str:
    """A list with a line for each of its objects."""
    return "[\n  " + "\n, ".join(json.dumps(row) for row in rows) + "\n]\n"
