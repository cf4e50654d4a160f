"""What a refusal tells the user to do, done: it works."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import onnx
import pytest

from cudla_sim.nvdla.loadable import Loadable
from cudla_sim.tools.root import run_command
from tests.compiler.front.test_networks import model, normal

NETWORK = "n (float[1,8,6,6] x) => (float y) {"
MODELS = {
    "unknown operator": NETWORK + "a = Relu (x) b = Conv (a, w) c = Det (b) y = Neg (c) }",
    "first node": NETWORK + "a = Det (x) y = Relu (a) }",
    "two branches": NETWORK + """
        a = Conv (x, w) b = Relu (a) c = Sigmoid (a)
        d = GlobalLpPool (b) e = Mul (d, c) y = Add (e, a) }""",
    "refused by both ends": NETWORK + """
        a = Conv (x, w) b = Softmax <axis = 1> (a) c = Conv (b, w)
        d = GlobalLpPool (c) e = Softmax <axis = 1> (d) y = Conv (e, w) }""",
    "softmax in the middle": NETWORK + """
        a = Conv (x, w) b = Transpose <perm = [0, 2, 3, 1]> (a) c = Reshape (b, s)
        d = Softmax <axis = 1> (c) e = Transpose <perm = [0, 2, 1]> (d) y = Relu (e) }""",
    "moved channels": NETWORK + """
        a = Conv (x, w) b = Transpose <perm = [0, 3, 2, 1]> (a) c = Relu (b)
        d = Reshape (c, t) e = MatMul (d, d) y = Relu (e) }""",
    "a norm": NETWORK + """
        a = Conv (x, w) f = LpNormalization (a) y = Relu (f) }""",
    "comparison": NETWORK + """
        a = Conv (x, w) b = Greater (a, half) c = Cast <to = 1> (b)
        d = Mul (c, a) y = Relu (d) }""",
    "recurrent": NETWORK + """
        a = Conv (x, w) b = Reshape (a, t) c, h = GRU <hidden_size = 2> (b, gw, gr)
        y = Relu (c) }""",
    "branch": NETWORK + """
        a = Conv (x, w) b = ReduceSum <keepdims = 0> (a) k = Greater (b, half)
        y = If (k) <then_branch = g () => (float p) { p = Relu (a) },
                    else_branch = h () => (float q) { q = Neg (a) }> }""",
    "softmax at many pixels": """n (float[1,8,12,12] x) => (float y, float z) {
        a = Conv (x, w) z = Relu (a) b = Conv (a, w) y = Softmax <axis = 1> (b) }""",
    "dilated": NETWORK + """
        a = Conv (x, w) y = MaxPool <kernel_shape = [2, 2], dilations = [2, 2]> (a) }""",
}  # fmt: skip
CONSTANTS = {
    "w": normal(8, 8, 1, 1),
    "s": np.array([1, 36, 8]),
    "t": np.array([8, 6, 6]),
    "half": np.float32(0.5),
    "gw": normal(1, 6, 6),
    "gr": normal(1, 6, 2),
    "large": normal(1, 1100, 8, 8),
}


def saved(text: str, folder: Path, opset: int = 17) -> Path:
    used = {name: array for name, array in CONSTANTS.items() if re.search(rf"\b{name}\b", text)}
    proto = model(text, opset, **used)
    file = folder / "net.onnx"
    onnx.save(proto, file)
    return file


def compiled(file: Path, *words: str) -> int:
    out = file.with_suffix(".nvdla")
    return run_command(["compile", str(file), "-o", str(out), "--precision", "fp16", *words])


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    lines = capsys.readouterr().err.splitlines()
    return [line.removeprefix("cudla-sim compile: ") for line in lines]


@pytest.mark.parametrize("name", MODELS)
def test_what_refusals_recommend_works(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = saved(MODELS[name], tmp_path)
    assert compiled(file) == 1
    lines = said(capsys)
    (fallback,) = [line for line in lines if line.startswith("--fallback cpu")]
    assert compiled(file, *fallback.split(" leaves")[0].split()) == 0
    capsys.readouterr()
    cuts = [line for line in lines if line.startswith("--outputs")]
    assert len(cuts) == (name != "first node")
    for cut in cuts:
        words = shlex.split(cut.split(" compiles")[0])
        assert compiled(file, *words) == 0, capsys.readouterr().err
        names = [
            tensor.name
            for tensor in Loadable.parse(file.with_suffix(".nvdla").read_bytes()).outputs
        ]
        assert names == words[1::2]


@pytest.mark.parametrize("name", MODELS)
def test_refused_nodes_are_those_of_the_model(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = saved(MODELS[name], tmp_path)
    compiled(file)
    nodes = {node.output[0]: node.op_type for node in onnx.load(file).graph.node}
    refusals = [line for line in said(capsys) if not line.startswith("--")]
    assert refusals
    for line in refusals:
        who = line.split(": ")[0]
        found = re.findall(r"(\w+) '([^']*)'", who)
        assert found
        assert all(nodes[tensor] == operator for operator, tensor in found), line
        assert not re.search(r"\w:\d|moved", line), "a name of the compiler's own"


def compiled_for(file: Path, config: str, *words: str) -> int:
    out = str(file.with_suffix(".nvdla"))
    return run_command(["compile", str(file), "-o", out, "--config", config, *words])


@pytest.mark.parametrize(
    ("text", "config", "precision"),
    [
        (NETWORK + "y = Sigmoid (x) }", "nv_small", "int8"),
        (NETWORK + "y = Sigmoid (x) }", "nv_medium_512", "int8"),
        ("n (float[1,1100,8,8] x) => (float y) { y = Conv (x, large) }", "nv_small", "int8"),
    ],
)
def test_configurations_that_are_named_take_the_network(
    text: str, config: str, precision: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = saved(text, tmp_path)
    words = ["--precision", precision, "--invent-ranges"]
    assert compiled_for(file, config, *words) == 1
    line = next(line for line in said(capsys) if "configuration with" in line)
    others = re.search(r"configuration with [^(]*\(([^)]*)\)", line)
    assert others
    for other in others[1].split(", "):
        assert compiled_for(file, other, *words) == 0


def test_softmax_in_int16_names_precisions_that_have_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "n (float[1,8] x) => (float y) { a = Relu (x) y = Softmax (a) }"
    file = saved(text, tmp_path)
    words = ["--invent-ranges", "--precision"]
    assert compiled_for(file, "nv_full", *words, "int16") == 1
    assert "take --precision int8 or fp16" in capsys.readouterr().err
    assert compiled_for(file, "nv_full", *words, "int8") == 0
    assert compiled_for(file, "nv_full", *words, "fp16") == 0


def test_data_is_asked_for_where_the_host_needs_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = saved(MODELS["unknown operator"], tmp_path)
    assert compiled_for(file, "nv_small", "--invent-ranges") == 1
    assert "--fallback cpu with data (--calib) leaves it to the host" in said(capsys)
    data = tmp_path / "data.npy"
    np.save(data, normal(2, 8, 6, 6))
    assert compiled_for(file, "nv_small", "--fallback", "cpu", "--calib", str(data)) == 0
    capsys.readouterr()
    assert compiled_for(file, "nv_small", "--calib", str(data)) == 1
    assert "--fallback cpu leaves it to the host" in said(capsys)


def test_no_option_is_recommended_that_does_not_help(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proto = model(NETWORK + "y = Det (x) }")
    proto.graph.node[0].domain = "acme"
    proto.opset_import.append(onnx.helper.make_opsetid("acme", 1))
    file = tmp_path / "net.onnx"
    onnx.save(proto, file)
    assert compiled(file) == 1
    assert len(said(capsys)) == 1  # neither onnxruntime nor a cut has an answer
    file = saved(MODELS["two branches"], tmp_path)
    assert compiled(file, "--outputs", "e") == 1
    lines = said(capsys)
    assert lines[1:] == ["--outputs b --outputs c compiles what comes before"]


def test_refusals_of_both_ends_and_of_all_passes_come_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        NETWORK
        + """
        a = Conv (x, w) b = Sigmoid (a) c = GlobalLpPool (b) d = LRN <size = 3> (a)
        e = Conv (d, w) f = Tanh (e) g = Softmax <axis = 1> (f)
            h = Mul (g, c) y = Relu (h) }"""
    )
    assert compiled_for(saved(text, tmp_path), "nv_small", "--invent-ranges") == 1
    found = {line.split("'")[1] for line in said(capsys) if re.match(r"\w+ '", line)}
    assert found == {"b", "c", "f", "g"}  # CDP has tables for d
