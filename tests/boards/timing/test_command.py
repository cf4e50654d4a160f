"""``cudla-sim dla time``."""

from __future__ import annotations

import json
from math import isclose
from pathlib import Path

import jsonschema
import onnx
import pytest
from click.testing import CliRunner

from cudla_sim.boards import check
from cudla_sim.boards.timing import estimate
from cudla_sim.tools import schemas
from cudla_sim.tools.dla.command import app
from tests.boards.networks.graph import Graph
from tests.boards.networks.small import model_bn


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("time") / "bn.onnx"
    onnx.save(model_bn(), file)
    return str(file)


def call(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["time", *words])
    return result.exit_code, result.output


def test_a_table_and_one_line(model: str) -> None:
    status, text = call(model, "--int8", "--power-mode", "30W", "--batch", "8", "--cores", "2")
    assert status == 0
    lines = text.splitlines()
    assert lines[0].split()[:4] == ["operation", "type", "on", "precision"]
    assert lines[1].split()[:3] == ["Conv_0", "+", "Relu_1"]
    times = estimate(check(model, int8=True), "30W", batch=8, cores=2)
    (line,) = (line for line in lines if line.startswith("bn on orin 30W (1369.6 MHz), INT8"))
    assert f"batch 8, 2 cores: {times.latency.value:.3g} ms" in line
    assert f"({times.latency.low:.3g} to {times.latency.high:.3g})" in line
    assert line.endswith("without the GPU's layers")
    assert "2 tensors to the DLA, 2 from it" in text


def test_json_is_what_the_schema_says(model: str) -> None:
    status, text = call(model, "--int8", "--sparse", "--sram", "0.5", "--json")
    assert status == 0
    found = json.loads(text)
    jsonschema.Draft202012Validator(schemas.read("dla-time")).validate(found)
    assert found["version"] == 1
    assert found["sram_bytes"] == 512 << 10
    assert found["sparse"] is True
    assert isclose(found["dla"]["value"], sum(row["ms"] for row in found["operations"]))
    assert [len(found[key]) for key in ("operations", "subgraphs", "gpu_layers")] == [5, 2, 2]


def test_the_clock_and_transitions_of_the_user(model: str) -> None:
    status, text = call(
        model, "--board", "xavier", "--clock", "500", "--to-dla", "1", "--from-dla", "2", "--json"
    )
    assert status == 0
    found = json.loads(text)
    assert (found["board"], found["clock_mhz"], found["precision"]) == ("xavier", 500, "fp16")
    assert found["transitions"] == {"low": 6, "value": 6, "high": 6}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--power-mode", "31W"), "orin has no power mode '31W' (did you mean 30W?)"),
        (("--board", "thor"), "Jetson AGX Thor has no DLA"),
        (("--batch", "0"), "the batch is 0; 1 to 4096 are possible"),
        (("--clock", "-5"), "the clock is -5 MHz; it is above 0"),
        (("--int8", "--sram", "9"), "9437184 bytes of SRAM"),
        (("--fp16-layers", "x*"), "no layer is called 'x*'"),
    ],
)
def test_errors_are_one_line(model: str, words: tuple[str, ...], told: str) -> None:
    status, text = call(model, *words)
    assert status == 2
    assert text.startswith("cudla-sim dla time: ")
    assert told in text
    assert text.count("\n") == 1


def test_a_model_of_which_nothing_is_on_the_dla(tmp_path: Path) -> None:
    g = Graph("none", (1, 4, 8, 8))
    file = tmp_path / "none.onnx"
    onnx.save(g.model(g.node("Erf", ["input"], (1, 4, 8, 8))), file)
    status, text = call(str(file), "--int8")
    assert status == 1
    assert "no layer is on the DLA; dla check says why" in text
