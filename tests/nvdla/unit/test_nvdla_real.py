"""Real numbers into a network and out of it, by what the loadable says of itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from cudla_sim.compiler.layers import reference
from cudla_sim.nvdla import annotation, layout, network_run, target
from cudla_sim.nvdla.annotation import BLOB, Annotation, PlaceNote, PortNote
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.build.container import Container
from cudla_sim.nvdla.errors import NvdlaError
from cudla_sim.nvdla.loadable import Loadable
from cudla_sim.nvdla.real_numbers import RealNetwork, run
from cudla_sim.nvdla.real_tensors import reals_of, steps_of
from cudla_sim.tools.nvdla import command as nvdla

CONFIGS = [("nv_full", "int8"), ("nv_full", "fp16"), ("nv_full", "int16"), ("nv_small", "int8")]


class Made:
    """A network with an annotation: its input is an ONNX tensor [n, h, w, c], NHWC."""

    def __init__(self, config: str, precision: str, patch: pytest.MonkeyPatch) -> None:
        rng = np.random.default_rng(7)
        self.net = net = Network(input=("x", (1, 5, 6, 7)), precision=precision, config=config)
        weights = rng.normal(size=(12, 5, 3, 3))
        net.conv2d(weights, rng.normal(size=12), padding=1, relu=True)
        middle = net.output
        net.max_pool(2)
        self.samples = rng.normal(size=(4, 6, 7, 5)).astype(np.float32)
        self.nchw = self.samples.transpose(0, 3, 1, 2)
        calibration = None if precision == "fp16" else self.nchw
        net.build(calibration)  # then the scales are known
        blob = Container.blob

        def annotated(container: Container, name: str, data: bytes, *rest: Any) -> str:
            said = self.note(middle.scale).encode() if name == BLOB else data
            return blob(container, name, said, *rest)

        with patch.context() as patched:
            patched.setattr(Container, "blob", annotated)
            self.image = net.build(calibration)
        self.plain = Loadable.parse(self.image)
        self.noted = self.note(middle.scale)
        self.precision, self.config = precision, config

    def note(self, middle_scale: float) -> Annotation:
        net, floating = self.net, self.net.precision == 2
        scales = [None if floating else s for s in (net.input.scale, net.output.scale)]
        atom = net.config.memory_atom
        return Annotation(
            inputs=(
                PortNote(
                    name="images:0",
                    shape=(1, 6, 7, 5),
                    value=(1, 5, 6, 7),
                    order=(0, 2, 3, 1),
                    scale=scales[0],
                ),
            ),
            outputs=(PortNote(name="y", shape=(1, 12, 9), value=(1, 12, 3, 3), scale=scales[1]),),
            places=(
                PlaceNote(
                    name="middle",
                    value=(1, 3, 6, 7),
                    channels=(11, 0, 4),
                    operations=(1,),
                    address=2,
                    offset=0,
                    line=7 * atom,
                    surface=42 * atom,
                    precision=("int8", "int16", "fp16")[net.precision],
                    scale=None if floating else middle_scale,
                ),
            ),
            options={"config": net.config.name},
        )


@pytest.fixture(params=CONFIGS, ids="-".join)
def made(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Made:
    return Made(*request.param, monkeypatch)


def test_results_are_those_of_the_buffers(made: Made) -> None:
    """The same bytes as a run on raw buffers gives, scaled."""
    sample = made.samples[:1]
    (found,) = run(made.image, {"images:0": sample}).values()
    tensor = made.plain.inputs[0]
    steps = (tensor.strides[1], tensor.strides[2], tensor.size)
    elements = made.net.quantize_input(made.nchw[:1])
    buffer = layout.pack_feature(elements, made.net.config.memory_atom, steps, tensor.size)
    result = network_run.run(made.plain, made.config, {0: buffer})
    expected = made.net.dequantize_output(result.values[0])
    assert found.shape == (1, 12, 9)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected.reshape(1, 12, 9), rtol=1e-6)


def test_results_are_near_the_float_network(made: Made) -> None:
    with RealNetwork(made.image) as network:
        assert network.config.name == made.config
        found = network.run({"images:0": made.samples})["y"]
    expected = made.net.reference(made.nchw).reshape(4, 12, 9)
    noise = np.sum((found - expected) ** 2) / np.sum(expected**2)
    assert 10 * np.log10(1 / noise) > {"int8": 30, "int16": 60, "fp16": 55}[made.precision]


def test_many_samples_are_one_after_the_other(made: Made) -> None:
    with RealNetwork(made.image) as network:
        together = network.run({"images:0": made.samples})["y"]
        singly = [network.run({"images:0": made.samples[i : i + 1]})["y"] for i in range(4)]
    assert (together == np.concatenate(singly)).all()


def test_values_inside_are_seen(made: Made) -> None:
    """Of the first convolution, three channels in another order."""
    seen: list[tuple[str, Any]] = []
    with RealNetwork(made.image) as network:
        network.run({"images:0": made.samples[:1]}, lambda place, x: seen.append((place.name, x)))
    ((name, found),) = seen
    assert name == "middle"
    first = made.net.nodes[:2]  # with its activation
    values = reference.run(first, {made.net.input.value: made.nchw[:1]})
    expected = values[first[1].output][:, [11, 0, 4]]
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < 0.03 * np.abs(expected).max()


@pytest.mark.parametrize(
    ("feeds", "why"),
    [
        ({}, "'images:0' is missing"),
        ({"images:0": np.zeros((1, 6, 7, 5)), "z": 1}, "no input 'z'"),
        ({"images:0": np.zeros((1, 5, 6, 7))}, r"is \(1, 6, 7, 5\), the array is \(1, 5, 6, 7\)"),
        ({"images:0": np.zeros((0, 6, 7, 5))}, "the array is"),
        ({"images:0": np.full((1, 6, 7, 5), np.nan)}, "NaN"),
        ({"images:0": np.full((1, 6, 7, 5), "a")}, "type <U1"),
    ],
)
def test_wrong_inputs_say_why(
    feeds: dict[str, Any], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        RealNetwork(Made("nv_small", "int8", monkeypatch).image) as network,
        pytest.raises(NvdlaError, match=why),
    ):
        network.run(feeds)


def test_other_loadables_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    loadable = Made("nv_small", "int8", monkeypatch).plain
    others = {name: blob for name, blob in loadable.blobs.items() if name != BLOB}
    with pytest.raises(NvdlaError, match="does not say how"):
        RealNetwork(replace(loadable, blobs=others))


def test_a_port_of_another_shape_than_its_tensor_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    random = np.random.default_rng(2)
    net = Network(("x", (1, 8, 4, 4)), "int8", "nv_small")
    net.conv2d(random.normal(size=(8, 8, 1, 1)))
    loadable = Loadable.parse(net.build(random.normal(size=(1, 8, 4, 4))))
    found = annotation.read(loadable)
    assert found is not None
    larger = replace(found.outputs[0], value=(1, 8, 64, 64), shape=(1, 8, 64, 64))
    monkeypatch.setattr(annotation, "read", lambda _: replace(found, outputs=(larger,)))
    with pytest.raises(NvdlaError, match="is described as"):
        RealNetwork(loadable)


def test_what_does_not_fit_takes_the_nearest() -> None:
    values = np.array([-1e9, -1.24, 0.25, 0.75, 1e9, np.inf])
    found = steps_of(values, np.dtype(np.int8), 0.5, 0)
    assert found.tolist() == [-128, -2, 0, 2, 127, 127]
    assert steps_of(values, np.dtype(np.uint8), 0.5, 10).tolist() == [0, 8, 10, 12, 255, 255]
    assert steps_of(values, np.dtype(np.float16), None, 0).max() == 65504
    assert reals_of(np.array([3, 5], np.uint8), 0.5, 4).tolist() == [-0.5, 0.5]


def test_heads_and_quantised_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    """12 channels as 3 x 4, the last axis first; the input as uint8 with a zero point."""
    made = Made("nv_small", "int8", monkeypatch)
    sample = made.nchw[:1]
    (plain,) = run(made.image, {"images:0": made.samples[:1]}).values()
    (port,), (out,) = made.noted.inputs, made.noted.outputs
    scale = made.net.input.scale
    steps = np.clip(np.rint(sample / scale), -128, 127)
    note = replace(
        made.noted,
        inputs=(
            replace(
                port, name="q", shape=(1, 5, 6, 7), order=(0, 1, 2, 3), dtype="uint8",
                integer_scale=scale, integer_zero=128,
            ),
        ),
        outputs=(
            replace(out, split=(1, 3, 4, 3, 3), order=(0, 1, 3, 4, 2), shape=(1, 3, 9, 4)),
            ),
    )  # fmt: skip
    blob = replace(made.plain.blobs[BLOB], data=memoryview(note.encode()))
    changed = replace(made.plain, blobs={**made.plain.blobs, BLOB: blob})
    (found,) = run(changed, {"q": (steps + 128).astype(np.uint8)}).values()
    expected = plain.reshape(3, 4, 9).transpose(0, 2, 1)
    assert (found == expected[None]).all()


# --- the command ---------------------------------------------------------------------------------


def call(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(nvdla.app, ["run", *words])
    return result.exit_code, result.output


@pytest.mark.parametrize("word", ["images:0=", "0=", ""])
def test_command(word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Made("nv_small", "int8", monkeypatch)
    file, array, folder = tmp_path / "a.nvdla", tmp_path / "x.npy", tmp_path / "out"
    file.write_bytes(made.image)
    np.save(array, made.samples[:1].astype(np.float64))
    status, text = call(str(file), "--real", "--input", f"{word}{array}", "--output", str(folder))
    assert status == 0, text
    assert "output 0 'y' 1x12x9 float32" in text
    expected = run(made.image, {"images:0": made.samples[:1]})["y"]
    found = np.load(folder / "out0.npy")
    assert found.dtype == np.float32
    assert (found == expected).all()


@pytest.mark.parametrize(
    ("words", "why", "wrong"),
    [
        (["--input", "1={}"], "the network has 1", 2),
        (["--input", "other={}"], "there is no input 'other'", 2),
        (["--input", "0={}", "--input", "images:0={}"], "given twice", 2),
        (["--input", "0=/nonexistent"], "No such file", 1),
        (["--input", "0=" + __file__], "is no .npy file", 1),
    ],
)
def test_command_says_what_is_wrong(
    words: list[str], why: str, wrong: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.nvdla"
    file.write_bytes(Made("nv_small", "int8", monkeypatch).image)
    array = tmp_path / "x.npy"
    np.save(array, np.zeros((1, 6, 7, 5)))
    status, text = call(str(file), "--real", *[word.format(array) for word in words])
    assert status == wrong
    assert why in text


def test_the_annotation_changes_nothing_else(made: Made) -> None:
    assert target.candidates(made.plain)[made.config] is None
