"""Pictures in, answers out: pixels folded into the network, C programs around it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from PIL import Image

from cudla_sim.nvdla.build import Network
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


DIVIDED = ["--mean", "123,117,104", "--normalize", "58.8235294"]


@pytest.mark.parametrize("layout", ["", "nchw", "nhwc"], ids=lambda word: word or "real")
@pytest.mark.parametrize("words", [WORDS, DIVIDED], ids=["scale", "normalize"])
def test_one_meaning_in_every_command(words: list[str], layout: str, model: Path) -> None:
    """A PNG that `run --real` feeds gives what the array of its numbers gives."""
    pixels = pictures("nhwc", 1)
    picture, out = model.with_suffix(".png"), model.with_suffix(".nvdla")
    Image.fromarray(pixels[0]).save(picture)
    compiled = ["compile", str(model), "-o", str(out), "--calib", str(picture)]
    if layout:
        np.save(model.with_suffix(".npy"), pixels if layout == "nhwc" else _first(pixels))
        compiled[-1] = str(model.with_suffix(".npy"))
        compiled += ["--pixels", f"x:{layout}"]
    assert run_command([*compiled, *words]) == 0
    if layout:
        array, given = (pixels if layout == "nhwc" else _first(pixels)), []
    else:
        array, given = normalised(pixels, "nhwc"), words
    with RealNetwork(out.read_bytes()) as running:
        want = running.run({"x": array})["b"]
    folder = model.with_suffix(".out")
    run = ["nvdla", "run", str(out), "--real", "--input", f"x={picture}", "--output", str(folder)]
    assert run_command([*run, *given]) == 0
    np.testing.assert_array_equal(np.load(folder / "out0.npy"), want)


def _first(pixels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.ascontiguousarray(pixels.transpose(0, 3, 1, 2))


@pytest.mark.parametrize("words", [["--scale", "0.5"], ["--normalize", "2"]])
def test_raw_buffers_of_pictures(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A network of halves: what multiplies by a half divides by two."""
    net = Network(input=("data", (1, 1, 2, 3)), precision="fp16")
    net.conv2d(np.ones((1, 1, 1, 1)))
    (tmp_path / "net.nvdla").write_bytes(net.build())
    pixels = np.arange(6, dtype=np.uint8).reshape(2, 3) * 40
    Image.fromarray(pixels).save(tmp_path / "x.png")
    run = ["nvdla", "run", str(tmp_path / "net.nvdla"), "--input", f"0={tmp_path / 'x.png'}"]
    assert run_command([*run, "--mean", "10", *words, "--output", str(tmp_path)]) == 0
    np.testing.assert_array_equal(np.load(tmp_path / "out0.npy")[0, 0], (pixels - 10.0) / 2)
    for wrong, why in (
        (["--scale", "1", "--normalize", "2"], "give one of them"),
        (["--normalize", "0"], "0 is no divisor"),
        (["--mean", "a"], "'a' is no list of numbers"),
    ):
        assert run_command([*run, *wrong]) == 2
        assert why in " ".join(capsys.readouterr().err.split())


def test_inspect_says_what_elements_mean(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With scale and zero point of the JSON, plain numpy feeds and reads the buffers."""
    data, out = model.with_suffix(".npy"), model.with_suffix(".nvdla")
    array = normalised(pictures("nchw"), "nchw")
    np.save(data, array)
    assert run_command(["compile", str(model), "-o", str(out), "--calib", str(data)]) == 0
    capsys.readouterr()
    assert run_command(["inspect", "--json", str(out)]) == 0
    printed = json.loads(capsys.readouterr().out)
    (given,), (made,) = (printed[kind] for kind in ("inputs", "outputs"))
    assert given["real"].items() >= {"name": "x", "shape": [1, 3, 8, 8], "zero_point": 0}.items()
    elements = np.clip(np.rint(array[:1] / given["real"]["scale"]), -128, 127).astype(np.int8)
    raw, folder = model.with_suffix(".raw.npy"), model.with_suffix(".out")
    np.save(raw, elements)
    assert (
        run_command(["nvdla", "run", str(out), "--input", f"0={raw}", "--output", str(folder)]) == 0
    )
    found = np.load(folder / "out0.npy").astype(np.float64) * made["real"]["scale"]
    (want,) = run(onnx.load(model), {"x": array[:1]}).values()
    assert np.abs(found.ravel() - want.ravel()).max() <= 0.03 * np.abs(want).max()


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


@pytest.mark.slow
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


def test_a_single_number_has_no_dimensions(tmp_path: Path) -> None:
    """The product of two vectors, as numpy and ONNX have it."""
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[8] x) => (float y) { y = MatMul (x, w) }'
    )
    weights = np.arange(8, dtype=np.float32) - 3
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    file, out = tmp_path / "dot.onnx", tmp_path / "dot.nvdla"
    onnx.save(model, file)
    assert run_command(["compile", str(file), "-o", str(out), "--precision", "fp16"]) == 0
    x = np.linspace(-1, 1, 8, dtype=np.float32)
    with RealNetwork(out.read_bytes()) as running:
        found = running.run({"x": x})["y"]
    assert found.shape == ()
    assert abs(found - x @ weights) < 0.01
