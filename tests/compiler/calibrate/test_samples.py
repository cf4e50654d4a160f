"""Samples from files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper
from PIL import Image

from cudla_sim.compiler import front
from cudla_sim.compiler.calibrate import load_samples
from cudla_sim.compiler.errors import CompileError
from cudla_sim.compiler.graph import Graph


def network(*inputs: tuple[str, tuple[int, ...], int]) -> Graph:
    nodes = [helper.make_node("Relu", [name], [f"{name}:y"]) for name, _, _ in inputs]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info(name, kind, shape) for name, shape, kind in inputs],
        [helper.make_empty_tensor_value_info(f"{name}:y") for name, _, _ in inputs],
    )
    return front.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))


FLOAT = TensorProto.FLOAT
PICTURE = ("x", (1, 3, 4, 6), FLOAT)


@pytest.mark.parametrize("shape", [(1, 3, 4, 6), (5, 3, 4, 6), (5, 1, 3, 4, 6), (3, 4, 6)])
def test_arrays(tmp_path: Path, shape: tuple[int, ...]) -> None:
    array = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    np.save(tmp_path / "a.npy", array)
    found = [sample["x"] for sample in load_samples(network(PICTURE), [tmp_path / "a.npy"])]
    assert np.array_equal(np.concatenate(found), array.reshape(-1, 3, 4, 6))


def test_several_inputs_come_by_name(tmp_path: Path) -> None:
    graph = network(("a", (1, 4), FLOAT), ("b", (1, 2), FLOAT))
    a, b = np.ones((3, 4), np.float32), np.full((3, 2), 2, np.float32)
    np.savez(tmp_path / "two.npz", b=b, a=a)
    found = list(load_samples(graph, [tmp_path]))
    assert [sample["a"].shape for sample in found] == [(1, 4)] * 3
    assert [float(sample["b"][0, 0]) for sample in found] == [2, 2, 2]
    np.savez(tmp_path / "two.npz", a=a)
    with pytest.raises(CompileError, match="lacks the input 'b'"):
        list(load_samples(graph, [tmp_path]))
    np.save(tmp_path / "one.npy", a)
    with pytest.raises(CompileError, match="the network has the inputs a, b"):
        list(load_samples(graph, [tmp_path / "one.npy"]))


@pytest.mark.parametrize("last", [False, True])
def test_pictures(tmp_path: Path, last: bool) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (4, 6, 3), np.uint8)
    Image.fromarray(pixels).save(tmp_path / "p.png")
    shape = (1, 16, 24, 3) if last else (1, 3, 4, 6)
    if last:
        Image.fromarray(pixels).resize((24, 16), Image.Resampling.BILINEAR).save(tmp_path / "p.png")
        pixels = np.asarray(Image.open(tmp_path / "p.png"))
    graph = network(("x", shape, FLOAT))
    samples = load_samples(graph, [tmp_path], mean=(1, 2, 3), scale=(0.5,))
    (sample,) = samples
    expected = (pixels.astype(np.float32) - [1, 2, 3]) * 0.5
    expected = expected if last else expected.transpose(2, 0, 1)
    assert np.allclose(sample["x"], expected[None])


def test_pictures_for_quantised_inputs(tmp_path: Path) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (4, 6), np.uint8)
    Image.fromarray(pixels).save(tmp_path / "p.png")
    graph = network_of_integers()
    (sample,) = load_samples(graph, [tmp_path])
    assert sample["x"].dtype == np.uint8
    assert np.array_equal(sample["x"][0, 0], pixels)
    assert np.allclose(graph.inputs[0].to_value(sample["x"])[0, 0], (pixels - 128.0) * 0.25)


def network_of_integers() -> Graph:
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["r"]),
        helper.make_node("Relu", ["r"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, (1, 1, 4, 6))],
        [helper.make_empty_tensor_value_info("y")],
        [
            helper.make_tensor("s", FLOAT, (), [0.25]),
            helper.make_tensor("z", TensorProto.UINT8, (), [128]),
        ],
    )
    return front.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))


def test_mistakes_say_what_is_wrong(tmp_path: Path) -> None:
    graph = network(PICTURE)
    with pytest.raises(CompileError, match="does not exist"):
        load_samples(graph, [tmp_path / "none.npy"])
    with pytest.raises(CompileError, match=r"holds no \.npy"):
        load_samples(graph, [tmp_path])
    np.save(tmp_path / "a.npy", np.zeros((2, 4, 6), np.float32))
    with pytest.raises(CompileError, match="is 2 x 4 x 6; input 'x' is 1 x 3 x 4 x 6"):
        list(load_samples(graph, [tmp_path]))
    (tmp_path / "a.npy").write_bytes(b"nothing")
    with pytest.raises(CompileError, match=r"calibration: .*a\.npy"):
        list(load_samples(graph, [tmp_path]))
