"""What commands print as JSON is what the schemas in the package say."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import jsonschema
import numpy as np
import pytest

from cudla_sim.tools import schemas
from cudla_sim.tools.root import app
from tests import warm
from tests.conftest import ROOT
from tests.nvdla.wide import wide_pooling

DIGITS = ROOT / "c_examples" / "cudla" / "data" / "digits_int8.nvdla"


def printed(*words: str, status: int = 0) -> Any:
    command = [warm.python(), "-m", "cudla_sim", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


def valid(name: str, data: Any) -> None:
    jsonschema.Draft202012Validator(schemas.read(name)).validate(data)


@pytest.mark.parametrize("name", schemas.names())
def test_schemas_are_schemas_with_a_version(name: str) -> None:
    schema = schemas.read(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    for each in schema.get("oneOf", [schema]):
        assert each["properties"]["schema_version"]["const"] == 1
        assert "schema_version" in each["required"]


def test_every_json_has_a_schema() -> None:
    """The name of a command with --json, with "-" between its words, is that of its schema."""
    named = {"compile-report", "nvdla-export"}  # files of other options
    for command, path in _commands(app, click.Context(app)):
        if any("--json" in parameter.opts for parameter in command.params):
            named.add("-".join(path))
    assert named == {*schemas.names(), "upmem-report"}  # it prints what upmem time does


def _commands(
    group: click.Group, context: click.Context, path: tuple[str, ...] = ()
) -> Iterator[tuple[click.Command, tuple[str, ...]]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands(command, context, (*path, name))
        else:
            yield command, (*path, name)


def test_inspect() -> None:
    valid("inspect", printed("inspect", "--json", str(DIGITS)))


def test_check(tmp_path: Path) -> None:
    valid("nvdla-check", printed("nvdla", "check", "--json", str(DIGITS)))
    wide = tmp_path / "wide.nvdla"
    wide.write_bytes(wide_pooling())
    words = ("nvdla", "check", "--json", "--config", "nv_small", str(wide))
    found = printed(*words, status=1)
    valid("nvdla-check", found)
    assert found["violations"]


def test_time(tmp_path: Path) -> None:
    valid("nvdla-time", printed("nvdla", "time", "--json", str(DIGITS)))


def test_time_of_the_spreadsheet(fixtures: Path) -> None:
    sheets = [f for f in (fixtures / "nvdla" / "timing").glob("*.json") if _is_sheet(f)]
    for file in sheets[:2]:
        valid("nvdla-time", printed("nvdla", "time", "--json", "--layers", str(file)))


def _is_sheet(file: Path) -> bool:
    data = json.loads(file.read_text())
    return isinstance(data, dict) and {"layers", "config"} <= set(data)


def test_replay(fixtures: Path) -> None:
    traces = fixtures / "nvdla" / "traces"
    found = printed("nvdla", "replay", "--json", str(traces))
    valid("nvdla-replay", found)
    assert len(found["traces"]) == 174, "all configurations, without being asked"


def test_compile(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    weights = np.ones((4, 3, 3, 3), np.float32) / 9
    ports = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        for name, shape in (("x", [1, 3, 8, 8]), ("y", [1, 4, 6, 6]))
    ]
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"], name="conv")],
        "one", ports[:1], ports[1:], [onnx.numpy_helper.from_array(weights, "w")],
    )  # fmt: skip
    opset = helper.make_opsetid("", 17)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=8), tmp_path / "m.onnx")
    np.save(tmp_path / "c.npy", np.random.default_rng(0).normal(size=(4, 3, 8, 8)).astype("f4"))
    report = tmp_path / "r.json"
    words = ("compile", str(tmp_path / "m.onnx"), "-o", str(tmp_path / "m.nvdla"))
    words = (*words, "--calib", str(tmp_path / "c.npy"), "--accuracy", "--report", str(report))
    command = [warm.python(), "-m", "cudla_sim", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    valid("compile-report", json.loads(report.read_text()))
    assert "SQNR dB" in done.stdout


def test_run_and_layout() -> None:
    picture = str(sorted((DIGITS.parent / "images").glob("7_*.pgm"))[0])
    found = printed("nvdla", "run", "--json", str(DIGITS), "--input", f"image={picture}")
    valid("nvdla-run", found)
    (scores,) = found["outputs"]
    assert int(np.argmax(scores["values"])) == 7
    assert len(found["layers"]) == 5
    found = printed("nvdla", "layout", "--json", str(DIGITS), "--element", "0,0,0,0")
    valid("nvdla-layout", found)
    assert found["tensors"][0]["shape"] == [1, 1, 8, 8]
    assert found["tensors"][0]["elements"] == [{"element": [0, 0, 0, 0], "offset": 0}]


def test_evaluate(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros((2, 1, 1, 8, 8), np.int8))
    words = ("nvdla", "evaluate", "--json", str(DIGITS), "--samples", str(tmp_path / "x.npy"))
    found = printed(*words)
    valid("nvdla-evaluate", found)
    assert found["samples"] == 2


def test_doctor() -> None:
    found = printed("doctor", "--json")
    valid("doctor", found)
    assert {"Python", "first call"} <= {item["what"] for item in found["checks"]}
    assert found["good"]


def test_the_schemas_are_printed() -> None:
    assert printed("schema", "nvdla-time") == schemas.read("nvdla-time")
