"""Models that say two things at once, or nothing possible: each is refused by the node's name."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from cudla_sim.compiler import front
from cudla_sim.compiler.errors import CompileError, Refused
from tests.compiler.front.test_networks import model, normal


def says(proto: onnx.ModelProto, *words: str) -> None:
    with pytest.raises(CompileError) as caught:
        front.load(proto)
    for word in words:
        assert word in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def convolution(**attributes: object) -> onnx.ModelProto:
    """3 x 3, three channels to two, with attributes that may be senseless."""
    node = helper.make_node("Conv", ["x", "w"], ["y"], name="conv")
    for name, value in attributes.items():
        node.attribute.append(helper.make_attribute(name, value))
    weights = numpy_helper.from_array(normal(2, 3, 3, 3), "w")
    graph = helper.make_graph(
        [node],
        "n",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 3, 8, 8))],
        [helper.make_empty_tensor_value_info("y")],
        [weights],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize(
    "attributes",
    [
        {"strides": [0, 0]},
        {"strides": [-1, 2]},
        {"strides": [2]},
        {"strides": "ab"},
        {"dilations": [0, 1]},
        {"pads": [1, 1]},
        {"pads": [-1, -1, -1, -1]},
        {"kernel_shape": [5, 5]},
        {"auto_pad": "FUNNY"},
        {"group": 0},
        {"group": -1},
    ],
)
def test_attributes_of_a_convolution(attributes: dict[str, object]) -> None:
    says(convolution(**attributes), "Conv 'conv'", ";")


def test_sound_attributes_are_taken() -> None:
    node = front.load(convolution(strides=[2, 1], kernel_shape=[3, 3], pads=[1, 0, 0, 1])).nodes[0]
    assert node.output.shape == (1, 2, 4, 7)  # (8+1-3)//2+1, (8+0+1-3)+1


def test_kernels_without_elements() -> None:
    text = "n (float[1,3,8,8] x) => (float y) { y = Conv (x, w) }"
    says(model(text, w=np.zeros((2, 3, 0, 3), np.float32)), "Conv 'y'")
    says(model(text, w=np.zeros((0, 3, 1, 1), np.float32)), "Conv 'y'", "no elements")


@pytest.mark.parametrize("op", ["Add", "Mul", "Max", "PRelu"])
def test_shapes_that_do_not_broadcast(op: str) -> None:
    text = f"n (float[1,3,8,8] x) => (float y) {{ y = {op} (x, w) }}"
    says(model(text, w=normal(1, 5, 8, 8)), f"{op} 'y'")


@pytest.mark.parametrize(
    ("text", "constant"),
    [
        ("y = Pad (x, k)", np.array([0, 0, 10**9, 0, 0, 0, 10**9, 0])),
        ("y = Pad (x, k)", np.array([0, 0, 10**18, 0, 0, 0, 10**18, 0])),
        ("y = Conv <pads=[9999999999, 0, 0, 9999999999]> (x, k)", normal(2, 3, 1, 1)),
        ("y = Resize (x, , k)", np.array([1, 1, 1e6, 1e6], np.float32)),
        ("y = Upsample (x, k)", np.array([1, 1, 1e9, 1e9], np.float32)),
    ],
)
def test_results_without_bounds(text: str, constant: np.ndarray) -> None:
    version = 9 if "Upsample" in text else 17
    says(model(f"n (float[1,3,8,8] x) => (float y) {{ {text} }}", version, k=constant), "'y'")


def duplicated(field: str) -> onnx.ModelProto:
    proto = convolution()
    items = getattr(proto.graph, field)
    items.append(items[0])
    return proto


@pytest.mark.parametrize("field", ["initializer", "input", "output", "node"])
def test_names_that_stand_for_two_things(field: str) -> None:
    says(duplicated(field), "must be unique")


def test_constants_of_impossible_shapes() -> None:
    proto = convolution()
    proto.graph.initializer[0].dims[0] = -2
    says(proto, "constant 'w' has the shape [-2, 3, 3, 3]")


def test_all_contradictions_come_together() -> None:
    text = """n (float[1,3,8,8] x) => (float y, float z) {
        y = MaxPool <kernel_shape=[2, 2], strides=[0, 1]> (x)
        z = Add (x, w)
    }"""
    with pytest.raises(Refused) as caught:
        front.load(model(text, w=normal(1, 4, 1, 1)))
    assert [item.node for item in caught.value.refusals] == ["y", "z"]
