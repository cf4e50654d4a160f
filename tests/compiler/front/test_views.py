"""Views against numpy: any chain of transposes and reshapes."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from cudla_sim.compiler import front
from cudla_sim.compiler.front.views import View, broadcast_to_value
from cudla_sim.compiler.graph import Value
from tests.compiler.reference import run_graph

SIZES = (1, 2, 3, 4, 6)


@st.composite
def chains(draw: st.DrawFn) -> tuple[tuple[int, ...], list[tuple[str, tuple[int, ...]]]]:
    """A shape [1, c, h, w] and steps that numpy can take."""
    shape = (1, *(draw(st.sampled_from(SIZES)) for _ in range(3)))
    array = np.empty(shape)
    steps: list[tuple[str, tuple[int, ...]]] = []
    for _ in range(draw(st.integers(1, 5))):
        if draw(st.booleans()):
            order = tuple(draw(st.permutations(range(array.ndim))))
            steps.append(("transpose", order))
            array = array.transpose(order)
        else:
            sizes = []
            rest = array.size
            while len(sizes) < 5:
                size = draw(st.sampled_from([d for d in range(1, rest + 1) if rest % d == 0]))
                sizes.append(size)
                rest //= size
            sizes.append(rest)
            kept = tuple(s for s in sizes if s > 1 or draw(st.booleans()))
            steps.append(("reshape", kept))
            array = array.reshape(kept)
    return shape, steps


@settings(max_examples=200, deadline=None)
@given(chains())
def test_views_lie_as_numpy_says(
    chain: tuple[tuple[int, ...], list[tuple[str, tuple[int, ...]]]],
) -> None:
    shape, steps = chain
    n, c, h, w = shape
    view: View | None = View.of(Value("x", (n, c, h, w)))
    array = np.arange(n * c * h * w).reshape(shape)
    plain = array
    for kind, words in steps:
        assert view is not None
        if kind == "transpose":
            view, array = view.transpose(words), array.transpose(words)
        else:
            array = array.reshape(words)
            view = view.reshape(words)
            if view is None:
                return
        assert view.shape == array.shape
        assert np.array_equal(view.from_value(plain), array)
        assert np.array_equal(view.to_value(array), plain)


@settings(max_examples=100, deadline=None)
@given(chains(), st.data())
def test_constants_broadcast_alike(
    chain: tuple[tuple[int, ...], list[tuple[str, tuple[int, ...]]]], data: st.DataObject
) -> None:
    shape, steps = chain
    n, c, h, w = shape
    view: View | None = View.of(Value("x", (n, c, h, w)))
    x = np.random.default_rng(0).integers(0, 99, shape)
    for kind, words in steps:
        assert view is not None
        view = view.transpose(words) if kind == "transpose" else view.reshape(words)
        if view is None:
            return
    assert view is not None
    small = tuple(data.draw(st.sampled_from([1, size])) for size in view.shape)
    constant = np.random.default_rng(1).integers(0, 99, small)
    expected = view.from_value(x) + constant
    found = x + broadcast_to_value(view, constant)
    assert np.array_equal(view.from_value(found), expected)


@settings(max_examples=60, deadline=None)
@given(chains())
def test_networks_of_them_compute_what_numpy_does(
    chain: tuple[tuple[int, ...], list[tuple[str, tuple[int, ...]]]],
) -> None:
    """A PRelu of a single slope in between asks for the data in the network's own order."""
    shape, steps = chain
    nodes, constants = [], []
    name = "x"
    x = np.random.default_rng(2).normal(size=shape).astype(np.float32)
    expected = x
    for number, (kind, words) in enumerate(steps):
        if kind == "transpose":
            nodes.append(helper.make_node("Transpose", [name], [f"t{number}"], perm=words))
            expected = expected.transpose(words)
        else:
            constant = helper.make_tensor(f"s{number}", TensorProto.INT64, [len(words)], words)
            constants.append(constant)
            nodes.append(helper.make_node("Reshape", [name, f"s{number}"], [f"t{number}"]))
            expected = expected.reshape(words)
        name = f"t{number}"
        if number == len(steps) // 2:
            nodes.append(helper.make_node("Neg", [name], [f"n{number}"]))
            expected, name = -expected, f"n{number}"
    graph = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_empty_tensor_value_info(name)],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    found = run_graph(front.load(model), {"x": x})[name]
    assert np.array_equal(found, expected)
