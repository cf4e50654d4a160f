"""Compile a graph, run the loadable, and compare with the naive reference."""

from __future__ import annotations

import numpy as np

from cudla_sim.compiler import graph as g
from cudla_sim.compiler.backend import Compiled, compile_graph
from cudla_sim.compiler.options import Options
from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import Engine, Loadable, LoadedNetwork, annotation, layout
from cudla_sim.nvdla.check import check
from cudla_sim.nvdla.facts.configs import config as hardware

from .naive_graph import evaluate

TOPS = {"int8": 127, "int16": 32767}


def graph_of(nodes: list[g.Node], inputs: list[g.Value], outputs: list[g.Value]) -> g.Graph:
    """A graph whose ports are its values."""
    ports = [
        [g.Port(name=value.name, shape=value.shape, value=value) for value in values]
        for values in (inputs, outputs)
    ]
    return g.Graph(inputs=ports[0], outputs=ports[1], nodes=nodes)


def ranges(graph: g.Graph, samples: list[list[np.ndarray]], precision: str) -> dict[str, float]:
    """Scales from the largest magnitudes of the float reference."""
    if precision == "fp16":
        return {}
    largest: dict[str, float] = {}
    for sample in samples:
        for value, array in evaluate(graph, sample).items():
            largest[value.name] = max(largest.get(value.name, 0.0), float(np.abs(array).max()))
    return {name: (top or 1.0) / 127 for name, top in largest.items()}


def run(compiled: Compiled, config: str, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """Run a loadable on real inputs [n, c, h, w]; return real outputs."""
    loadable, space = Loadable.parse(compiled.loadable), AddressSpace()
    note = annotation.read(loadable)
    assert note is not None
    network = LoadedNetwork(loadable, space, config)
    sources, targets = [], []
    for tensor, port, array in zip(loadable.inputs, note.inputs, inputs, strict=True):
        region = space.allocate(tensor.size, name=port.name)
        dtype = layout.tensor_dtype(tensor)
        data = np.asarray(array)
        if port.scale is not None:
            info = np.iinfo(dtype)
            data = np.clip(np.rint(data / port.scale), info.min, info.max)
        region.data[:] = layout.pack_tensor(tensor, data.astype(dtype))
        sources.append(region)
    for tensor, port in zip(loadable.outputs, note.outputs, strict=True):
        targets.append(space.allocate(tensor.size, name=port.name))
    Engine(config).run(network, [item.base for item in sources], [item.base for item in targets])
    return [
        layout.unpack_tensor(tensor, region.data).astype(np.float64) * (port.scale or 1.0)
        for tensor, region, port in zip(loadable.outputs, targets, note.outputs, strict=True)
    ]


def snapped(array: np.ndarray, scale: float | None) -> np.ndarray:
    """What an integer input can represent of real numbers."""
    return array.astype(np.float16) if scale is None else np.rint(array / scale) * scale


def compare(
    graph: g.Graph,
    inputs: list[np.ndarray],
    config: str,
    precision: str,
    steps: float = 2.0,
    relative: float = 4e-3,
    options: Options | None = None,
) -> None:
    """Outputs agree within some integer steps, or a share of the largest value in fp16; the
    loadable is one that hardware takes."""
    scales = ranges(graph, [inputs], precision)
    compiled = compile_graph(graph, scales, options or Options(config=config, precision=precision))
    problems = check(Loadable.parse(compiled.loadable), hardware(config))
    assert not problems, problems[:3]
    finer = 127 / TOPS.get(precision, 127)
    steps_of = {name: scale * finer for name, scale in scales.items()}
    inputs = [
        snapped(array, steps_of.get(port.name))
        for port, array in zip(graph.inputs, inputs, strict=True)
    ]
    values = evaluate(graph, inputs)
    for port, result in zip(graph.outputs, run(compiled, config, inputs), strict=True):
        expected = values[port.value]
        size = float(np.abs(expected).max()) or 1.0
        if precision == "int16":
            steps = max(steps, 4.0)  # weights of 16 bits round, too
        allowed = relative * size if precision == "fp16" else steps * size / TOPS[precision]
        worst = float(np.abs(result - expected).max())
        assert worst <= allowed, f"{port.name}: off by {worst}, {allowed} allowed (of {size})"
