"""`nvdla run`: pictures in, tensors out, as the public application does it."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudla_sim.nvdla import images, network_run
from cudla_sim.nvdla.loadable import Loadable
from cudla_sim.tools.nvdla import outputs
from tests import warm
from tests.conftest import FIXTURES, ROOT

COMPILED = FIXTURES / "nvdla" / "compiled"
DIGITS = ROOT / "c_examples" / "cudla" / "data"


@cache
def cases() -> dict[str, Any]:
    manifest = COMPILED / "MANIFEST.json"
    return json.loads(manifest.read_text())["cases"] if manifest.exists() else {}


def app_runs() -> list[tuple[str, int]]:
    """What the public application ran through without an error."""
    return [
        (tag, number)
        for tag, case in cases().items()
        for number, run in enumerate(case.get("app", []))
        if run["rc"] == 0
    ]


@pytest.mark.parametrize(("tag", "number"), app_runs() or [("none", 0)])
def test_application_files(tag: str, number: int, fixtures: Path) -> None:
    """Byte for byte the DIMG or text file that the application wrote for a picture."""
    case = cases()[tag]
    run = case["app"][number]
    loadable = Loadable.parse((COMPILED / "loadables" / f"{tag}.nvdla").read_bytes())
    flags = run["flags"].split()
    mean = (
        [float(m) for m in flags[flags.index("--mean") + 1].split(",")] if "--mean" in flags else []
    )
    normalize = float(flags[flags.index("--normalize") + 1]) if "--normalize" in flags else 1.0
    picture = COMPILED / "images" / run["image"]
    buffer = images.load(picture, loadable.inputs[0], mean, normalize)
    result = network_run.run(loadable, "nv_" + case["config"], {0: buffer})
    golden = (COMPILED / "app" / run["file"]).read_bytes()
    if "--rawdump" in flags:
        assert outputs.raw_dump(result.values[0]).encode() == golden
    else:
        assert outputs.dimg(result.tensors[0], result.values[0]) == golden


def call(*words: str) -> subprocess.CompletedProcess[str]:
    command = [warm.python(), "-m", "cudla_sim", "nvdla", "run", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def picture_array(path: Path) -> np.ndarray:
    grey = np.frombuffer(path.read_bytes()[-64:], np.uint8).reshape(1, 1, 8, 8)
    return np.rint(grey / 16 * 127).astype(np.int8)


def test_command_writes_what_it_promises(tmp_path: Path) -> None:
    array = tmp_path / "in.npy"
    np.save(array, picture_array(sorted((DIGITS / "images").glob("7_*.pgm"))[0]))
    result = call(
        str(DIGITS / "digits_int8.nvdla"), "--input", f"0={array}", "--output", str(tmp_path / "o"),
        "--dimg", "--rawdump", "--layers", "--dump-layers", str(tmp_path / "layers"),
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    values = np.load(tmp_path / "o" / "out0.npy")
    assert values.shape == (1, 10, 1, 1)
    assert values.argmax() == 7
    assert (tmp_path / "o" / "out0.bin").stat().st_size == 32
    assert (tmp_path / "o" / "out0.dimg").read_bytes()[:4] == b"DIMG"
    words = (tmp_path / "o" / "out0.txt").read_text().split()
    assert [int(w) for w in words] == values.ravel().tolist()
    assert result.stdout.count("CONV+SDP") == 3
    layers = sorted((tmp_path / "layers").glob("*.npy"))
    assert len(layers) == 5
    assert (np.load(layers[-1]) == values).all()
    # The pooled layer is the maximum of the one before it.
    before, pooled = np.load(layers[0]), np.load(layers[1])
    assert (before.reshape(1, 8, 4, 2, 4, 2).max((3, 5)) == pooled).all()


def test_compare_reports_the_first_difference(tmp_path: Path) -> None:
    loadable = str(DIGITS / "digits_int8.nvdla")
    assert call(loadable, "--output", str(tmp_path), "--rawdump").returncode == 0
    for name in ("out0.npy", "out0.txt"):
        same = call(loadable, "--compare", str(tmp_path / name))
        assert same.returncode == 0
        assert "output 0: equals" in same.stdout
    values = np.load(tmp_path / "out0.npy")
    values[0, 3] += 5
    np.save(tmp_path / "other.npy", values)
    other = call(loadable, "--compare", f"0={tmp_path / 'other.npy'}")
    assert other.returncode == 1
    assert "(0, 3, 0, 0)" in other.stdout
    assert "largest difference is 5" in other.stdout


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["/nonexistent"], "No such file"),
        ([__file__], f"{__file__}: not an NVDLA loadable but text"),
        ([str(DIGITS / "digits_int8.nvdla"), "--config", "nv_small"], "nv_full"),
        ([str(DIGITS / "digits_int8.nvdla"), "--input", "0=/nonexistent"], "No such file"),
        ([str(DIGITS / "digits_int8.nvdla"), "--input", f"0={__file__}"], "the buffer of 'image'"),
    ],
)
def test_mistakes_are_explained(words: list[str], why: str) -> None:
    result = call(*words)
    assert result.returncode == 1
    assert result.stderr.startswith("cudla-sim nvdla run: ")
    assert why in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "data",
    [b"", b"P5", b"P5\n8 8\n16\n", b"P5\n8 8\n65535\n" + bytes(128), b"P2\n8 8\n16\n" + bytes(64)],
)
def test_broken_pictures(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "x.pgm"
    file.write_bytes(data)
    tensor = Loadable.parse((DIGITS / "digits_int8.nvdla").read_bytes()).inputs[0]
    with pytest.raises(images.InputError):
        images.load(file, tensor)


def test_colour_pictures_keep_the_applications_channel_order(tmp_path: Path) -> None:
    """Blue first, as the application's JPEG reader delivers it; missing channels are zero."""
    from cudla_sim.nvdla import layout
    from cudla_sim.nvdla.build import Network

    net = Network(input=("data", (1, 4, 2, 3)), precision="fp16")
    net.conv2d(np.ones((1, 4, 1, 1)))
    tensor = Loadable.parse(net.build()).inputs[0]
    pixels = np.arange(18, dtype=np.uint8).reshape(2, 3, 3) * 10
    (tmp_path / "x.ppm").write_bytes(b"P6 3 2\n# a comment\n255\n" + pixels.tobytes())
    buffer = images.load(tmp_path / "x.ppm", tensor, [10, 20, 30], 2)
    values = layout.unpack_tensor(tensor, buffer)[0]
    expected = (pixels.transpose(2, 0, 1)[::-1].astype(float) - [[[10]], [[20]], [[30]]]) / 2
    assert (values[:3] == expected).all()
    assert (values[3] == 0).all()


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ((), [0, 4, 64, 127]),  # pixel * 127 / 255, to the nearest
        (([3.0], 2.0), [0, 4, 64, 127]),  # the application's options mean nothing to int8
        (([], 1.0, 0.5), [0, 4, 64, 127]),
        (([3.0], 1.0, 0.5), [-1, 3, 63, 126]),  # halves go up
        (([], 2.0, [3.0]), [0, 12, 127, 127]),
        (([200.0], 1.0, 1.0), [-128, -128, -72, 55]),
    ],
)
def test_pixels_become_int8(tmp_path: Path, how: tuple[Any, ...], expected: list[int]) -> None:
    from cudla_sim.nvdla import layout

    tensor = Loadable.parse((DIGITS / "digits_int8.nvdla").read_bytes()).inputs[0]
    (tmp_path / "x.pgm").write_bytes(b"P5 8 8 255 " + bytes([0, 8, 128, 255]) * 16)
    values = layout.unpack_tensor(tensor, images.load(tmp_path / "x.pgm", tensor, *how))
    assert values.reshape(16, 4).tolist() == [expected] * 16


@pytest.mark.parametrize("head", [b"P5 8 8 255 ", b"P5\n# a comment\n8 8\n#another\n255\n"])
def test_headers_of_pictures(tmp_path: Path, head: bytes) -> None:
    """White space and comments as pgm(5) has them."""
    pixels = bytes([10, 35]) + bytes(62)  # 35 is the sign of a comment
    outputs = []
    for number, begin in enumerate((b"P5\n8 8\n255\n", head)):
        file, out = tmp_path / f"{number}.pgm", tmp_path / str(number)
        file.write_bytes(begin + pixels)
        words = ("--input", f"0={file}", "--output", str(out))
        assert call(str(DIGITS / "digits_int8.nvdla"), *words).returncode == 0
        outputs.append((out / "out0.bin").read_bytes())
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--config", "nv_tiny"], "'nv_tiny' is no configuration"),
        (["--input", "1=x"], "input 1: the network has 1"),
        (["--input", "picture=x"], "there is no input 'picture'; the inputs are image"),
        (["--compare", "scores=x"], "there is no output 'scores'; the outputs are "),
        (["--compare", "0=x", "--compare", "0=y"], "is given twice"),
    ],
)
def test_wrong_usage_is_2(words: list[str], why: str) -> None:
    result = call(str(DIGITS / "digits_int8.nvdla"), *words)
    assert result.returncode == 2
    last = result.stderr.splitlines()[-1]
    assert last.startswith("cudla-sim nvdla run: ")
    assert why in last


def test_inputs_have_names() -> None:
    digits = str(DIGITS / "digits_int8.nvdla")
    picture = str(sorted((DIGITS / "images").glob("*.pgm"))[0])
    by_number, by_name = (call(digits, "--input", f"{n}={picture}") for n in ("0", "image"))
    assert by_name.stdout.splitlines()[-1] == by_number.stdout.splitlines()[-1]


def test_an_onnx_model_is_called_one(tmp_path: Path) -> None:
    from onnx import TensorProto, helper

    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 2, 2])
    model = helper.make_model(helper.make_graph([], "g", [value], [value]), producer_name="")
    for suffix in (".onnx", ".nvdla"):
        file = tmp_path / f"model{suffix}"
        file.write_bytes(model.SerializeToString())
        result = call(str(file))
        assert result.returncode == 1
        assert f"{file}: not an NVDLA loadable but an ONNX model; " in result.stderr
