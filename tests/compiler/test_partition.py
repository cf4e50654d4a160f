"""Networks in parts: hardware where it can, onnxruntime for the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from cudla_sim.compiler.errors import CompileError
from cudla_sim.compiler.options import Options
from cudla_sim.compiler.partition import MAGIC, Package, compile_partitions
from cudla_sim.compiler.runtime import session
from cudla_sim.nvdla.check import check
from cudla_sim.nvdla.errors import NvdlaError
from cudla_sim.nvdla.loadable import Loadable

rng = np.random.default_rng(11)
F = TensorProto.FLOAT


def model(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, list[Any]],
    outputs: dict[str, tuple[int, list[int]]],
    constants: dict[str, np.ndarray],
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info(name, F, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, kind, s) for name, (kind, s) in outputs.items()],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made)
    return made


def weights(*shape: int) -> np.ndarray:
    return (rng.normal(size=shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)


def middle(op: str, **attributes: Any) -> onnx.ModelProto:
    """Convolution, something, convolution; nodes without names; a batch of any size."""
    constants = {"w1": weights(8, 3, 3, 3), "w2": weights(6, 8, 1, 1)}
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node(op, ["a"], ["m"], **attributes),
        helper.make_node("Relu", ["m"], ["r"]),
        helper.make_node("Conv", ["r", "w2"], ["y"]),
    ]
    return model(nodes, {"x": ["n", 3, 8, 8]}, {"y": (F, ["n", 6, 8, 8])}, constants)


SAMPLES = [{"x": rng.normal(size=(1, 3, 8, 8)).astype(np.float32)} for _ in range(4)]


def decibels(x: np.ndarray, y: np.ndarray) -> float:
    x, y = x.astype(np.float64), y.astype(np.float64)
    return float(10 * np.log10((x**2).sum() / ((x - y) ** 2).sum()))


@pytest.mark.parametrize(("config", "precision"), [("nv_full", "fp16"), ("nv_small", "int8")])
def test_a_node_in_the_middle_runs_on_the_host(config: str, precision: str) -> None:
    source = middle("LpNormalization")
    told: list[str] = []
    found = compile_partitions(
        source, Options(config=config, precision=precision), SAMPLES, say=told.append
    )
    assert [part.host for part in found.parts] == [False, True, False]
    assert found.parts[1].nodes == ("LpNormalization:m",)
    assert found.parts[2].nodes == ("Relu:r", "Conv:y")
    assert len(told) == 1
    assert "LpNormalization:m" in told[0]
    for part in found.parts:
        if not part.host:
            assert check(Loadable.parse(part.data), config) == []
    expected = session(source).run(None, SAMPLES[0])[0]
    result = found.run(SAMPLES[0])["y"]
    assert result.shape == expected.shape
    assert decibels(expected, result) > (55 if precision == "fp16" else 30)


def test_what_tables_compute_runs_on_the_host_where_there_are_none() -> None:
    """nv_small has no look-up tables; its two convolutions stay on the hardware."""
    source = middle("Tanh")
    found = compile_partitions(source, Options(config="nv_small"), SAMPLES)
    assert [part.host for part in found.parts] == [False, True, False]
    assert found.parts[1].nodes == ("Tanh:m",)
    whole = compile_partitions(source, Options(config="nv_full"), SAMPLES)
    assert [part.host for part in whole.parts] == [False]
    expected = session(source).run(None, SAMPLES[1])[0]
    for package in (found, whole):
        assert decibels(expected, package.run(SAMPLES[1])["y"]) > 30


def test_integers_stay_on_the_host() -> None:
    """The best class and its score; two outputs, one of them in the middle."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="conv"),
        helper.make_node("GlobalAveragePool", ["a"], ["p"], name="mean"),
        helper.make_node("Flatten", ["p"], ["f"], name="flat"),
        helper.make_node("ArgMax", ["f"], ["best"], axis=1, keepdims=0, name="best"),
    ]
    source = model(
        nodes,
        {"x": [1, 3, 8, 8]},
        {"f": (F, [1, 6]), "best": (TensorProto.INT64, [1])},
        {"w": weights(6, 3, 3, 3)},
    )
    found = compile_partitions(source, Options(), SAMPLES)
    assert [part.host for part in found.parts] == [False, True]
    result = found.run(SAMPLES[2])
    scores, best = session(source).run(None, SAMPLES[2])
    assert list(result) == ["f", "best"]
    assert result["best"].dtype == np.int64
    assert decibels(scores, result["f"]) > 30
    assert result["best"].tolist() == [int(result["f"].argmax())] == best.tolist()


def test_branches_that_meet_again() -> None:
    """One branch goes through the host; the addition comes after both."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="one"),
        helper.make_node("Conv", ["x", "v"], ["b"], name="two"),
        helper.make_node("LpNormalization", ["b"], ["n"], axis=1, name="host"),
        helper.make_node("Add", ["a", "n"], ["y"], name="sum"),
    ]
    constants = {"w": weights(4, 3, 1, 1), "v": weights(4, 3, 1, 1)}
    source = model(nodes, {"x": [1, 3, 8, 8]}, {"y": (F, [1, 4, 8, 8])}, constants)
    found = compile_partitions(source, Options(), SAMPLES)
    assert [part.nodes for part in found.parts] == [("one", "two"), ("host",), ("sum",)]
    expected = session(source).run(None, SAMPLES[0])[0]
    assert decibels(expected, found.run(SAMPLES[0])["y"]) > 28


def test_a_package_is_a_file() -> None:
    found = compile_partitions(middle("LpNormalization"), Options(), SAMPLES)
    data = found.encode()
    assert data.startswith(MAGIC)
    assert Package.decode(data) == found
    assert Package.decode(data).inputs == {"x": (1, 3, 8, 8)}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "too short"),
        (b"PK\x03\x04", "not a network in parts"),
        (b"hello", "not an NVDLA loadable"),
    ],
)
def test_other_files_are_refused(data: bytes, why: str) -> None:
    with pytest.raises(NvdlaError, match=why):
        Package.decode(data)


@pytest.mark.parametrize(
    ("feeds", "why"), [({}, "'x' is missing"), ({"x": 1, "z": 2}, "no input 'z'")]
)
def test_wrong_inputs(feeds: dict[str, Any], why: str) -> None:
    found = compile_partitions(middle("Relu"), Options(precision="fp16"))
    with pytest.raises(NvdlaError, match=why):
        found.run(feeds)


def test_integers_need_data() -> None:
    with pytest.raises(CompileError, match="calibration data"):
        compile_partitions(middle("Relu"), Options())


def test_dynamic_sizes_need_shapes() -> None:
    source = middle("LpNormalization")
    source.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "h"
    with pytest.raises(CompileError, match="dynamic dimension 2"):
        compile_partitions(source, Options(precision="fp16"))
    found = compile_partitions(source, Options(precision="fp16"), shapes={"x": (1, 3, 8, 8)})
    assert found.inputs["x"] == (1, 3, 8, 8)


@pytest.mark.parametrize(
    ("domain", "operator", "why"), [("acme", "Relu", "acme"), ("", "Rellu", "onnxruntime")]
)
def test_nodes_that_nobody_can_run(domain: str, operator: str, why: str) -> None:
    node = helper.make_node(operator, ["x"], ["y"], name="odd", domain=domain)
    graph = helper.make_graph(
        [node],
        "odd",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 3, 4, 4))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 3, 4, 4))],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    samples = [{"x": np.ones((1, 3, 4, 4), np.float32)}]
    with pytest.raises(CompileError, match=why) as caught:
        compile_partitions(model, Options(config="nv_full"), samples)
    assert len(str(caught.value).splitlines()) == 1


def test_a_part_at_which_the_compiler_fails_runs_on_the_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError("zero-size array")

    monkeypatch.setattr("cudla_sim.compiler.partition.compile.compile_graph", broken)
    said: list[str] = []
    package = compile_partitions(
        middle("Relu"), Options(precision="fp16"), shapes={"x": (1, 3, 8, 8)}, say=said.append
    )
    assert all(part.host for part in package.parts)
    assert any("ValueError: zero-size array" in line for line in said)
