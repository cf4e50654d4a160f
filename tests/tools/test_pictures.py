"""Pictures in, answers out: pixels folded into the network, C programs around it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from cudla_sim.nvdla.real_numbers import RealNetwork
from cudla_sim.testing import Compiler
from cudla_sim.tools.root import run_command
from tests.compiler.reference import run
from tests.tools.test_compile import network

MEAN, SCALE = (123.0, 117.0, 104.0), 0.017
WORDS = ["--mean", "123,117,104", "--scale", "0.017"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    file = tmp_path / "net.onnx"
    onnx.save(network(), file)
    return file


def pictures(layout: str, count: int = 3) -> np.ndarray[Any, Any]:
    shape = (count, 8, 8, 3) if layout == "nhwc" else (count, 3, 8, 8)
    return np.random.default_rng(5).integers(0, 256, shape).astype(np.uint8)


def normalised(pixels: np.ndarray[Any, Any], layout: str) -> np.ndarray[Any, Any]:
    real = pixels.transpose(0, 3, 1, 2) if layout == "nhwc" else pixels
    return ((real - np.array(MEAN).reshape(1, 3, 1, 1)) * SCALE).astype(np.float32)


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
@pytest.mark.parametrize(
    ("config", "precision", "error"),
    [("nv_full", "fp16", 0.01), ("nv_full", "int8", 0.03), ("nv_small", "int8", 0.03)],
)
def test_pixels_go_in_as_they_are(
    config: str, precision: str, error: float, layout: str, model: Path
) -> None:
    data, out = model.with_suffix(".npy"), model.with_suffix(".nvdla")
    np.save(data, pictures(layout))
    words = ["compile", str(model), "-o", str(out), "--config", config, "--precision", precision]
    calib = ["--calib", str(data)] if precision == "int8" else []
    assert run_command([*words, *calib, "--pixels", f"x:{layout}", *WORDS]) == 0
    one = pictures(layout, 1)
    (want,) = run(onnx.load(model), {"x": normalised(one, layout)}).values()
    with RealNetwork(out.read_bytes()) as running:
        assert running.note.inputs[0].dtype == "uint8"
        found = running.run({"x": one})["b"]
    assert np.abs(found - want).max() <= error * np.abs(want).max()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--pixels", "x"], "--pixels: 'x' is not NAME:nchw or NAME:nhwc"),
        (["--pixels", "z:nchw"], "no input is called 'z'; there are x"),
        (["--pixels", "x:nchw", "--mean", "1,2"], "--mean has 2 numbers for 3 channels"),
    ],
)
def test_mistakes(
    words: list[str], why: str, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["compile", str(model), "-o", str(model.with_suffix(".out")), "--precision", "fp16"]
    assert run_command([*out, *words]) in (1, 2)
    assert why in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    "words",
    [
        ["--precision", "fp16"],
        ["--precision", "int8"],
        ["--precision", "int8", "--config", "nv_small"],
        ["--precision", "int8", "--input-format", "x=int8:dla_linear"],
        ["--precision", "int8", "--pixels", "x:nhwc", *WORDS],
        ["--precision", "fp16", "--output-format", "b=fp16:dla_linear"],
    ],
    ids=lambda words: " ".join(words[1:4:2]) or "fp16",
)
def test_a_program_around_the_network(words: list[str], model: Path, sim_cc: Compiler) -> None:
    """It stores what Python does, to the bit."""
    pixels = "--pixels" in words
    data = pictures("nhwc") if pixels else normalised(pictures("nchw"), "nchw")
    calib, out, text = (model.with_suffix(end) for end in (".npy", ".nvdla", ".c"))
    np.save(calib, data)
    words = ["compile", str(model), "-o", str(out), "--emit-c", str(text), *words]
    assert run_command([*words, "--calib", str(calib)]) == 0
    program = sim_cc.build(text)
    given, made = model.with_suffix(".in"), model.with_suffix(".made")
    data[1:2].tofile(given)
    settings = {"CUDLA_SIM_CONFIG": "nv_small" if "nv_small" in words else "nv_full"}
    done = sim_cc.run(program, str(out), str(given), str(made), settings=settings)
    assert done.status == 0, done.err
    with RealNetwork(out.read_bytes()) as running:
        want = running.run({"x": data[1:2]})["b"]
    assert np.fromfile(made, np.float32).tobytes() == want.tobytes()
    short = sim_cc.run(program, str(out), str(out), str(made), settings=settings)
    assert short.status == 1
    assert "bytes, the array has" in short.err


def test_numbers_of_another_scale_are_noticed(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = model.with_suffix(".npy"), model.with_suffix(".nvdla")
    np.save(data, normalised(pictures("nchw"), "nchw"))
    assert run_command(["compile", str(model), "-o", str(out), "--calib", str(data)]) == 0
    raw = pictures("nchw", 1).astype(np.float32)
    with RealNetwork(out.read_bytes()) as running:
        running.run({"x": normalised(raw, "nchw")})
        assert not capsys.readouterr().err.count("scale them")
        running.run({"x": raw})
        running.run({"x": raw})
        running.run({"x": normalised(raw, "nchw") / 1e6})
        told = capsys.readouterr().err
    assert told.count("scale them as the calibration data were") == 1
    assert "input 'x':" in told
    with RealNetwork(out.read_bytes()) as running:
        running.run({"x": normalised(raw, "nchw") / 1e6})
        assert "all elements round to 0" in capsys.readouterr().err
