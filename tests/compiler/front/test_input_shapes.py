"""Inputs whose sizes the model leaves open: dimensions with a name, without one, or of size -1."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from cudla_sim.compiler import front
from cudla_sim.compiler.compilation import UsageError, shapes_of
from cudla_sim.compiler.errors import CompileError
from cudla_sim.tools.root import run_command
from tests.compiler.front.test_networks import model, normal
from tests.compiler.reference import assert_same

HEAD = "n (float[batch,3,height,width] x) => (float[batch,k,l,m] y) {"
CHAINS = {
    "no chain": "y = Relu (x)",
    "kept batch": """
        s = Shape (x) b = Gather (s, zero) u = Unsqueeze (b, axes) c = Concat <axis = 0> (u, rest)
        y = Reshape (x, c)""",
    "range": """
        s = Shape (x) i = Gather (s, three) r = Range (zero, i, one)
        f = Cast <to = 1> (r) y = Add (x, f)""",
    "constant of a shape": """
        s = Shape (x) o = ConstantOfShape <value = float[1] {1.0}> (s) y = Add (x, o)""",
    "expanded": """
        s = Shape (x) e = Equal (s, three) q = ConstantOfShape <value = int64[1] {1}> (rank)
        v = Where (e, q, s) z = Expand (half, v) y = Mul (x, z)""",
    "upsampled": """
        s = Shape (x) t = Slice (s, two, four) d = Mul (t, doubled) h = Slice (s, none, two)
        c = Concat <axis = 0> (h, d) y = Resize <mode = "nearest"> (x, , , c)""",
}
CONSTANTS = {
    "zero": np.array(0),
    "one": np.array(1),
    "three": np.array(3),
    "axes": np.array([0]),
    "rest": np.array([3, 1, -1]),
    "rank": np.array([4]),
    "half": np.float32(0.5),
    "two": np.array([2]),
    "four": np.array([4]),
    "none": np.array([0]),
    "doubled": np.array([2, 2]),
}
HOW = pytest.mark.parametrize("how", ["named", "unnamed", "minus one"])


def dynamic(text: str, how: str, **constants: Any) -> onnx.ModelProto:
    used = {k: v for k, v in CONSTANTS.items() if re.search(rf"\b{k}\b", text.split("{", 1)[1])}
    proto = model(text, 17, **used, **constants)
    for port in (*proto.graph.input, *proto.graph.output):
        for dim in port.type.tensor_type.shape.dim:
            if dim.dim_param and how == "minus one":
                dim.dim_value = -1
            elif dim.dim_param and how == "unnamed":
                dim.Clear()
    return proto


@HOW
@pytest.mark.parametrize("chain", CHAINS)
def test_chains_of_shapes_fold(chain: str, how: str, tmp_path: Path) -> None:
    proto = dynamic(HEAD + CHAINS[chain] + "}", how)
    file = tmp_path / "net.onnx"
    onnx.save(proto, file)
    with pytest.raises(CompileError, match=r"1x3x\?x\?.*--shapes=x:1x3x64x64"):
        front.load(proto)
    graph = front.load(proto, shapes={"x": (1, 3, 6, 8)})
    for dim, size in zip(
        proto.graph.input[0].type.tensor_type.shape.dim, (1, 3, 6, 8), strict=True
    ):
        dim.dim_value = size
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    assert_same(graph, proto)
    words = ["compile", str(file), "-o", str(tmp_path / "net"), "--precision", "fp16"]
    assert run_command([*words, "--shapes", "x:1x3x6x8"]) == 0


@HOW
def test_dynamic_sizes_and_the_host(how: str, tmp_path: Path) -> None:
    proto = dynamic(HEAD + "a = Conv (x, w) b = Det (a) c = Relu (a) y = Add (c, half) }", how,
                    w=normal(3, 3, 1, 1))  # fmt: skip
    proto.graph.output.add().name = "b"
    file = tmp_path / "net.onnx"
    onnx.save(proto, file)
    words = ["compile", str(file), "-o", str(tmp_path / "net"), "--precision", "fp16"]
    assert run_command([*words, "--shapes", "x:1x3x6x6", "--fallback", "cpu"]) == 0


@HOW
def test_a_shape_that_the_model_does_not_have(how: str) -> None:
    proto = dynamic(HEAD + "y = Relu (x) }", how)
    with pytest.raises(CompileError, match=r"is \?x3x\?x\? in the model, not 1x4x5x6"):
        front.load(proto, shapes={"x": (1, 4, 5, 6)})


def hint(proto: onnx.ModelProto) -> str:
    with pytest.raises(CompileError) as caught:
        front.load(proto)
    return str(caught.value).split("--shapes=")[1]


@HOW
def test_recommended_shapes_work(how: str) -> None:
    """Sizes that the nodes take, for all inputs at once, whatever they are called."""
    classifier = HEAD + "a = Flatten (x) y = Gemm <transB = 1> (a, w) }"
    proto = dynamic(classifier, how, w=normal(2, 3 * 32 * 32))
    assert hint(proto) == "x:1x3x32x32"
    front.load(proto, shapes=shapes_of([hint(proto)]))
    text = "n (float[b,3,h,w] x, float[a,3,h,w] z) => (float[b,3,h,w] y) { y = Add (x, z) }"
    proto = dynamic(text, how)
    proto.graph.input[0].name = proto.graph.node[0].input[0] = "images:0"
    proto.graph.input[1].name = proto.graph.node[0].input[1] = "right,eye"
    assert hint(proto) == "images:0:1x3x64x64,right,eye:1x3x64x64"
    front.load(proto, shapes=shapes_of([hint(proto)]))


def test_a_batch_that_has_a_name_is_one_everywhere() -> None:
    proto = model("n (float[b,3,h] x, float[3,b] z) => (float y) { y = Relu (x) v = Relu (z) }")
    proto.graph.output.add().name = "v"
    assert hint(proto) == "x:1x3x64,z:3x1"


@pytest.mark.parametrize("word", ["x", "x:", ":1x3", "x:1x0", "x:1x-1", "x:1x3z", "x:1x3,z"])
def test_words_that_are_no_shapes(word: str) -> None:
    with pytest.raises(UsageError, match="is not name:1x3x224x224"):
        shapes_of([word])


def test_shapes_of_several_inputs() -> None:
    assert shapes_of(["x:1x3,y:0:2", "z:4x5"]) == {"x": (1, 3), "y:0": (2,), "z": (4, 5)}
