"""ONNX's own node tests, compiled and run: fp16 on nv_full, int8 on nv_large and nv_small."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.compiler import front, render
from cudla_sim.compiler.backend import compile_graph
from cudla_sim.compiler.errors import CompileError, Refused
from cudla_sim.compiler.graph import Graph
from cudla_sim.compiler.options import Options

from .node_cases import Case
from .reference import run as reference
from .running import run

Arrays = dict[str, NDArray[Any]]


def _feeds(graph: Graph, case: Case, scales: dict[str, float] | None) -> Arrays:
    """Inputs as [n, c, h, w], as the element type can hold them."""
    feeds = {}
    for port in graph.inputs:
        real = port.to_value(case.inputs[port.name])
        if scales is not None:
            step = np.float32(scales[port.value.name])
            real = np.clip(np.rint(real / step), -128, 127) * step
        feeds[port.value.name] = np.asarray(real, np.float32)
    return feeds


def _scales(graph: Graph, case: Case) -> dict[str, float]:
    feeds = _feeds(graph, case, None)
    others = [value for value in graph.values() if value.name not in feeds]
    found = reference(render.model(graph, others), feeds) | feeds
    return {name: float(np.abs(array).max() or 1.0) / 127 for name, array in found.items()}


def attempt(case: Case, config: str, precision: str) -> str:
    """Return "passed", or why not."""
    try:
        graph = front.load(case.model)
        if not graph.nodes:
            return "passed"
        scales = _scales(graph, case)
        compiled = compile_graph(graph, scales, Options(config=config, precision=precision))
    except Refused as refused:
        return f"refused: {refused}"
    except CompileError as error:
        return f"error: {error}"
    feeds = _feeds(graph, case, scales if precision == "int8" else None)
    results = run(compiled, config, [feeds[port.value.name] for port in graph.inputs])
    outputs = [port.value for port in graph.outputs]
    expected = reference(render.model(graph, outputs), feeds)
    for port, result in zip(graph.outputs, results, strict=True):
        want = expected[port.value.name].astype(np.float64)
        size = float(np.abs(want).max()) or 1.0
        worst = float(np.abs(result - want).max())
        if worst > size * (4e-3 if precision == "fp16" else 3.2 / 127):
            return f"wrong: off by {worst:.3g} of {size:.3g}"
    return "passed"
