"""What ``cudla-sim compile`` and ``cudla-sim trtexec`` have in common: from a file to a file."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cudla_sim.nvdla.facts.precisions import NAMES

from ..core.output import write_whole
from ..core.text import because
from . import calibrate, front
from .backend import PASSES, Compiled, compile_graph
from .batch import batched, grouped
from .errors import CompileError, Refusal, Refused
from .front import simplify
from .graph import Graph
from .options import Options
from .passes import Pass
from .request import Request as Request

if TYPE_CHECKING:
    from . import mixed

FORMATS = {
    "chw16": "chw16",
    "chw32": "chw32",
    "chw4": "chw4",
    "dla_hwc4": "dla_hwc4",
    "hwc4": "dla_hwc4",
    "dla_linear": "dla_linear",
    "linear": "dla_linear",
}
"""Words for formats, and the name that the compiler knows."""
INVENTED = 4
"""Random samples that stand for data where ranges are invented, and for --accuracy."""

Say = Callable[[str], None]


class UsageError(Exception):
    """An option that makes no sense: exit status 2."""


@dataclass(slots=True)
class Result:
    """A compiled network and all that is worth telling."""

    graph: Graph
    compiled: Compiled
    report: dict[str, Any]
    samples: calibrate.Samples | None
    batch: int = 1
    """How many times the pictures of the graph the loadable takes."""


def listed() -> list[Pass[Any]]:
    """Every pass of a compilation from an ONNX model to a loadable, in order."""
    return [*simplify.PASSES, *PASSES]


def run(request: Request, say: Say, progress: Callable[[int], None] | None = None) -> Result:
    """Reads, calibrates, compiles. *say* gets a line for each thing that users should know.

    Raises CompileError (Refused with all nodes), UsageError.
    """
    if request.batch > 1 and (request.target is not None or request.whole):
        raise UsageError(
            "--batch does not go with --target-db and --precision auto, which run single pictures:"
            " name the layers that they find with --keep-fp16"
        )
    clock = _Clock()
    graph = front.read(
        request.model,
        outputs=request.outputs,
        shapes=request.shapes,
        watch=request.watch,
        pixels=front.Pixels(request.pixels, request.mean, request.scale),
    )
    clock.lap("front")
    if graph.refusals:
        raise _explained(request, graph, ())
    for note in graph.notes:
        say(note)
    options = _formats(request, graph)
    samples, scales, source = _scales(request, graph, options, say, progress)
    seen = calibrate.statistics_for(graph, samples, options.precision)
    clock.lap("calibration")
    mixed = None
    try:
        if (request.target is not None or request.whole) and options.precision == "int8":
            mixed = _mixed(request, graph, scales, options, samples, seen, say)
            compiled = mixed.compiled
        else:
            whole = batched(graph, request.batch)
            compiled = compile_graph(whole, scales, options, seen.means, request.watch, seen.spans)
    except Refused as error:
        raise _explained(request, graph, error.refusals) from None
    for note in coarse_curves(compiled, samples is not None or bool(scales)):
        say(note)
    clock.lap("back end")
    if request.save_calib is not None:
        kind = "minmax" if request.method == "auto" else request.method
        table = calibrate.Table.of(scales, kind)
        write_whole(request.save_calib, table.text().encode())
    report = {
        "model": str(request.model),
        "config": options.config,
        "precision": compiled.precision,
        "bytes": len(compiled.loadable),
        "notes": graph.notes,
        "calibration": {"source": source, "method": request.method},
        "seconds": clock.laps,
        **compiled.report,
    }
    if mixed is not None:
        report["mixed"] = {"tried": [asdict(item) for item in mixed.tried]}
        report["mixed"]["keep_fp16"] = mixed.choice.keep
    return Result(graph, compiled, report, samples, request.batch)


def _mixed(
    request: Request,
    graph: Graph,
    scales: dict[str, float],
    options: Options,
    samples: calibrate.Samples | None,
    seen: calibrate.Statistics,
    say: Say,
) -> mixed.Found:
    from . import mixed

    if samples is None:
        raise CompileError("--target-db measures on calibration data: give some with --calib")
    some = list(islice(samples, mixed.SAMPLES))
    search = mixed.Search(
        graph, scales, options, some, seen.means, seen.spans, say, whole=request.whole
    )
    target = mixed.TARGET if request.target is None else request.target
    found = search.run(target)
    if found.choice.decibels < target:
        say(f"{target:g} dB are not reached: {found.choice.decibels:.1f} dB are the best")
    return found


def _explained(request: Request, graph: Graph, found: Sequence[Refusal]) -> Refused:
    if request.parts:
        return Refused([*graph.refusals, *found])
    from . import refusals

    return refusals.explained(request, graph, found)


COARSE = 40.0
"""Decibels below which users are told of a curve."""


def coarse_curves(compiled: Compiled, measured: bool) -> Iterator[str]:
    """A line for each curve that no table brings near enough."""
    for name, decibels in compiled.report["curves"].items():
        if decibels < COARSE:
            cure = (
                "keep its inputs in a smaller range, or leave it to the host with --fallback cpu"
                if measured
                else "its inputs are not known: give data with --calib"
            )
            near = f"the tables of {name!r} come no nearer to the curve than {decibels:.0f} dB"
            yield f"{near}; {cure}"


class _Clock:
    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = round(now - self._last, 3)
        self._last = now


# --- options that name inputs and outputs


def _formats(request: Request, graph: Graph) -> Options:
    options = request.options
    found = []
    for what, ports, by_name, words in (
        ("input", graph.inputs, options.input_formats, request.input_words),
        ("output", graph.outputs, options.output_formats, request.output_words),
    ):
        names = [port.name for port in ports]
        unknown = [name for name in by_name if name not in names]
        if unknown:
            raise UsageError(f"no {what} is called {unknown[0]!r}; there are {', '.join(names)}")
        if len(words) > 1 and len(words) != len(names):
            raise UsageError(f"{len(words)} formats for {len(names)} {what}s: {', '.join(names)}")
        given = list(words) * len(names) if len(words) == 1 else list(words)
        found.append({**dict(zip(names, given, strict=False)), **by_name})
    return replace(options, input_formats=found[0], output_formats=found[1])


def format_word(word: str) -> str:
    """``type:format`` with the format's usual name. Raises UsageError."""
    kind, colon, name = word.partition(":")
    if not colon or kind not in NAMES or name not in FORMATS:
        raise UsageError(
            f"{word!r} is no format; say type:format with {', '.join(NAMES)} and "
            f"{', '.join(dict.fromkeys(FORMATS.values()))}"
        )
    return f"{kind}:{FORMATS[name]}"


def pixels_of(words: Sequence[str]) -> dict[str, str]:
    """``NAME:nhwc`` words. Raises UsageError."""
    found = {}
    for word in words:
        name, colon, layout = word.rpartition(":")
        if not colon or not name or layout not in front.PIXEL_LAYOUTS:
            raise UsageError(
                f"--pixels: {word!r} is not NAME:{' or NAME:'.join(front.PIXEL_LAYOUTS)}"
            )
        found[name] = layout
    return found


def named(words: Sequence[str], what: str) -> dict[str, str]:
    """``NAME=value`` words; the last = of a word separates. Raises UsageError."""
    found = {}
    for word in words:
        name, equals, value = word.rpartition("=")
        if not equals or not name or not value:
            raise UsageError(f"{what}: {word!r} is not NAME=VALUE")
        found[name] = value
    return found


_SHAPE = re.compile(r",*(.+?):([0-9]+(?:x[0-9]+)*)(?:,+|$)")
"""Names may have colons and commas."""


def shapes_of(words: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """``name:1x3x224x224`` words, several to a word with commas. Raises UsageError."""
    found = {}
    for word in words:
        at = 0
        while at < len(word):
            one = _SHAPE.match(word, at)
            shape = tuple(int(size) for size in one[2].split("x")) if one else ()
            if one is None or min(shape) < 1:
                raise UsageError(f"--shapes: {word[at:]!r} is not name:1x3x224x224")
            found[one[1]] = shape
            at = one.end()
    return found


# --- scales


def _scales(
    request: Request,
    graph: Graph,
    options: Options,
    say: Say,
    progress: Callable[[int], None] | None,
) -> tuple[calibrate.Samples | None, dict[str, float], str]:
    """Samples, scales and where they come from."""
    tables = [path for path in request.calib if calibrate.Table.is_table(path)]
    data = [path for path in request.calib if path not in tables]
    samples = None
    if data:
        samples = calibrate.load_samples(graph, data, **request.of_samples())
    if options.precision == "fp16" and not options.keep_fp16:
        if tables:
            say("fp16 needs no scales: the calibration cache is not used")
        return samples, {}, "none"
    if request.equalise:
        _equalise(request, graph, options, samples, say)
    if samples is not None:
        scales, sources = _measured(request, samples, options, say, progress), ["samples"]
    else:
        scales, sources = {}, []
    for path in tables:
        found = calibrate.applied(graph, calibrate.Table.read(path))
        _tell(path, found, say)
        scales.update(found.scales)
        sources.append("cache")
    quantised = {v.name: v.scale for v in graph.values() if v.scale is not None}
    if quantised:
        scales.update(quantised)
        sources.append("Q/DQ")
    if request.invent and not data and not tables:
        scales = {**calibrate.ranges(graph, random_samples(graph)), **quantised}
        say("ranges are invented from random inputs: good for timing, not for results")
        sources.append("invented")
    if not sources:
        raise CompileError(
            f"{options.precision} needs ranges: give data with --calib FOLDER or FILE.npy, a "
            "calibration cache, a model with QuantizeLinear and DequantizeLinear, or "
            "--invent-ranges for timing only"
        )
    return samples, scales, " + ".join(sources)


def _equalise(
    request: Request,
    graph: Graph,
    options: Options,
    samples: calibrate.Samples | None,
    say: Say,
) -> None:
    """Raises UsageError."""
    from .equalise import equalise

    if samples is None or options.precision != "int8" or request.save_calib is not None:
        raise UsageError(
            "--equalise is for int8 with data in --calib, and its scales are of no use in a"
            " calibration cache (--save-calib)"
        )
    done = equalise(graph, samples)
    say(f"equalised: the channels behind {len(done)} convolutions")


def _measured(
    request: Request,
    samples: calibrate.Samples,
    options: Options,
    say: Say,
    progress: Callable[[int], None] | None,
) -> dict[str, float]:
    from ..compiler.calibrate.results import key_of, remembered

    automatic = request.method == "auto" and options.precision == "int8"
    method = "minmax" if request.method == "auto" else request.method

    def build(scales: dict[str, float]) -> bytes:
        return compile_graph(samples.graph, scales, options).loadable

    def measure() -> dict[str, float]:
        if automatic:
            scales, chosen = calibrate.best(samples, build, progress)
            say(f"calibration by {chosen} suits this network best")
            return scales
        return calibrate.ranges(
            samples.graph,
            samples,
            method,
            percentile=request.percentile,
            progress=progress,
        )

    try:
        words = f"auto {options}" if automatic else method
        key = key_of(samples, words, request.percentile)
    except OSError as error:
        raise CompileError(f"calibration: {because(error)}") from None
    scales, known = remembered(key, measure)
    if known:
        say(
            "calibration is known from an earlier run with the same network and data "
            "(cudla-sim cache)"
        )
    return scales


def _tell(path: Path, found: calibrate.table.Applied, say: Say) -> None:
    for what, names in (("lacks", found.missing), ("has unused", found.unused)):
        if names:
            more = f" and {len(names) - 10} more" if len(names) > 10 else ""
            say(f"calibration cache {path} {what} {', '.join(names[:10])}{more}")


def random_samples(graph: Graph, count: int = INVENTED) -> list[dict[str, Any]]:
    """Inputs of normally distributed numbers, always the same."""
    random = np.random.default_rng(0)
    found = []
    for _ in range(count):
        sample = {}
        for port in graph.inputs:
            array = random.normal(size=port.value.shape).astype(np.float32)
            if port.scale is not None:
                array *= 40 * port.scale  # integers of the whole range
            sample[port.name] = port.from_value(array)
        found.append(sample)
    return found


def accuracy_of(
    result: Result, say: Say, progress: Callable[[int, int], None] | None = None
) -> Any:
    """The compiled network beside the float network, on the calibration samples; *progress* is told
    how many of them are done, of how many."""
    from . import accuracy

    if result.samples is not None:
        samples = list(islice(result.samples, 8))
    else:
        samples = random_samples(result.graph)
        say("accuracy: without --calib data, on random inputs")
    graph = batched(result.graph, result.batch)
    groups = list(grouped(samples, result.batch))
    return accuracy.measure(
        result.compiled.loadable,
        graph,
        groups,
        progress=progress and (lambda done: progress(done, len(groups))),
    )
