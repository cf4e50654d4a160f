"""``cudla-sim trtexec``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest

from cudla_sim.compiler import calibrate, front
from cudla_sim.nvdla.loadable import DataType, Loadable
from cudla_sim.tools import progress
from cudla_sim.tools.onnx.trtexec_words import BadWord, check, io_formats, layer_precisions, parse
from cudla_sim.tools.root import run_command
from tests.tools.test_compile import network

STANDALONE = ["--buildDLAStandalone", "--useDLACore=0"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    file = tmp_path / "net.onnx"
    onnx.save(network(), file)
    return file


def trtexec(*words: str) -> int:
    return run_command(["trtexec", *words])


def test_the_command_of_the_samples(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    random = np.random.default_rng(0)
    samples = [{"x": random.normal(size=(1, 3, 8, 8)).astype(np.float32)} for _ in range(2)]
    scales = calibrate.ranges(front.load(model), samples)
    cache, engine = model.with_suffix(".cache"), model.with_suffix(".bin")
    cache.write_text(calibrate.Table.of(scales).text())
    words = [
        f"--onnx={model}", f"--saveEngine={engine}", *STANDALONE, "--fp16", "--int8",
        "--inputIOFormats=int8:chw32", "--outputIOFormats=int8:chw32", f"--calib={cache}",
        "--memPoolSize=dlaSRAM:1,dlaLocalDRAM:512,dlaGlobalDRAM:512", "--skipInference",
    ]  # fmt: skip
    assert trtexec(*words) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("&&&& RUNNING TensorRT.trtexec")
    assert printed[-1].startswith("&&&& PASSED TensorRT.trtexec [TensorRT v")
    assert printed[-1].endswith("# trtexec " + " ".join(words))
    assert any("--skipInference" in line and "ignored" in line for line in printed)
    loadable = Loadable.parse(engine.read_bytes())
    assert loadable.inputs[0].data_type == DataType.INT8


def test_a_terminal_sees_what_takes_long(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    real = progress.Progress.shown
    monkeypatch.setattr(
        progress.Progress, "shown", lambda self: (begun.append(self.what), real(self))[1]
    )
    words = [f"--onnx={model}", "--int8", "--inventRanges"]
    assert trtexec(*words) == 0
    assert begun == ["building"]


def test_new_words_take_the_precision_from_the_network(model: Path) -> None:
    engine, info = model.with_suffix(".bin"), model.with_suffix(".json")
    words = [f"--onnx={model}", f"--saveEngine={engine}", "--stronglyTyped", "--shapes=x:1x3x8x8"]
    formats = ["--inputIOFormats=chw16", "--outputIOFormats=chw16"]
    assert trtexec(*words, *STANDALONE, *formats, f"--exportLayerInfo={info}") == 0
    assert Loadable.parse(engine.read_bytes()).inputs[0].data_type == DataType.HALF
    assert json.loads(info.read_text())["Bindings"] == ["x", "b"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "Model missing"),
        (["--onnx=net.onnx", "--frobnicate"], "Unknown option: --frobnicate"),
        (["--onnx=net.onnx", "--int8"], "int8 needs ranges"),
        (["--onnx=net.onnx", "--int8", "--calib=gone"], "no such file"),
        (["--onnx=gone.onnx", "--fp16"], "No such file"),
        (["--onnx=net.onnx", "--fp16", "--minShapes=x:1x3x8x8", "--maxShapes=x:2x3x8x8"], "static"),
        (["--loadEngine=x"], "nvdla run"),
    ],
)
def test_mistakes_fail(
    model: Path,
    words: list[str],
    why: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(model.parent)
    assert trtexec("--verbose", *words) == 1
    captured = capsys.readouterr()
    assert captured.out.splitlines()[-1].startswith("&&&& FAILED TensorRT.trtexec")
    assert why in captured.err


def test_invented_ranges_are_asked_for(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert trtexec(f"--onnx={model}", "--int8", "--inventRanges") == 0
    assert "invented" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["--onnx=a", "--buildDLAStandalone"],
        ["--onnx=a", *STANDALONE],
        ["--onnx=a", *STANDALONE, "--allowGPUFallback"],
        ["--onnx=a", "--memPoolSize=dlaSRAM:3"],
        ["--onnx=a", "--memPoolSize=dlaSRAM:1024B"],
        ["--onnx=a", "--memPoolSize=cache:1"],
        ["--onnx=a", "--useDLACore=one"],
        ["--onnx=a", "--precisionConstraints=maybe"],
        ["--onnx"],
        ["--int8=1", "--onnx=a"],
        ["net.onnx"],
    ],
)
def test_what_trtexec_would_not_take(words: list[str]) -> None:
    with pytest.raises(BadWord):
        check(parse(words))


def test_formats_and_precisions() -> None:
    assert io_formats("int8:chw4+chw32,fp16:chw16", "int8", output=True) == [
        "int8:chw32",
        "fp16:chw16",
    ]
    assert io_formats("int8:hwc4", "int8", output=False) == ["int8:hwc4"]
    for text in ("int8:hwc4", "fp32:chw", "int8:chw"):
        with pytest.raises(BadWord):
            io_formats(text, "int8", output=True)
    found = layer_precisions("*:int8,/a/conv:fp16,b:fp16,b:int8", ["/a/conv", "b", "c"])
    assert found == {"/a/conv": "fp16", "b": "int8", "c": "int8"}
