"""``cudla-sim trtexec``."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import numpy as np
import onnx
import pytest

from cudla_sim.compiler import calibrate, front
from cudla_sim.compiler.partition import Package
from cudla_sim.nvdla.loadable import DataType, Loadable
from cudla_sim.nvdla.timing import runs
from cudla_sim.nvdla.timing.parameters import Surroundings
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
        "--memPoolSize=dlaSRAM:1,dlaLocalDRAM:512,dlaGlobalDRAM:512", "--useSpinWait",
    ]  # fmt: skip
    assert trtexec(*words) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("&&&& RUNNING TensorRT.trtexec")
    assert printed[-1].startswith("&&&& PASSED TensorRT.trtexec [TensorRT v")
    assert printed[-1].endswith("# trtexec " + " ".join(words))
    assert any("--useSpinWait" in line and "ignored" in line for line in printed)
    loadable = Loadable.parse(engine.read_bytes())
    assert loadable.inputs[0].data_type == DataType.INT8
    assert not any("Performance summary" in line for line in printed)  # as with --skipInference


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
        (["--onnx=net.onnx", "--int8", "--calib=gone"], "no such file"),
        (["--onnx=gone.onnx", "--fp16"], "No such file"),
        (["--onnx=net.onnx", "--fp16", "--minShapes=x:1x3x8x8", "--maxShapes=x:2x3x8x8"], "static"),
        (["--loadEngine=x"], "No such file"),
        (["--loadEngine=net.onnx"], "loadable"),
        (["--onnx=net.onnx", "--loadEngine=x"], "no model"),
        (["--onnx=net.onnx", "--fp16", "--iterations=0.5"], "whole number"),
        (["--onnx=net.onnx", "--fp16", "--duration=long"], "--duration=long"),
        (["--onnx=net.onnx", "--fp16", "--loadInputs=x:y"], "nvdla run"),
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


def test_dummy_ranges(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As TensorRT takes them, with its warning; --inventRanges knows."""
    assert trtexec(f"--onnx={model}", "--int8", "--duration=0") == 0
    printed = capsys.readouterr().out
    assert "[W] Calibrator is not being used. Users must provide dynamic range" in printed
    assert "invented" in printed
    assert trtexec(f"--onnx={model}", "--int8", "--inventRanges", "--skipInference") == 0
    printed = capsys.readouterr().out
    assert "invented" in printed
    assert "Calibrator" not in printed
    assert "Performance" not in printed


def value(printed: str, name: str, what: str) -> float:
    """A number as scripts find it in trtexec's summary."""
    (found,) = re.findall(rf"\[I\] {name}: .*?{re.escape(what)} = ([0-9.e+-]+) ms", printed)
    return float(found)


def test_speed_is_that_of_the_hardware(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine, times, profile = (model.with_suffix(end) for end in (".bin", ".times", ".profile"))
    words = [f"--onnx={model}", "--fp16", f"--saveEngine={engine}", "--dumpProfile"]
    words += [f"--exportTimes={times}", f"--exportProfile={profile}"]
    assert trtexec(*words, "--iterations=7", "--duration=0", "--warmUp=0") == 0
    printed = capsys.readouterr().out
    run = runs.loadable(Loadable.parse(engine.read_bytes()), "", "nv_full", Surroundings())
    compute = value(printed, "GPU Compute Time", "median")
    assert compute == pytest.approx(run.seconds * 1e3, rel=1e-4)
    latency = value(printed, "Latency", "percentile(99%)")
    assert latency == pytest.approx(
        sum(value(printed, f"{name} Latency", "mean") for name in ("H2D", "D2H")) + compute,
        rel=1e-4,
    )
    (rate,) = re.findall(r"Throughput: ([0-9.e+-]+) qps", printed)
    assert float(rate) == pytest.approx(1000 / latency, rel=1e-4)
    rows = json.loads(times.read_text())
    assert len(rows) == 7
    for before, after in itertools.pairwise(rows):
        assert after["startH2dMs"] == pytest.approx(before["endD2hMs"])
    assert rows[3]["computeMs"] == pytest.approx(compute, rel=1e-4)
    count, *layers = json.loads(profile.read_text())
    assert count == {"count": 7}
    assert sum(layer["percentage"] for layer in layers) == pytest.approx(100)
    assert sum(layer["averageMs"] for layer in layers) == pytest.approx(compute, rel=1e-4)
    assert "Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer" in printed
    assert trtexec(f"--loadEngine={engine}", "--iterations=1", "--duration=0") == 0
    assert value(capsys.readouterr().out, "GPU Compute Time", "min") == compute


def test_what_the_dla_cannot_do_falls_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proto = network()
    node = onnx.helper.make_node("CumSum", ["b", "axis"], ["sums"], name="sums")
    proto.graph.node.append(node)
    axis = onnx.numpy_helper.from_array(np.array(1, np.int64), "axis")
    proto.graph.initializer.append(axis)
    shape = [d.dim_value for d in proto.graph.output[0].type.tensor_type.shape.dim]
    made = onnx.helper.make_tensor_value_info("sums", onnx.TensorProto.FLOAT, shape)
    proto.graph.output.append(made)
    file, engine = tmp_path / "net.onnx", tmp_path / "net.engine"
    onnx.save(proto, file)
    words = [f"--onnx={file}", "--fp16", "--useDLACore=0", f"--saveEngine={engine}"]
    assert trtexec(*words, "--skipInference") == 1
    capsys.readouterr()
    assert trtexec(*words, "--allowGPUFallback", "--duration=0") == 0
    printed = capsys.readouterr().out
    assert "[DlaLayer]" in printed
    assert "[GpuLayer]" in printed
    assert "1 layers run on the host and take no time here: sums" in printed
    assert Package.decode(engine.read_bytes()).parts[-1].host


@pytest.mark.parametrize(
    "words",
    [
        ["--onnx=a", "--buildDLAStandalone"],
        ["--onnx=a", *STANDALONE],
        ["--onnx=a", *STANDALONE, "--allowGPUFallback"],
        ["--onnx=a", "--memPoolSize=dlaLocalDRAM:3"],
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


def test_an_engine_of_any_name_is_timed(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine = model.with_suffix(".engine")
    words = [f"--onnx={model}", "--fp16", f"--saveEngine={engine}", "--skipInference"]
    assert trtexec(*words) == 0
    assert run_command(["nvdla", "time", str(engine)]) == 0
    assert "CONV+SDP" in capsys.readouterr().out
