"""LSTM, GRU and RNN, unrolled: graph and hardware compute what onnxruntime does."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from cudla_sim.compiler import front
from cudla_sim.compiler.errors import Refused
from tests.compiler.reference import assert_same, run, run_graph
from tests.compiler.whole_way import compare

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def network(
    op: str,
    length: int,
    inputs: int,
    hidden: int,
    *,
    direction: str = "forward",
    bias: bool = True,
    layout: int = 0,
    outputs: tuple[str, ...] = ("Y",),
    states: bool = False,
    **attributes: Any,
) -> onnx.ModelProto:
    random = np.random.default_rng(length * 100 + hidden)
    count, gates = (2 if direction == "bidirectional" else 1), GATES[op]

    def normal(*shape: int) -> np.ndarray[Any, Any]:
        return (random.normal(size=shape) / np.sqrt(shape[-1])).astype(np.float32)

    stored = {
        "W": normal(count, gates * hidden, inputs),
        "R": normal(count, gates * hidden, hidden),
    }
    if bias:
        stored["B"] = normal(count, 2 * gates * hidden)
    names = ["x", "W", "R", "B" if bias else "", ""]
    sides = [1, count, hidden] if layout else [count, 1, hidden]
    ports = [("x", [1, length, inputs] if layout else [length, 1, inputs])]
    if states:
        names += ["h0"] + (["c0"] if op == "LSTM" else [])
        ports += [(name, sides) for name in names[5:]]
    shapes = {
        "Y": [1, length, count, hidden] if layout else [length, count, 1, hidden],
        "Y_h": sides,
        "Y_c": sides,
    }
    every = ("Y", "Y_h", "Y_c")[: 3 if op == "LSTM" else 2]
    node = helper.make_node(
        op,
        names,
        [name if name in outputs else "" for name in every],
        name="layer",
        hidden_size=hidden,
        direction=direction,
        layout=layout,
        **attributes,
    )
    graph = helper.make_graph(
        [node],
        "recurrent",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in ports],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, shapes[n]) for n in outputs],
        [numpy_helper.from_array(array, name) for name, array in stored.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(sorted(GATES)),
    st.integers(1, 5),
    st.integers(1, 9),
    st.integers(1, 9),
    st.sampled_from(["forward", "reverse", "bidirectional"]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.integers(1, 7),
)
def test_any_layer(
    op: str,
    length: int,
    inputs: int,
    hidden: int,
    direction: str,
    bias: bool,
    states: bool,
    late: bool,
    wanted: int,
) -> None:
    every = ("Y", "Y_h", "Y_c")[: 3 if op == "LSTM" else 2]
    outputs = tuple(name for number, name in enumerate(every) if wanted >> number & 1) or ("Y",)
    more = {"linear_before_reset": 1} if op == "GRU" and late else {}
    model = network(
        op,
        length,
        inputs,
        hidden,
        direction=direction,
        bias=bias,
        states=states,
        outputs=outputs,
        **more,
    )
    assert_same(front.load(model), model)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "precision"), [("nv_full", "fp16"), ("nv_full", "int8"), ("nv_large", "int8")]
)
@pytest.mark.parametrize("op", sorted(GATES))
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_on_the_hardware(op: str, direction: str, config: str, precision: str) -> None:
    model = network(op, 6, 24, 40, direction=direction, outputs=("Y", "Y_h"))
    compare(model, config, precision, {"fp16": 0.01, "int8": 0.12})


@pytest.mark.parametrize(
    ("attributes", "why"),
    [
        ({"clip": 3.0, "input_forget": 1}, "input gate follows"),
        ({"activations": ["Sigmoid", "Tanh", "Affine"]}, "activations are Sigmoid, Tanh, Affine"),
        ({"activation_alpha": [0.1]}, "parameters"),
    ],
)
def test_what_is_refused(attributes: dict[str, Any], why: str) -> None:
    with pytest.raises(Refused, match=why):
        front.load(network("LSTM", 3, 4, 5, **attributes))


def test_other_activations_and_a_clip() -> None:
    model = network("LSTM", 3, 4, 5, clip=0.5)
    assert_same(front.load(model), model)
    model = network("RNN", 3, 4, 5, activations=["Relu"])
    assert_same(front.load(model), model)


@pytest.mark.parametrize("op", ["LSTM", "GRU"])
def test_the_batch_first(op: str) -> None:
    """onnxruntime has no such layout; of one sequence the elements lie as in the other one."""
    graph = front.load(network(op, 4, 3, 5, layout=1, outputs=("Y", "Y_h")))
    x = np.random.default_rng(1).normal(size=(1, 4, 3)).astype(np.float32)
    found = run_graph(graph, {"x": x})
    other = network(op, 4, 3, 5, outputs=("Y", "Y_h"))
    for name, array in run(other, {"x": x.reshape(4, 1, 3)}).items():
        assert found[name].size == array.size
        assert np.allclose(found[name].reshape(-1), array.reshape(-1), atol=1e-5)
