"""Resize of any mode and AveragePool with dilation: read, written again, and computed by
onnxruntime, which does them itself, too."""

from __future__ import annotations

import numpy as np
import onnx
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from cudla_sim.compiler import front
from cudla_sim.compiler.backend import compile_graph
from cudla_sim.compiler.options import Options
from tests.compiler.reference import run, run_graph
from tests.compiler.running import run as run_compiled

LAYOUTS = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"]


def one_node(
    op: str, shape: list[int], inputs: list[np.ndarray], **more: object
) -> onnx.ModelProto:
    """A model of one node; *inputs* are its constants, None for those left out."""
    names = [f"c{i}" if array.size else "" for i, array in enumerate(inputs)]
    node = helper.make_node(op, ["x", *names], ["y"], "node", **more)
    ports = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, shape),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, None),
    ]
    kept = [numpy_helper.from_array(a, n) for a, n in zip(inputs, names, strict=True) if n]
    graph = helper.make_graph([node], "g", ports[:1], ports[1:], kept)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=8)


@st.composite
def resizes(draw: st.DrawFn) -> onnx.ModelProto:
    h, w = draw(st.integers(2, 9)), draw(st.integers(2, 9))
    mode = draw(st.sampled_from(["linear", "cubic"]))
    layout = draw(st.sampled_from(LAYOUTS))
    more: dict[str, object] = {"mode": mode, "coordinate_transformation_mode": layout}
    empty = np.zeros(0, np.float32)
    roi = empty
    if layout == "tf_crop_and_resize":
        begin, end = draw(st.floats(-0.5, 0.4)), draw(st.floats(0.5, 1.5))
        roi = np.array([0, 0, begin, begin / 2, 1, 1, end, end], np.float32)
        more["extrapolation_value"] = draw(st.sampled_from([0.0, 3.0]))
    elif mode == "cubic":
        more["cubic_coeff_a"] = draw(st.sampled_from([-0.75, -0.5]))
        more["exclude_outside"] = draw(st.integers(0, 1))
    size = np.array([1, 3, draw(st.integers(1, 14)), draw(st.integers(1, 14))], np.int64)
    return one_node("Resize", [1, 3, h, w], [roi, empty, size], **more)


def cropped(x: np.ndarray, model: onnx.ModelProto) -> np.ndarray:
    """tf_crop_and_resize, output by output (older releases of onnxruntime have another one)."""
    more = {a.name: helper.get_attribute_value(a) for a in model.graph.node[0].attribute}
    found = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    roi, size = (found[name] for name in sorted(found))
    result = np.full(size, more["extrapolation_value"], np.float64)

    def places(axis: int) -> list[float]:
        last, count = x.shape[axis] - 1, int(size[axis])
        begin, end = float(roi[axis]) * last, float(roi[axis + 4]) * last
        if count == 1:
            return [(begin + end) / 2]
        return [begin + i * (end - begin) / (count - 1) for i in range(count)]

    def weight(distance: float) -> float:
        t = abs(distance)
        if more["mode"] == b"linear":
            return max(1 - t, 0.0)
        a = -0.75
        if t <= 1:
            return (a + 2) * t**3 - (a + 3) * t**2 + 1
        return a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a if t < 2 else 0.0

    for i, y in enumerate(places(2)):
        for j, z in enumerate(places(3)):
            if not (0 <= y <= x.shape[2] - 1 and 0 <= z <= x.shape[3] - 1):
                continue
            total = np.zeros(x.shape[1])
            for h in range(int(y) - 2, int(y) + 4):
                for w in range(int(z) - 2, int(z) + 4):
                    at = min(max(h, 0), x.shape[2] - 1), min(max(w, 0), x.shape[3] - 1)
                    total += weight(y - h) * weight(z - w) * x[0, :, at[0], at[1]]
            result[0, :, i, j] = total
    return result


def check(model: onnx.ModelProto, seed: int) -> None:
    shape = [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim]
    x = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    if b"tf_crop_and_resize" in model.SerializeToString():
        expected = cropped(x, model)
    else:
        (expected,) = run(model, {"x": x}).values()
    (found,) = run_graph(front.load(model), {"x": x}).values()
    np.testing.assert_allclose(found, expected, atol=2e-4)


@settings(max_examples=60, deadline=None)
@given(resizes(), st.integers(0, 99))
def test_resizes(model: onnx.ModelProto, seed: int) -> None:
    check(model, seed)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_dilated_averages(data: st.DataObject) -> None:
    kernel = data.draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    pads = [data.draw(st.integers(0, size - 1)) for size in kernel]
    model = one_node(
        "AveragePool", [1, 5, 11, 12], [], kernel_shape=kernel, pads=[*pads, *pads],
        dilations=data.draw(st.tuples(st.integers(1, 3), st.integers(1, 3))),
        strides=data.draw(st.tuples(st.integers(1, 3), st.integers(1, 3))),
        count_include_pad=data.draw(st.integers(0, 1)),
    )  # fmt: skip
    check(model, 1)


@settings(max_examples=8, deadline=None)
@given(resizes(), st.sampled_from(["fp16", "int8"]))
def test_compiled(model: onnx.ModelProto, precision: str) -> None:
    """Near the float network, as far as its steps go."""
    graph = front.load(model)
    if not graph.nodes:
        return
    x = np.random.default_rng(3).uniform(-1, 1, graph.inputs[0].value.shape).astype(np.float32)
    (expected,) = run_graph(graph, {"x": x}).values()
    largest = max(float(np.abs(expected).max()), 1.0)
    scales = {value.name: largest / 127 for value in graph.values()}
    compiled = compile_graph(graph, scales, Options(precision=precision))
    (found,) = run_compiled(compiled, "nv_full", [x])
    assert np.abs(found - expected).max() <= largest * (0.004 if precision == "fp16" else 4 / 127)
