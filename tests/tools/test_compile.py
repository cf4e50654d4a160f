"""``cudla-sim compile``, in this process."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from cudla_sim.compiler import compilation
from cudla_sim.nvdla import real_numbers as real
from cudla_sim.nvdla.annotation import BLOB
from cudla_sim.nvdla.loadable import Loadable
from cudla_sim.tools.root import run_command
from tests.compiler.reference import run

RANDOM = np.random.default_rng(3)


def network(*last: str) -> onnx.ModelProto:
    """A convolution, a ReLU and what *last* names."""
    weights = RANDOM.normal(size=(8, 3, 3, 3)).astype(np.float32) / 5
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"], name="relu"),
    ]
    name = "b"
    for op in last:
        nodes.append(helper.make_node(op, [name], [f"{name}{op}"], name=op))
        name = f"{name}{op}"
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ("batch", 3, 8, 8))],
        [helper.make_empty_tensor_value_info(name)],
        [numpy_helper.from_array(weights, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    file = tmp_path / "net.onnx"
    onnx.save(network(), file)
    return file


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "data.npy"
    np.save(file, RANDOM.normal(size=(4, 3, 8, 8)).astype(np.float32))
    return file


def test_the_loadable_computes_what_the_model_does(model: Path, data: Path) -> None:
    out, report = model.with_suffix(".nvdla"), model.with_suffix(".json")
    words = ["compile", str(model), "-o", str(out), "--config", "nv_small", "--calib", str(data)]
    assert run_command([*words, "--report", str(report)]) == 0
    sample = np.load(data)[:1]
    expected = run(onnx.load(model), {"x": sample})["b"]
    with real.RealNetwork(out.read_bytes()) as loaded:
        found = loaded.run({"x": sample})["b"]
    step = np.abs(np.load(data)).max() and expected.max() / 127
    assert np.abs(found - expected).max() < 4 * step
    told = json.loads(report.read_text())
    assert told["config"] == "nv_small"
    assert told["calibration"]["source"] == "samples"
    assert told["bytes"] == out.stat().st_size


def test_a_saved_cache_gives_the_same_loadable(
    model: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, cache = (model.with_suffix(s) for s in (".1", ".2", ".cache"))
    words = ["compile", str(model), "-o"]
    calib = ["--calib", str(data), "--save-calib", str(cache)]
    assert run_command([*words, str(first), *calib]) == 0
    assert cache.read_text().startswith("TRT-")
    assert run_command([*words, str(second), "--calib", str(cache)]) == 0
    sizes = [
        {name: len(blob.data) for name, blob in Loadable.parse(file.read_bytes()).blobs.items()}
        for file in (first, second)
    ]
    sizes = [{**found, BLOB: 0} for found in sizes]  # scales have more digits than in the cache
    assert sizes[0] == sizes[1]
    assert run_command([*words, str(second), *calib]) == 0
    assert "known from an earlier run" in capsys.readouterr().err
    assert first.read_bytes() == second.read_bytes()


def test_passes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["compile", "--passes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [item.name for item in compilation.listed()]
    assert all(len(line.split()) > 2 for line in lines)


def test_the_network_is_printed_behind_passes(
    model: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compile", str(model), "-o", str(model.with_suffix(".nvdla")), "--calib", str(data)]
    assert run_command([*words, "--dump-after", "lower", "--dump-after", "read"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("after")] == [
        "after read: net",
        "after lower: net",
    ]
    assert "  a 1x8x8x8 = Conv(x) weights=float32[8x3x3x3] bias=float32[8] pads=(1,1,1,1)" in lines
    assert "  1 SDP 'conv + relu': weights -> b" in lines


def test_an_unknown_pass_names_those_there_are(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = model.with_suffix(".nvdla")
    assert run_command(["compile", str(model), "-o", str(out), "--dump-after", "lowering"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "'lowering' is no pass; did you mean lower?: read, " in line
    assert all(item.name in line for item in compilation.listed())
    assert not out.exists()


def test_accuracy_is_printed_and_reported(
    model: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, report = model.with_suffix(".nvdla"), model.with_suffix(".json")
    words = ["compile", str(model), "-o", str(out), "--calib", str(data), "--accuracy"]
    assert run_command([*words, "--report", str(report)]) == 0
    assert "SQNR dB" in capsys.readouterr().out
    outputs = json.loads(report.read_text())["accuracy"]["outputs"]
    assert [row["name"] for row in outputs] == ["b"]
    assert outputs[0]["sqnr"] > 30


def test_cut_and_fixed_shapes(model: Path) -> None:
    out = model.with_suffix(".nvdla")
    words = ["compile", str(model), "-o", str(out), "--precision", "fp16", "--outputs", "conv"]
    assert run_command(words) == 0
    assert Loadable.parse(out.read_bytes()).outputs[0].name == "a"
    assert run_command([*words, "--shapes", "x:1x3x9x9"]) == 1


@pytest.mark.parametrize(
    ("words", "status", "why"),
    [
        ([], 1, "int8 needs ranges"),
        (["--precision", "int7"], 2, "int7"),
        (["--config", "nv_huge"], 2, "nv_huge"),
        (["--config", "nv_small", "--precision", "fp16"], 1, "nv_small has no fp16"),
        (["--precision", "fp16", "--outputs", "nowhere"], 1, "no tensor or node"),
        (["--precision", "fp16", "--input-format", "x=fp16:chw99"], 2, "no format"),
        (["--precision", "fp16", "--input-format", "z=fp16:chw16"], 2, "no input is called 'z'"),
        (["--precision", "fp16", "--shapes", "x:1xhuge"], 2, "not name:1x3x224x224"),
        (["--invent-ranges", "--input-format", "x=int8:chw16"], 1, "chw16 holds fp16 and int16"),
        (["--invent-ranges", "--report", "/nowhere/r.json"], 1, "/nowhere/r.json: No such file"),
        (["--invent-ranges", "--save-calib", "/proc"], 1, "/proc: Is a directory"),
        (["--calib", "nothing.npy"], 1, "does not exist"),
        (["--calib-method", "guess"], 2, "guess"),
    ],
)
def test_mistakes(
    model: Path, words: list[str], status: int, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = model.with_suffix(".nvdla")
    assert run_command(["compile", str(model), "-o", str(out), *words]) == status
    assert why in " ".join(capsys.readouterr().err.split())
    assert sorted(p.name for p in model.parent.iterdir()) == ["net.onnx"]


def test_all_refusals_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "net.onnx"
    onnx.save(network("Det", "Relu", "GlobalLpPool"), file)
    words = ["compile", str(file), "-o", str(tmp_path / "out"), "--precision", "fp16"]
    assert run_command(words) == 1
    lines = capsys.readouterr().err.splitlines()
    assert any("Det 'Det'" in line for line in lines)
    assert any("--fallback cpu" in line for line in lines)
    assert any("GlobalLpPool 'GlobalLpPool'" in line for line in lines)
    assert not (tmp_path / "out").exists()
