"""``cudla-sim nvdla evaluate``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from cudla_sim.compiler import compilation
from cudla_sim.nvdla import real_numbers as real
from cudla_sim.tools.root import run_command
from tests.compiler.reference import run

from .conftest import DATA, LOADABLE, Digits

RANDOM = np.random.default_rng(5)


def test_digits(
    digits: Digits, labels_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "digits.npz", image=digits.elements)
    words = ["nvdla", "evaluate", str(LOADABLE), "--samples", str(tmp_path / "digits.npz")]
    assert run_command([*words, "--labels", str(labels_file), "--workers", "1"]) == 0
    said = capsys.readouterr().out
    assert "top-1  98.00 %  (98 right)" in said
    assert run_command([*words, "--labels", str(labels_file), "--json", "--workers", "2"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["top1"], found["samples"], found["workers"]) == (0.98, 100, 2)
    assert run_command([*words, "--labels", "/nowhere.npy"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("cudla-sim nvdla evaluate: /nowhere.npy: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize("option", ["--scale=7.9375", "--normalize=0.125984251968504"])
def test_pixels_are_scaled_to_elements(
    labels_file: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A loadable without scales: 127 stands for 16, the white of these pictures."""
    words = ["nvdla", "evaluate", str(LOADABLE), "--samples", str(DATA / "images"), option]
    assert run_command([*words, "--labels", str(labels_file), "--workers", "1"]) == 0
    assert "top-1  98.00 %  (98 right)" in capsys.readouterr().out


@pytest.mark.slow
def test_interrupted_from_the_keyboard(digits: Digits, labels_file: Path, tmp_path: Path) -> None:
    """The command ends, says how to go on, and goes on."""
    many = np.concatenate([digits.elements] * 8)
    np.save(tmp_path / "digits.npy", many)
    np.save(tmp_path / "labels.npy", np.concatenate([digits.classes] * 8))
    out = tmp_path / "found.npz"
    words = [
        sys.executable, "-m", "cudla_sim", "nvdla", "evaluate", str(LOADABLE),
        "--samples", str(tmp_path / "digits.npy"), "--labels", str(tmp_path / "labels.npy"),
        "--output", str(out), "--json", "--batch", "4",
    ]  # fmt: skip
    first = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True)
    journal = Path(f"{out}.journal")
    while not journal.exists() or journal.read_bytes().count(b"\n") < 4:
        assert first.poll() is None
        time.sleep(0.01)
    os.killpg(first.pid, signal.SIGINT)
    _, said = first.communicate()
    assert first.returncode == 130
    assert "the same command goes on" in said
    assert "Traceback" not in said
    done = sum(len(json.loads(line)) for line in journal.read_bytes().splitlines()[1:])
    second = subprocess.run(words, capture_output=True, text=True, check=True)
    found = json.loads(second.stdout)
    assert found["samples_run"] == 800 - done
    assert found["top1"] == 0.98


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A convolution, a pooling, a fully connected layer: ten classes."""
    weights = RANDOM.normal(size=(8, 3, 3, 3)).astype(np.float32) / 5
    dense = RANDOM.normal(size=(128, 10)).astype(np.float32) / 10
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("MaxPool", ["b"], ["c"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["c"], ["d"]),
        helper.make_node("MatMul", ["d", "m"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 3, 8, 8))],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(dense, "m")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(made, tmp_path / "net.onnx")
    return tmp_path / "net.onnx"


def test_onnx_models_are_compiled(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores and noise are those of the compiled network, run sample by sample."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    data = RANDOM.normal(size=(20, 3, 8, 8)).astype(np.float32)
    np.save(tmp_path / "x.npy", data)
    floats = np.concatenate([run(onnx.load(model), {"x": x[None]})["y"] for x in data])
    np.savez(tmp_path / "y.npz", y=floats)
    (tmp_path / "labels.txt").write_text("".join(f"{n}\n" for n in floats.argmax(1)))
    words = [
        "nvdla", "evaluate", str(model), "--samples", str(tmp_path / "x.npy"), "--json",
        "--calib", str(tmp_path / "x.npy"), "--labels", str(tmp_path / "labels.txt"),
        "--reference", str(tmp_path / "y.npz"), "--workers", "1",
    ]  # fmt: skip
    assert run_command(words) == 0
    found = json.loads(capsys.readouterr().out)
    request = compilation.Request(
        model, compilation.Options(config="nv_full", precision="int8"), calib=[tmp_path / "x.npy"]
    )
    image = compilation.run(request, print).compiled.loadable
    outputs = np.concatenate([real.run(image, {"x": x[None]})["y"] for x in data])
    assert found["top1"] == (outputs.argmax(1) == floats.argmax(1)).mean()
    noise = np.square((floats - outputs).astype(np.float64)).sum()
    signal_ = np.square(floats.astype(np.float64)).sum()
    assert found["sqnr_db"]["y"] == pytest.approx(10 * np.log10(signal_ / noise), rel=1e-4)
    assert found["sqnr_db"]["y"] > 20
    assert run_command([*words[:5], "--precision", "int4"]) == 2
    assert run_command(words[:5]) == 1  # int8 without ranges
    assert "needs ranges" in capsys.readouterr().err
