"""Q/DQ models and operators on integers, against onnxruntime's own results."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import parser

from cudla_sim.compiler import front
from cudla_sim.compiler.errors import Refused
from cudla_sim.compiler.graph import Clip, Conv
from tests.compiler.front.test_networks import kinds, model, normal
from tests.compiler.reference import run, run_graph

INT8 = np.random.default_rng(2).integers(-127, 128, (4, 3, 3, 3), np.int8)


def int8(number: int) -> np.ndarray:
    return np.array(number, np.int8)


def test_pairs_leave_their_scales() -> None:
    proto = model(
        """net (float[1,3,6,6] x) => (float[1,4,6,6] y) {
            xq = QuantizeLinear (x, xs, z)
            xd = DequantizeLinear (xq, xs, z)
            wd = DequantizeLinear <axis = 0> (wq, ws, wz)
            bd = DequantizeLinear (bq, bs)
            a = Conv <pads = [1,1,1,1]> (xd, wd, bd)
            aq = QuantizeLinear (a, as, z)
            ad = DequantizeLinear (aq, as, z)
            r = Relu (ad)
            rq = QuantizeLinear (r, rs, z)
            y = DequantizeLinear (rq, rs, z)
        }""",
        xs=np.float32(0.02), z=int8(0), wq=INT8, ws=np.float32([0.01, 0.02, 0.03, 0.04]),
        wz=np.zeros(4, np.int8), bq=np.arange(4, dtype=np.int32), bs=np.float32(0.001),
        **{"as": np.float32(0.1), "rs": np.float32(0.05)},
    )  # fmt: skip
    graph = front.load(proto)
    assert kinds(graph) == {"Conv": 1, "Clip": 1}
    conv = graph.nodes[0]
    assert isinstance(conv, Conv)
    assert conv.weight_scale is not None
    assert np.allclose(conv.weight_scale, [0.01, 0.02, 0.03, 0.04])
    assert np.array_equal(np.rint(conv.weights / conv.weight_scale[:, None, None, None]), INT8)
    assert np.allclose(conv.bias, np.arange(4) * 0.001)
    scales = {value.name: value.scale for value in graph.values()}
    assert scales == pytest.approx({"x": 0.02, "a": 0.1, "r": 0.05})


def test_weights_quantised_from_floats_and_transposed() -> None:
    """As pytorch-quantization writes linear layers."""
    w = normal(5, 6)
    proto = model(
        """net (float[1,6] x) => (float[1,5] y) {
            wq = QuantizeLinear <axis = 0> (w, ws, wz)
            wd = DequantizeLinear <axis = 0> (wq, ws, wz)
            wt = Transpose <perm = [1,0]> (wd)
            y = MatMul (x, wt)
        }""",
        w=w, ws=(np.abs(w).max(1) / 127).astype(np.float32), wz=np.zeros(5, np.int8),
    )  # fmt: skip
    (conv,) = front.load(proto).nodes
    assert isinstance(conv, Conv)
    assert conv.weight_scale is not None
    assert np.allclose(conv.weight_scale, np.abs(w).max(1) / 127)


def test_two_readers_with_other_scales() -> None:
    proto = model(
        """net (float[1,3,6,6] x) => (float[1,3,6,6] y) {
            n = Neg (x)
            aq = QuantizeLinear (n, s, z)
            a = DequantizeLinear (aq, s, z)
            bq = QuantizeLinear (n, t, z)
            b = DequantizeLinear (bq, t, z)
            y = Add (a, b)
        }""",
        s=np.float32(0.02), t=np.float32(0.05), z=int8(0),
    )  # fmt: skip
    graph = front.load(proto)
    first, second = graph.nodes[-1].inputs
    assert (first.scale, second.scale) == pytest.approx((0.02, 0.05))


@pytest.mark.parametrize(
    ("dtype", "zero", "low", "step"),
    [
        (np.uint8, 128, None, 0.02),
        (np.uint8, 0, 0.0, 0.02 * 255 / 127),
        (np.uint8, 100, None, 0.02 * 155 / 127),
        (np.int8, -128, 0.0, 0.02 * 255 / 127),
        (np.int8, 0, None, 0.02),
    ],
)
def test_zero_points(dtype: type, zero: int, low: float | None, step: float) -> None:
    """Unsigned integers with zero point 0 stand for a ReLU that the exporter left out."""
    proto = model(
        """net (float[1,3,6,6] x) => (float[1,4,6,6] y) {
            a = Conv <pads = [1,1,1,1]> (x, w)
            aq = QuantizeLinear (a, s, z)
            y = DequantizeLinear (aq, s, z)
        }""",
        w=normal(4, 3, 3, 3), s=np.float32(0.02), z=np.array(zero, dtype),
    )  # fmt: skip
    graph = front.load(proto)
    last = graph.nodes[-1]
    assert isinstance(last, Clip) == (low is not None)
    if isinstance(last, Clip):
        assert last.low == low
    assert last.output.scale == pytest.approx(step)
    x = normal(1, 3, 6, 6) * 2
    expected = run(proto, {"x": x})["y"]
    inside = (expected > (0.021 if zero == 0 else -1.9)) & (expected < 1.9)
    found = run_graph(graph, {"x": x})["y"]
    assert np.abs(found - expected)[inside].max() <= 0.0101
    assert (found >= 0).all() or low is None


def test_integers_go_in_and_out() -> None:
    proto = model(
        """net (uint8[1,3,6,6] x) => (int8[1,3,6,6] y) {
            a = DequantizeLinear (x, s, z)
            b = Neg (a)
            y = QuantizeLinear (b, t, v)
        }""",
        s=np.float32(0.5), z=np.array(128, np.uint8), t=np.float32(0.25), v=int8(3),
    )  # fmt: skip
    graph = front.load(proto)
    assert kinds(graph) == {"Affine": 1}
    assert (graph.inputs[0].dtype, graph.inputs[0].value.scale) == ("uint8", 0.5)
    assert graph.outputs[0].dtype == "int8"
    x = np.random.default_rng(0).integers(0, 256, (1, 3, 6, 6), np.uint8)
    assert np.array_equal(run_graph(graph, {"x": x})["y"], run(proto, {"x": x})["y"])


def test_operators_on_integers() -> None:
    text = """<ir_version: 8, opset_import: ["" : 13, "com.microsoft" : 1]>
        net (float[1,3,6,6] x) => (float[1,4,6,6] y) {
            xq = QuantizeLinear (x, xs, z)
            a = QLinearConv <pads = [1,1,1,1]> (xq, xs, z, wq, ws, z, as, z, bq)
            m = MaxPool <kernel_shape = [3,3], pads = [1,1,1,1]> (a)
            s = com.microsoft.QLinearSigmoid (m, as, z, ss, z)
            p = com.microsoft.QLinearMul (m, as, z, s, ss, z, ps, z)
            y = DequantizeLinear (p, ps, z)
        }"""
    proto = parser.parse_model(text)
    constants = {
        "xs": np.float32(0.01), "z": int8(0), "wq": INT8, "ws": np.float32(0.005),
        "as": np.float32(0.04), "ss": np.float32(1 / 127), "ps": np.float32(0.04),
        "bq": np.arange(4, dtype=np.int32) * 1000,
    }  # fmt: skip
    for name, array in constants.items():
        proto.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(array), name))
    graph = front.load(proto)
    assert kinds(graph) == {"Conv": 1, "Pool": 1, "SiLU": 1}
    assert all(value.scale for value in graph.values())
    x = normal(1, 3, 6, 6)
    found, expected = run_graph(graph, {"x": x})["y"], run(proto, {"x": x})["y"]
    assert np.abs(found - expected).max() < 0.06  # three roundings to 0.04


def test_arithmetic_on_integers_is_refused() -> None:
    proto = model(
        """net (float[1,3,6,6] x) => (float[1,3,6,6] y) {
            xq = QuantizeLinear (x, s, z)
            a = Cast <to = 1> (xq)
            y = Neg (a)
        }""",
        s=np.float32(0.1), z=int8(0),
    )  # fmt: skip
    with pytest.raises(Refused, match="use DequantizeLinear"):
        front.load(proto)
