"""Runs models and graphs in onnxruntime, as they are written."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray

from cudla_sim.compiler import render
from cudla_sim.compiler.graph import Graph

Arrays = dict[str, NDArray[Any]]


def run(model: onnx.ModelProto, inputs: Arrays) -> Arrays:
    """Outputs by name. Without optimisation: some of onnxruntime's change results."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    copy.ir_version = min(model.ir_version, 8)  # onnxruntime may be older than onnx
    session = onnxruntime.InferenceSession(copy.SerializeToString(), options)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, inputs), strict=True))


def run_graph(graph: Graph, inputs: Arrays) -> Arrays:
    """The network's outputs by name, computed by the graph."""
    feeds = {port.value.name: port.to_value(inputs[port.name]) for port in graph.inputs}
    results = run(render.model(graph), feeds)
    return {port.name: port.from_value(results[port.value.name]) for port in graph.outputs}


def assert_same(
    graph: Graph, model: onnx.ModelProto, rtol: float = 1e-4, atol: float = 1e-5, seed: int = 0
) -> None:
    """The graph computes what the model does, on random inputs."""
    random = np.random.default_rng(seed)
    inputs = {port.name: random.normal(size=port.shape).astype(port.dtype) for port in graph.inputs}
    expected = run(model, inputs)
    found = run_graph(graph, inputs)
    for name, array in found.items():
        assert array.shape == expected[name].shape
        np.testing.assert_allclose(array, expected[name], rtol=rtol, atol=atol)
