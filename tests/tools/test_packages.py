"""A network in parts is a loadable to the commands that read one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

import cudla_sim
from cudla_sim.compiler.options import Options
from cudla_sim.compiler.partition import Package, compile_partitions
from cudla_sim.compiler.runtime import session
from cudla_sim.nvdla.annotation import BLOB
from cudla_sim.nvdla.check import check
from cudla_sim.nvdla.errors import NvdlaError
from cudla_sim.nvdla.loadable import Loadable
from cudla_sim.nvdla.timing import runs
from cudla_sim.nvdla.timing.parameters import Surroundings
from cudla_sim.tools import schemas
from cudla_sim.tools.root import app
from tests.conftest import ROOT

rng = np.random.default_rng(4)
DIGITS = ROOT / "c_examples" / "cudla" / "data" / "digits_int8.nvdla"
FIRST, SECOND = 6 * 6 * 8 * 3 * 9, 6 * 6 * 4 * 8
"""MACs of the two convolutions."""


class Network:
    """Convolution, a norm that no configuration has, convolution; as ONNX and in parts."""

    def __init__(self, folder: Path) -> None:
        constants = {
            "w": (rng.normal(size=(8, 3, 3, 3)) / 5).astype(np.float32),
            "v": (rng.normal(size=(4, 8, 1, 1)) / 3).astype(np.float32),
        }
        nodes = [
            helper.make_node("Conv", ["x", "w"], ["a"], name="first"),
            helper.make_node("LpNormalization", ["a"], ["n"], axis=1, name="norm"),
            helper.make_node("Conv", ["n", "v"], ["y"], name="second"),
        ]
        ports = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in (("x", [1, 3, 8, 8]), ("y", [1, 4, 6, 6]))
        ]
        stored = [numpy_helper.from_array(array, name) for name, array in constants.items()]
        graph = helper.make_graph(nodes, "mixed", ports[:1], ports[1:], stored)
        opset = helper.make_opsetid("", 17)
        self.model = helper.make_model(graph, opset_imports=[opset], ir_version=8)
        self.samples = rng.normal(size=(6, 3, 8, 8)).astype(np.float32)
        samples = [{"x": sample[None]} for sample in self.samples]
        self.package = compile_partitions(self.model, Options(config="nv_small"), samples)
        self.file = folder / "m.nvdla"
        self.file.write_bytes(self.package.encode())

    @property
    def loadables(self) -> dict[int, Loadable]:
        parts = enumerate(self.package.parts)
        return {number: Loadable.parse(part.data) for number, part in parts if not part.host}


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Network:
    return Network(tmp_path_factory.mktemp("package"))


def call(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output


def printed(schema: str, *words: object) -> Any:
    status, text = call(*words)
    assert status == 0, text
    found = json.loads(text)
    jsonschema.Draft202012Validator(schemas.read(schema)).validate(found)
    return found


def moved(network: Network) -> int:
    """Bytes out of the first part's output and into the last part's input."""
    return network.loadables[0].outputs[0].size + network.loadables[2].inputs[0].size


def test_check(network: Network) -> None:
    status, text = call("nvdla", "check", network.file)
    assert status == 0
    assert "nv_small would take it; hardware runs 2 of 3 nodes (66.7%)" in text
    found = printed("nvdla-check", "nvdla", "check", "--json", network.file)
    assert found["violations"] == []
    assert [part["host"] for part in found["parts"]] == [False, True, False]
    assert [part["macs"] for part in found["parts"]] == [FIRST, 0, SECOND]
    share = found["share"]
    assert (share["transfers"], share["transfer_bytes"]) == (2, moved(network))
    status, text = call("nvdla", "check", "--json", "--config", "nv_full", network.file)
    assert status == 1
    named = json.loads(text)["violations"]
    jsonschema.Draft202012Validator(schemas.read("nvdla-check")).validate(json.loads(text))
    for number, loadable in network.loadables.items():
        of_part = [item for item in named if item["part"] == number]
        assert len(of_part) == len(check(loadable, "nv_full")) > 0


def test_time(network: Network) -> None:
    around = Surroundings(latency=50, bytes_per_cycle=4)
    words = ("nvdla", "time", "--latency", 50, "--bytes-per-cycle", 4)
    (found,) = printed("nvdla-time", *words, "--json", network.file)["runs"]
    alone = {n: runs.loadable(x, "", "nv_small", around) for n, x in network.loadables.items()}
    assert found["cycles"] == sum(run.cycles for run in alone.values())
    assert [part["cycles"] for part in found["parts"]] == [alone[0].cycles, None, alone[2].cycles]
    assert found["share"]["transfer_cycles"] == round(2 * 50 + moved(network) / 4)
    later = found["operations"][len(alone[0].operations)]
    assert later["start"] == alone[2].operations[0].start + alone[0].cycles
    status, text = call(*words, network.file)
    assert status == 0
    assert "part 1, host (onnxruntime): 1 nodes (norm), a 1x8x6x6 -> n 1x8x6x6" in text
    assert "host time is not modelled" in text


def test_inspect_and_layout(network: Network, tmp_path: Path) -> None:
    found = printed("inspect", "inspect", "--json", network.file)
    assert found["inputs"] == [
        {"name": "x", "shape": [1, 3, 8, 8], "dtype": "float32", "varies": False}
    ]
    assert ["loadable" in part for part in found["parts"]] == [True, False, True]
    whole = schemas.read("inspect")["oneOf"][0]
    for part in found["parts"][::2]:
        one = {"schema_version": 1, **part["loadable"]}
        jsonschema.Draft202012Validator(whole).validate(one)
    status, text = call("inspect", network.file, "--graph", tmp_path / "g.dot")
    assert status == 0
    assert "a network in 3 parts for nv_small" in text
    assert {file.name for file in tmp_path.iterdir()} == {"g_part0.dot", "g_part2.dot"}
    status, text = call("nvdla", "layout", network.file)
    assert status == 0
    assert len(re.findall(r"^(in|out)put 0 ", text, re.MULTILINE)) == 4


def test_report(network: Network, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    status, text = call("report", network.file, "-o", page)
    assert status == 0, text
    html = page.read_text()
    for name in ("parts", "part0-layers", "part2-memory"):
        assert f'<section id="{name}">' in html
    status, text = call("report", network.file, "-o", page, "--input", "0=x.npy")
    assert status == 1
    assert "a network in parts" in text


@pytest.mark.parametrize("words", [("export", "-o", "bench"), ("run", "--on", "cosim:none.so")])
def test_what_takes_one_loadable_only_says_so(words: tuple[str, ...], network: Network) -> None:
    status, text = call("nvdla", *words, network.file)
    assert status == 1
    assert "a network in parts" in text
    assert len(text.strip().splitlines()) == 1


def test_batches(network: Network) -> None:
    expected = [session(network.model).run(None, {"x": x[None]})[0] for x in network.samples]
    with network.package.load() as loaded:
        found = loaded.run({"x": network.samples})["y"]
        one = loaded.run({"x": network.samples[2:3]})["y"]
    assert found.shape == (6, 4, 6, 6)
    assert np.array_equal(found[2:3], one)
    noise = np.square(found - np.concatenate(expected)).sum() / np.square(expected).sum()
    assert 10 * np.log10(1 / noise) > 30


def test_loadables_are_packages_of_one_part(network: Network) -> None:
    part = network.package.parts[0]
    alone = Package.decode(part.data)
    assert alone.whole
    assert alone.config == "nv_small"
    assert alone.inputs == {"x": (1, 3, 8, 8)}
    assert alone.parts[0].nodes == ("first",)
    assert alone.run({"x": network.samples[:1]})["a"].shape == (1, 8, 6, 6)
    other = Package.decode(DIGITS.read_bytes())
    assert list(other.inputs.values()) == [(1, 1, 8, 8)]


def test_from_python(network: Network, tmp_path: Path) -> None:
    x = {"x": network.samples[:1]}
    assert np.array_equal(cudla_sim.network(network.file).run(x)["y"], network.package.run(x)["y"])
    alone = cudla_sim.network(network.package.parts[0].data).run(x)
    assert list(alone) == ["a"]
    for source, why in (
        (tmp_path / "none.nvdla", "none.nvdla: No such file"),
        (tmp_path, "is a folder"),
        (b"", "too short"),
    ):
        with pytest.raises(NvdlaError, match=why):
            cudla_sim.network(source)
    other = network.package.parts[0].data.replace(BLOB.encode(), b"x" * len(BLOB))
    plain = cudla_sim.network(other)
    assert list(plain.inputs.values()) == [(1, 3, 8, 8)]
    with pytest.raises(NvdlaError, match="does not say how its tensors hold real numbers"):
        plain.run(plain.zeros())


COMMANDS: list[Callable[[Path], tuple[object, ...]]] = [
    lambda file: ("nvdla", "check", file),
    lambda file: ("nvdla", "time", file),
    lambda file: ("nvdla", "layout", file),
    lambda file: ("inspect", file),
    lambda file: ("report", file, "-o", file.with_suffix(".html")),
    lambda file: ("nvdla", "run", file),
    lambda file: ("nvdla", "evaluate", file, "--samples", file.with_name("x.npy")),
]


@pytest.mark.parametrize("words", COMMANDS)
@pytest.mark.parametrize("damage", ["cut", "head", "other"])
def test_damaged_ones_are_explained(
    words: Callable[[Path], tuple[object, ...]], damage: str, network: Network, tmp_path: Path
) -> None:
    file = tmp_path / "m.nvdla"
    data = network.file.read_bytes()
    np.save(tmp_path / "x.npy", network.samples)
    if damage == "other":  # a part that has none of the tensors that it should have
        parts = (*network.package.parts[:2], network.package.parts[0])
        data = Package("nv_small", network.package.inputs, ("n",), parts).encode()
    file.write_bytes({"cut": data[:-40], "head": data[:4], "other": data}[damage])
    status, text = call(*words(file))
    if damage != "other":
        assert status in (1, 2)
        assert "not a network in parts" in text
        assert len(text.strip().splitlines()) == 1
    assert "Traceback" not in text
