"""``cudla-sim compile --fallback cpu``: from a file to a network in parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from . import calibrate, compilation
from .errors import CompileError
from .front import Pixels, put_in_front
from .front.reading import load_model
from .graph import Graph, Port, Value
from .partition import Package, compile_partitions
from .partition.split import prepare

MOST_SAMPLES = 32
"""Calibration samples that are kept in memory with all tensors between the parts."""


def compile_package(
    request: compilation.Request, say: Callable[[str], None], most: int | None = None
) -> Package:
    """Compile what the hardware can do; the rest runs on the host, in at most *most* parts. Raises
    CompileError."""
    if request.outputs:
        raise CompileError("--outputs and --fallback do not go together: cut the model first")
    if request.batch > 1:
        raise CompileError(
            "--batch and --fallback do not go together: --shapes gives more pictures"
        )
    if any(calibrate.Table.is_table(path) for path in request.calib):
        raise CompileError("--fallback needs calibration data, not a calibration cache")
    model, shapes = load_model(Path(request.model)), request.shapes
    if request.pixels:
        pixels = Pixels(request.pixels, request.mean, request.scale)
        model, shapes = put_in_front(model, pixels), pixels.shapes(shapes)
    samples = []
    if request.calib:
        inputs = _inputs_only(prepare(model, shapes))
        data = calibrate.load_samples(inputs, request.calib, **request.of_samples())
        samples = list(islice(data, MOST_SAMPLES))
    elif request.invent and request.options.precision != "fp16":
        samples = compilation.random_samples(_inputs_only(prepare(model, shapes)))
        say("ranges are invented from random inputs: good for timing, not for results")
    return compile_partitions(
        model,
        request.options,
        samples,
        shapes=shapes,
        method=request.method,
        most=most,
        say=say,
    )


def _inputs_only(model: Any) -> Graph:
    """The inputs of a model as ports, for reading samples; pictures may be NHWC."""
    stored = {item.name for item in model.graph.initializer}
    ports = []
    for item in model.graph.input:
        if item.name in stored:
            continue
        sizes = tuple(dim.dim_value for dim in item.type.tensor_type.shape.dim)
        n, c, h, w = (*sizes, 1, 1, 1, 1)[:4]
        order = (0, 1, 2, 3)
        if len(sizes) == 4 and c not in (1, 3, 4) and w in (1, 3, 4):
            (n, h, w, c), order = sizes, (0, 2, 3, 1)
        ports.append(
            Port(name=item.name, shape=sizes, value=Value(item.name, (n, c, h, w)), order=order)
        )
    return Graph(inputs=ports, outputs=[], nodes=[])


def report(request: compilation.Request, package: Package, size: int) -> dict[str, Any]:
    """What is known, for --report."""
    parts = [{**asdict(part), "data": len(part.data)} for part in package.parts]
    return {
        "model": str(request.model),
        "config": package.config,
        "precision": request.options.precision,
        "bytes": size,
        "parts": parts,
    }
