"""Models that are wrong, and what is said about them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper, parser

from cudla_sim.compiler import front
from cudla_sim.compiler.errors import CompileError, Refused
from tests.compiler.front.test_networks import model, normal


def says(proto: onnx.ModelProto | Path, *words: str, **options: object) -> None:
    with pytest.raises(CompileError) as caught:
        front.load(proto, **options)  # type: ignore[arg-type]
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"no model", b"\x08\x07\x12", b"\xff" * 100])
def test_broken_files(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "net.onnx"
    file.write_bytes(data)
    says(file, "net.onnx", "is no ONNX model")
    says(tmp_path / "none.onnx", "No such file")


def test_truncated_files(tmp_path: Path) -> None:
    whole = model(
        "n (float[1,3,4,4] x) => (float[1,3,4,4] y) { y = Conv (x, w) }", w=normal(3, 3, 1, 1)
    ).SerializeToString()
    file = tmp_path / "net.onnx"
    for length in range(0, len(whole), 7):
        file.write_bytes(whole[:length])
        with pytest.raises(CompileError):
            front.load(file)


def test_external_data(tmp_path: Path) -> None:
    w = normal(2, 3, 1, 1)
    proto = model("n (float[1,3,4,4] x) => (float[1,2,4,4] y) { y = Conv (x, w) }", w=w)
    file = tmp_path / "net.onnx"
    onnx.save(proto, file, save_as_external_data=True, location="w.bin", size_threshold=0)
    weights = front.load(file).nodes[0].weights  # type: ignore[attr-defined]
    assert np.array_equal(weights, w)
    (tmp_path / "w.bin").unlink()
    says(file, "external data", "w.bin")


def test_old_and_missing_opsets() -> None:
    says(model("n (float[1,3] x) => (float[1,3] y) { y = Relu (x) }", 6), "opset 6", "7 or newer")
    proto = model("n (float[1,3] x) => (float[1,3] y) { y = Relu (x) }")
    del proto.opset_import[:]
    says(proto, "opset 0")


def test_cycles_and_names_that_nobody_computes() -> None:
    says(
        model("n (float[1,3] x) => (float[1,3] y) { y = Add (x, b) a = Relu (y) b = Relu (a) }"),
        "cycle",
        "->",
    )
    says(model("n (float[1,3] x) => (float[1,3] y) { y = Add (x, b) }"), "'b'", "no node computes")
    says(model("n (float[1,3] x) => (float[1,3] y) { a = Relu (x) }"), "output 'y'")


def test_nodes_in_another_order_are_sorted() -> None:
    proto = model("n (float[1,3] x) => (float[1,3] y) { y = Neg (a) a = Relu (x) }")
    assert [node.kind for node in front.load(proto).nodes] == ["Clip", "Affine"]


def test_dynamic_shapes() -> None:
    proto = model("n (float[b,3,h,w] x) => (float[b,3,h,w] y) { y = Relu (x) }")
    says(proto, "'x'", "1x3x?x?", "--shapes=x:1x3x64x64")
    assert front.load(proto, shapes={"x": (1, 3, 5, 6)}).inputs[0].shape == (1, 3, 5, 6)
    says(proto, "is ?x3x?x? in the model, not 1x4x5x6", shapes={"x": (1, 4, 5, 6)})
    says(proto, "no input is called 'z'", shapes={"z": (1, 3, 5, 6)})


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_weights_that_are_no_numbers(bad: float) -> None:
    w = normal(2, 3, 1, 1)
    w[0, 0] = bad
    text = "n (float[1,3,4,4] x) => (float[1,2,4,4] y) { y = Conv (x, w) }"
    says(model(text, w=w), "Conv 'y'", "NaN or infinity")
    add = "n (float[1,3,4,4] x) => (float[1,3,4,4] y) { y = Add (x, c) }"
    says(model(add, c=np.float32(bad)), "Add 'y'", "NaN or infinity")


def test_gigantic_constants() -> None:
    text = """n (float[1,3] x) => (float[1,3] y) {
        a = ConstantOfShape (s) b = ReduceSum <keepdims = 0> (a) y = Add (x, b) }"""
    says(model(text, s=np.array([10**6, 10**6])), "ConstantOfShape", "elements")


def test_inputs_that_are_no_numbers() -> None:
    says(model("n (string[1,3] x) => (string[1,3] y) { y = Identity (x) }"), "'x'", "numbers")
    says(model("n (int64[1,3] x) => (int64[1,3] y) { y = Add (x, x) }"), "int64", "float32")


def test_weights_of_the_wrong_shape() -> None:
    text = "n (float[1,3,4,4] x) => (float[1,2,4,4] y) { y = Conv (x, w) }"
    says(model(text, w=normal(2, 4, 1, 1)), "Conv 'y'", "do not fit 3 channels")
    gemm = "n (float[1,3] x) => (float[1,2] y) { y = Gemm (x, w) }"
    says(model(gemm, w=normal(4, 2)), "Gemm 'y'", "does not fit a matrix")


def test_all_refusals_come_together() -> None:
    proto = parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 17, "acme" : 1]>
        n (float[1,3,4,4] x, float[1,3,4,4] z) => (float y) {
            a = acme.Magic (x)
            b = Relu (a)
            c = MatMul (x, z)
            d = Sigmoid (c)
            e = Det (d)
            f = NonZero (b)
            y = Add (f, e)
        }"""
    )
    with pytest.raises(Refused) as caught:
        front.load(proto)
    found = {refusal.operator: refusal for refusal in caught.value.refusals}
    assert set(found) == {"Magic", "MatMul", "Det", "NonZero"}
    assert "'acme'" in found["Magic"].reason
    assert "run time" in found["MatMul"].reason
    assert "depends on the data" in found["NonZero"].reason
    assert "export" in found["Magic"].cure


def test_names_near_a_wrong_output() -> None:
    proto = model("n (float[1,3] x) => (float[1,3] y) { hidden = Relu (x) y = Neg (hidden) }")
    says(proto, "'hiden'", "hidden", outputs=["hiden"])


def test_a_network_of_constants() -> None:
    graph = helper.make_graph(
        [helper.make_node("Relu", ["c"], ["y"])],
        "n",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 3))],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(normal(3), "c")],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    says(proto, "outputs are constant")
