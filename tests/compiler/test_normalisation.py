"""Normalisation by the data's own mean and variance: in halves, whatever the rest computes in."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from cudla_sim.compiler import calibrate, front
from cudla_sim.compiler.backend import compile_graph
from cudla_sim.compiler.errors import Refused
from cudla_sim.compiler.options import Options
from tests.compiler.reference import assert_same
from tests.compiler.whole_way import compare

RANDOM = np.random.default_rng(6)


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return RANDOM.normal(size=shape).astype(np.float32)


def network(
    op: str, shape: list[int], *factors: int, opset: int = 17, **attributes: Any
) -> onnx.ModelProto:
    """One layer; *factors* are the sizes of its scale and bias."""
    stored = {f"k{number}": normal(size) for number, size in enumerate(factors)}
    node = helper.make_node(op, ["x", *stored], ["y"], name="layer", **attributes)
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xy"]
    constants = [numpy_helper.from_array(array, name) for name, array in stored.items()]
    graph = helper.make_graph([node], "normal", ports[:1], ports[1:], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def in_pieces() -> onnx.ModelProto:
    """LayerNormalization as older exporters write it."""
    stored = {"two": np.float32(2), "small": np.float32(1e-5), "w": normal(48)}
    made = [
        helper.make_node("ReduceMean", ["x"], ["m"], name="mean", axes=[-1]),
        helper.make_node("Sub", ["x", "m"], ["d"], name="centre"),
        helper.make_node("Pow", ["d", "two"], ["q"], name="square"),
        helper.make_node("ReduceMean", ["q"], ["v"], name="variance", axes=[-1]),
        helper.make_node("Add", ["v", "small"], ["e"], name="above"),
        helper.make_node("Sqrt", ["e"], ["s"], name="root"),
        helper.make_node("Div", ["d", "s"], ["n"], name="divide"),
        helper.make_node("Mul", ["n", "w"], ["y"], name="scale"),
    ]
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 12, 48]) for n in "xy"]
    constants = [numpy_helper.from_array(np.asarray(a), n) for n, a in stored.items()]
    graph = helper.make_graph(made, "pieces", ports[:1], ports[1:], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


MODELS = {
    "layer": network("LayerNormalization", [1, 12, 48], 48, 48),
    "layer of three": network("LayerNormalization", [1, 6, 4, 5], 120, axis=1),
    "instance": network("InstanceNormalization", [1, 16, 6, 7], 16, 16),
    "mean and variance": network("MeanVarianceNormalization", [1, 8, 6, 7]),
    "in pieces": in_pieces(),
}
# scale and bias of several dimensions
MODELS["layer of three"].graph.initializer[0].dims[:] = [6, 4, 5]


@pytest.mark.parametrize("name", MODELS)
def test_the_graph(name: str) -> None:
    graph = front.load(MODELS[name])
    assert_same(graph, MODELS[name], rtol=1e-3, atol=1e-4)
    assert graph.precise


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["fp16", "int8", "int16"])
@pytest.mark.parametrize("name", MODELS)
def test_on_the_hardware(name: str, precision: str) -> None:
    allowed = {"fp16": 0.012, "int8": 0.04, "int16": 0.02}
    compare(MODELS[name], "nv_full", precision, allowed)


def test_groups() -> None:
    model = network("GroupNormalization", [1, 16, 4, 4], 16, 16, opset=21, num_groups=4)
    compare(model, "nv_full", "fp16", {"fp16": 0.012})


def test_integers_of_8_bits_alone_are_refused() -> None:
    graph = front.load(MODELS["layer"])
    scales = calibrate.ranges(graph, [{"x": normal(1, 12, 48)}])
    with pytest.raises(Refused, match=r"layer.*nv_large has integers of 8 bits only.*fallback cpu"):
        compile_graph(graph, scales, Options(config="nv_large"))
