"""Fewer, larger parts: hardware that is not worth its transfers runs on the host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnxruntime")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from cudla_sim.compiler.errors import CompileError
from cudla_sim.compiler.options import Options
from cudla_sim.compiler.partition import Package, compile_partitions
from cudla_sim.compiler.partition.costs import macs_of
from cudla_sim.compiler.runtime import session
from cudla_sim.nvdla.check import check
from cudla_sim.nvdla.errors import NvdlaError
from cudla_sim.nvdla.loadable import Loadable
from cudla_sim.nvdla.parts.part import Tensor
from cudla_sim.nvdla.parts.summary import summary
from cudla_sim.nvdla.parts.transfers import Transfer, transfers
from cudla_sim.nvdla.timing.parameters import Surroundings

rng = np.random.default_rng(5)
F = TensorProto.FLOAT


def weights(*shape: int) -> np.ndarray:
    return (rng.normal(size=shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)


def model(
    nodes: list[Any], shape: list[int], outputs: list[str], constants: dict[str, np.ndarray]
) -> Any:
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", F, shape)],
        [helper.make_tensor_value_info(name, F, None) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> Any:
    name = attributes.pop("name", outputs.split()[0])
    return helper.make_node(op, inputs.split(), outputs.split(), name=name, **attributes)


def islands(last: int = 16) -> Any:
    """Two convolutions, and between norms on the host an addition alone; the last convolution has
    *last* kernels."""
    constants = {"w": weights(16, 3, 3, 3), "v": weights(last, 16, 3, 3)}
    nodes = [
        node("Conv", "x w", "a", pads=[1, 1, 1, 1]),
        node("LpNormalization", "a", "n", axis=1),
        node("Add", "n n", "b"),
        node("LpNormalization", "b", "m", axis=1),
        node("Conv", "m v", "y"),
    ]
    return model(nodes, [1, 3, 32, 32], ["y"], constants)


def detector() -> Any:
    """A backbone and the head of a detector: distributions over distances, anchors, scores, and
    the choice of boxes."""
    anchors = rng.uniform(0, 16, size=(1, 2, 256)).astype(np.float32)
    constants = {
        "w1": weights(32, 3, 3, 3), "w2": weights(32, 32, 3, 3), "w3": weights(24, 32, 1, 1),
        "flat": np.array([1, 24, 256]), "dist": np.array([1, 4, 4, 256]),
        "bins": np.arange(4, dtype=np.float32).reshape(1, 1, 4, 1), "anchors": anchors,
        "split": np.array([16, 8]), "halves": np.array([2, 2]), "one": np.array([2]),
        "count": np.array([5]), "iou": np.array([0.5], np.float32),
        "least": np.array([0.7], np.float32), "two": np.array([2]), "line": np.array([-1]),
        "eight": np.float32(8),
    }  # fmt: skip
    nodes = [
        node("Conv", "x w1", "c1", pads=[1, 1, 1, 1], strides=[2, 2]),
        node("Relu", "c1", "r1"),
        node("Conv", "r1 w2", "c2", pads=[1, 1, 1, 1]),
        node("Relu", "c2", "r2"),
        node("Conv", "r2 w3", "head"),
        node("Reshape", "head flat", "f"),
        node("Split", "f split", "box cls", axis=1),
        node("Reshape", "box dist", "d"),
        node("Softmax", "d", "p", axis=2),
        node("Mul", "p bins", "e"),
        node("ReduceSum", "e one", "r", keepdims=0),
        node("Split", "r halves", "lt rb", axis=1),
        node("Sub", "anchors lt", "from"),
        node("Add", "anchors rb", "to"),
        node("Concat", "from to", "corners", axis=1),
        node("Transpose", "corners", "boxes", perm=[0, 2, 1]),
        node("Sigmoid", "cls", "scores"),
        node("NonMaxSuppression", "boxes scores count iou least", "chosen"),
        node("Gather", "chosen two", "column", axis=1),
        node("Reshape", "column line", "places"),
        node("Gather", "boxes places", "best", axis=1),
        node("Mul", "best eight", "pixels"),
    ]
    made = model(nodes, [1, 3, 32, 32], ["boxes", "scores", "chosen", "pixels"], constants)
    made.graph.output[2].type.tensor_type.elem_type = TensorProto.INT64
    return made


def compiled(source: Any, **options: Any) -> tuple[Package, list[str]]:
    said: list[str] = []
    found = compile_partitions(source, Options(precision="fp16"), say=said.append, **options)
    return found, said


def decibels(expected: np.ndarray, found: np.ndarray) -> float:
    noise = np.square((expected - found).astype(np.float64)).sum()
    if noise == 0:
        return float("inf")
    return float(10 * np.log10(np.square(expected.astype(np.float64)).sum() / noise))


def test_an_addition_between_host_parts_is_not_worth_two_transfers() -> None:
    source = islands()
    found, said = compiled(source)
    assert [part.nodes for part in found.parts] == [("a",), ("n", "b", "m"), ("y",)]
    assert any("'b'" in line and "transfers cost more" in line for line in said)
    x = {"x": rng.normal(size=(1, 3, 32, 32)).astype(np.float32)}
    assert decibels(session(source).run(None, x)[0], found.run(x)["y"]) > 50


def test_what_is_worth_it_stays() -> None:
    """Between host parts, but the larger convolution."""
    constants = {"w": weights(16, 16, 3, 3), "v": weights(64, 64, 3, 3), "u": weights(64, 16, 1, 1)}
    nodes = [
        node("LpNormalization", "x", "n", axis=1),
        node("Conv", "n u", "a"),
        node("LpNormalization", "a", "m", axis=1),
        node("Conv", "m v", "b"),
        node("LpNormalization", "b", "y", axis=1),
    ]
    found, said = compiled(model(nodes, [1, 16, 64, 64], ["y"], {k: constants[k] for k in "vu"}))
    assert ("b",) in [part.nodes for part in found.parts if not part.host]
    assert len(said) >= 3


@pytest.mark.parametrize("most", [5, 3, 2, 1])
def test_at_most_so_many_parts(most: int) -> None:
    source = islands(64)
    found, said = compiled(source, most=most)
    assert len(found.parts) <= most
    hardware = [part for part in found.parts if not part.host]
    if most in (2, 3):
        assert ("y",) in [part.nodes for part in hardware], "the one with most work"
    if most < 3:
        assert any(f"at most {most} parts are wanted" in line for line in said)
    x = {"x": rng.normal(size=(1, 3, 32, 32)).astype(np.float32)}
    assert decibels(session(source).run(None, x)[0], found.run(x)["y"]) > 50


def test_no_parts_are_none() -> None:
    with pytest.raises(CompileError, match="at least 1"):
        compiled(islands(), most=0)


def test_the_tail_of_a_detector_is_one_part() -> None:
    source = detector()
    found, _ = compiled(source)
    assert [part.host for part in found.parts] == [False, True]
    assert {"p", "boxes", "chosen"} <= set(found.parts[1].nodes)
    share = summary(found, Surroundings())
    macs = 16 * 16 * (32 * 27 + 32 * 32 * 9 + 24 * 32)
    assert (share.macs, share.hardware_macs) == (macs, macs)
    x = {"x": rng.normal(size=(1, 3, 32, 32)).astype(np.float32)}
    names = ["boxes", "scores", "chosen", "pixels"]
    expected = dict(zip(names, session(source).run(None, x), strict=True))
    result = found.run(x)
    for name in ("boxes", "scores"):
        assert decibels(expected[name], result[name]) > 45
    assert result["chosen"].dtype == np.int64
    for factor in (0, 1, 8):  # however many are chosen
        result = found.run({"x": factor * x["x"]})
        best = result["boxes"][:, result["chosen"][:, 2]]
        assert np.array_equal(result["pixels"], 8 * best)
        assert factor or not best.size


def test_sizes_that_the_data_decide_have_bounds() -> None:
    """5 boxes of each of 8 classes; and what follows from them."""
    package = Package.decode(compiled(detector())[0].encode())
    assert package.tensors["chosen"] == Tensor("int64", (40, 3), True)
    assert package.tensors["pixels"] == Tensor("float32", (1, 40, 4), True)
    assert not package.tensors["boxes"].varies


def test_batches_of_other_sizes_are_refused() -> None:
    found, _ = compiled(detector())
    x = {"x": rng.normal(size=(1, 3, 32, 32)).astype(np.float32)}
    with found.load() as loaded, pytest.raises(NvdlaError, match="'chosen' has another shape"):
        loaded.run({"x": np.concatenate([0 * x["x"], 5 * x["x"]])})


def test_what_nobody_needs_is_in_no_part() -> None:
    """A node that no hardware has, whose result nobody reads, and an input that nobody reads."""
    nodes = [
        node("LpNormalization", "x", "n", axis=1),
        node("Conv", "x w", "a"),
        node("LpNormalization", "n", "m", axis=1),
        node("LpNormalization", "a", "y", axis=1),
    ]
    source = model(nodes, [1, 3, 6, 6], ["y"], {"w": weights(3, 3, 3, 3)})
    source.graph.input.append(helper.make_tensor_value_info("z", F, [1, 3]))
    found, _ = compiled(source)
    assert [part.nodes for part in found.parts] == [("a",), ("y",)]
    feeds = {"x": rng.normal(size=(1, 3, 6, 6)).astype(np.float32), "z": np.zeros((1, 3))}
    expected = session(source).run(None, {**feeds, "z": np.zeros((1, 3), np.float32)})[0]
    assert decibels(expected, found.run(feeds)["y"]) > 50


def test_transfers_by_hand() -> None:
    class Placed:
        def __init__(self, host: bool, inputs: str, outputs: str) -> None:
            self.host, self.inputs, self.outputs = host, tuple(inputs), tuple(outputs)

    parts = [Placed(False, "x", "ab"), Placed(True, "ax", "c"), Placed(False, "bc", "d")]
    assert transfers(parts) == [
        Transfer("a", 0, False),
        Transfer("b", 0, False),
        Transfer("b", 2, True),
        Transfer("c", 2, True),
    ]


@pytest.mark.parametrize(
    ("made", "shapes", "macs"),
    [
        (node("Conv", "x w", "y"), {"x": [1, 4, 6, 6], "w": [8, 2, 3, 3], "y": [1, 8, 4, 4]}, 2304),
        (
            node("ConvTranspose", "x w", "y"),
            {"x": [1, 4, 3, 3], "w": [4, 2, 2, 2], "y": [1, 2, 4, 4]},
            288,
        ),
        (node("MatMul", "x w", "y"), {"x": [2, 3, 5], "w": [5, 7], "y": [2, 3, 7]}, 210),
        (node("Gemm", "x w", "y", transA=1), {"x": [5, 3], "w": [5, 7], "y": [3, 7]}, 105),
        (node("Relu", "x", "y"), {"x": [5], "y": [5]}, 0),
        (node("Conv", "x w", "y"), {"y": [1, 2, 3]}, 0),
    ],
)
def test_macs_by_hand(made: Any, shapes: dict[str, list[int]], macs: int) -> None:
    assert macs_of(made, shapes) == macs


OPERATORS = ("Conv", "Relu", "LpNormalization", "Add", "MaxPool", "Transpose", "Tanh", "CumSum")


@st.composite
def networks(draw: st.DrawFn) -> Any:
    """Chains with branches of what hardware can do and cannot."""
    channels = draw(st.sampled_from((3, 8)))
    constants: dict[str, np.ndarray] = {"axis": np.array(3)}
    names, nodes = ["x"], []
    for number in range(draw(st.integers(1, 7))):
        op = draw(st.sampled_from(OPERATORS))
        source, other = (draw(st.sampled_from(names)) for _ in range(2))
        made = f"t{number}"
        if op == "Conv":
            constants[f"w{number}"] = weights(channels, channels, 3, 3)
            nodes.append(node(op, f"{source} w{number}", made, pads=[1, 1, 1, 1]))
        elif op == "Add":
            nodes.append(node(op, f"{source} {other}", made))
        elif op == "LpNormalization":
            nodes.append(node(op, source, made, axis=1))
        elif op == "MaxPool":
            nodes.append(node(op, source, made, kernel_shape=[3, 3], pads=[1, 1, 1, 1]))
        elif op == "Transpose":
            nodes.append(node(op, source, made, perm=[0, 1, 3, 2]))
        elif op == "CumSum":
            nodes.append(node(op, f"{source} axis", made))
        else:
            nodes.append(node(op, source, made))
        names.append(made)
    outputs = [names[-1], *draw(st.sets(st.sampled_from(names[1:]), max_size=2)) - {names[-1]}]
    used = {name for item in nodes for name in item.input}
    stored = {name: array for name, array in constants.items() if name in used}
    return model(nodes, [1, channels, 6, 6], outputs, stored)


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(networks(), st.sampled_from((None, 1, 2, 4)), st.sampled_from(("fp16", "int16")))
def test_whatever_compiles_is_right(source: Any, most: int | None, precision: str) -> None:
    outputs = [item.name for item in source.graph.output]
    sizes = [item.type.tensor_type.shape for item in source.graph.input]
    shape = [dim.dim_value for dim in sizes[0].dim]
    samples = [{"x": sample} for sample in _samples(shape)]
    found = compile_partitions(source, Options(precision=precision), samples, most=most)
    assert most is None or len(found.parts) <= most
    found = Package.decode(found.encode())
    for part in found.parts:
        if not part.host:
            assert check(Loadable.parse(part.data), "nv_full") == []
    expected = dict(zip(outputs, session(source).run(None, samples[0]), strict=True))
    result = found.run(samples[0])
    assert list(result) == outputs
    for name in outputs:
        assert decibels(expected[name], result[name]) > 30
    share = summary(found, Surroundings())
    assert share.nodes <= len(source.graph.node)


def _samples(shape: list[int]) -> Iterator[np.ndarray]:
    random = np.random.default_rng(3)
    for _ in range(3):
        yield random.normal(size=shape).astype(np.float32)
