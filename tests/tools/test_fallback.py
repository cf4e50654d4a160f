"""``cudla-sim compile --fallback cpu`` and running what it makes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

from cudla_sim.compiler.runtime import session
from cudla_sim.tools.root import app

rng = np.random.default_rng(4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with a node that no configuration has, and calibration data."""
    where = tmp_path_factory.mktemp("fallback")
    first = (rng.normal(size=(8, 3, 3, 3)) / 5).astype(np.float32)
    second = (rng.normal(size=(4, 8, 1, 1)) / 3).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="first"),
        helper.make_node("LpNormalization", ["a"], ["n"], axis=1, name="norm"),
        helper.make_node("Conv", ["n", "v"], ["y"], name="second"),
    ]
    shapes = [1, 3, 8, 8], [1, 4, 6, 6]
    ports = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in zip("xy", shapes, strict=True)
    ]
    constants = [numpy_helper.from_array(first, "w"), numpy_helper.from_array(second, "v")]
    graph = helper.make_graph(nodes, "mixed", ports[:1], ports[1:], constants)
    opset = helper.make_opsetid("", 17)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=8), where / "m.onnx")
    np.save(where / "calib.npy", rng.normal(size=(6, 3, 8, 8)).astype(np.float32))
    np.save(where / "x.npy", rng.normal(size=(1, 3, 8, 8)).astype(np.float32))
    return where


def call(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(words))
    return result.exit_code, result.output


def test_parts_are_listed_written_and_run(folder: Path) -> None:
    out, report = folder / "m.nvdla", folder / "report.json"
    status, text = call(
        "compile", str(folder / "m.onnx"), "-o", str(out), "--config", "nv_small",
        "--calib", str(folder / "calib.npy"), "--fallback", "cpu", "--report", str(report),
    )  # fmt: skip
    assert status == 0, text
    assert "part 1, host (onnxruntime): 1 nodes (norm)" in text
    parts = json.loads(report.read_text())["parts"]
    assert [part["host"] for part in parts] == [False, True, False]
    status, text = call(
        "nvdla", "run", str(out), "--real", "--input", f"x={folder / 'x.npy'}",
        "--output", str(folder / "o"),
    )  # fmt: skip
    assert status == 0, text
    found = np.load(folder / "o" / "out0.npy")
    expected = session((folder / "m.onnx").read_bytes()).run(
        None, {"x": np.load(folder / "x.npy")}
    )[0]
    noise = ((found - expected) ** 2).sum() / (expected**2).sum()
    assert 10 * np.log10(1 / noise) > 30


def test_without_it_the_node_is_refused(folder: Path) -> None:
    out = folder / "none.nvdla"
    status, text = call(
        "compile", str(folder / "m.onnx"), "-o", str(out), "--calib", str(folder / "calib.npy")
    )
    assert status == 1
    assert "norm" in text
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "status", "why"),
    [
        (["--fallback", "gpu"], 2, "'gpu' is not 'cpu'"),
        (["--fallback", "cpu"], 1, "--calib"),
        (["--fallback", "cpu", "--precision", "fp16", "--outputs", "n"], 1, "--outputs"),
    ],
)
def test_wrong_words(words: list[str], status: int, why: str, folder: Path) -> None:
    out = folder / "wrong.nvdla"
    found, text = call("compile", str(folder / "m.onnx"), "-o", str(out), *words)
    assert found == status
    assert why in " ".join(text.split())
    assert not out.exists()


def test_a_broken_package(tmp_path: Path) -> None:
    file = tmp_path / "broken.nvdla"
    file.write_bytes(b"PK\x03\x04 and no more")
    status, text = call("nvdla", "run", str(file))
    assert status == 1
    assert "not a network in parts" in text
