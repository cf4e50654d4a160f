"""The pipeline model against simulations of the public RTL, and against common sense."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import Core, Loadable, LoadedNetwork
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.replay import read
from cudla_sim.nvdla.timing import runs
from cudla_sim.nvdla.timing.parameters import Surroundings


def built(config: str = "nv_small", kernels: int = 32) -> bytes:
    random = np.random.default_rng(4)
    net = Network(("data", (1, 16, 12, 12)), "int8", config)
    net.conv2d(random.normal(size=(kernels, 16, 3, 3)), padding=1, relu=True)
    net.max_pool(2)
    net.conv2d(random.normal(size=(8, kernels, 1, 1)))
    return net.build(calibration=random.normal(size=(1, 16, 12, 12)))


IMAGE = built()


def timed(image: bytes = IMAGE, config: str = "nv_small", **around: float) -> runs.TimedRun:
    return runs.loadable(Loadable.parse(image), "net", config, Surroundings(**around))  # type: ignore[arg-type]


def recorded(fixtures: Path) -> dict[str, list[dict[str, object]]]:
    found: dict[str, list[dict[str, object]]] = json.loads(
        (fixtures / "nvdla" / "timing" / "rtl_nv_small.json").read_text()
    )
    return found


def around(case: dict[str, object]) -> Surroundings:
    return Surroundings(latency=case["latency"], bytes_per_cycle=case["bytes_per_cycle"])  # type: ignore[arg-type]


def error(run: runs.TimedRun, case: dict[str, object]) -> float:
    total = int(str(case["total_cycles"]))
    return abs(run.cycles - total) / total


def test_traces_take_as_long_as_in_the_rtl(fixtures: Path) -> None:
    traces = {t.name: t for t in read(fixtures / "nvdla" / "traces") if "nv_small" in t.configs}
    cases = recorded(fixtures)["trace"]
    errors = [error(runs.trace(traces[str(c["name"])], "nv_small", around(c)), c) for c in cases]
    assert len(errors) >= 79
    assert max(errors) < 0.10
    assert statistics.median(errors) < 0.03


def test_loadables_take_as_long_as_in_the_rtl(fixtures: Path) -> None:
    folder = fixtures / "nvdla" / "compiled" / "loadables"
    errors = []
    for case in recorded(fixtures)["loadable"]:
        network = Loadable.parse((folder / f"{case['tag']}.nvdla").read_bytes())
        errors.append(error(runs.loadable(network, "", "nv_small", around(case)), case))
    assert len(errors) >= 27
    assert max(errors) < 0.10
    assert statistics.median(errors) < 0.03


def test_operations_are_those_that_run() -> None:
    """The same units in the same order as on the core that computes, and the same MACs."""
    space = AddressSpace()
    network = LoadedNetwork(Loadable.parse(IMAGE), space, "nv_small")
    source = space.allocate(network.inputs[0].size, name="in")
    result = space.allocate(network.outputs[0].size, name="out")
    report = Core("nv_small").run(network, [source.base], [result.base])
    run = timed()
    assert [o.unit for o in run.operations] == [layer.unit for layer in report.layers]
    assert sum(o.macs for o in run.operations) == report.macs


def test_two_runs_are_equal() -> None:
    assert timed() == timed()


def test_operations_that_wait_for_each_other_do_not_overlap() -> None:
    run = timed()
    for before, after in zip(run.operations, run.operations[1:], strict=False):
        assert before.end <= after.start
    assert run.operations[-1].end <= run.cycles


@settings(max_examples=30)
@given(st.integers(0, 400), st.integers(1, 8), st.integers(1, 100))
def test_worse_memory_never_saves_time(latency: int, rate: int, more: int) -> None:
    here = timed(latency=latency, bytes_per_cycle=rate).cycles
    assert timed(latency=latency + more, bytes_per_cycle=rate).cycles >= here
    assert timed(latency=latency, bytes_per_cycle=rate / 2).cycles >= here


def test_a_large_core_is_faster() -> None:
    assert timed(built("nv_large"), "nv_large").cycles < timed().cycles


@pytest.mark.parametrize("kernels", [8, 64])
def test_a_convolution_is_bound_by_its_multipliers_or_its_output(kernels: int) -> None:
    first = timed(built(kernels=kernels)).operations[0]
    atoms = 12 * 12 * 9 * 2 * -(-kernels // 8)  # positions, taps, channel blocks, kernel groups
    assert first.bound == "mac"
    assert atoms < first.end - first.start < 1.4 * atoms


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cudla_sim", "nvdla", "time", *words],
        capture_output=True,
        text=True,
        check=False,
    )


def test_command_and_python_say_the_same(tmp_path: Path) -> None:
    file = tmp_path / "net.nvdla"
    file.write_bytes(IMAGE)
    done = command(str(tmp_path), "--latency", "100", "--bytes-per-cycle", "4", "--json")
    answer = json.loads(done.stdout)
    run = timed(latency=100, bytes_per_cycle=4)
    assert (answer["version"], answer["errors"]) == (1, [])
    (found,) = answer["runs"]
    assert (found["name"], found["config"], found["cycles"]) == ("net", "nv_small", run.cycles)
    assert [o["end"] for o in found["operations"]] == [o.end for o in run.operations]
    text = command(str(file), "--clock", "100", "--dram-gbps", "0.4").stdout
    assert f"{timed(bytes_per_cycle=4).cycles} cycles = " in text


def test_what_cannot_be_timed_is_explained(tmp_path: Path) -> None:
    (tmp_path / "good.nvdla").write_bytes(IMAGE)
    (tmp_path / "bad.nvdla").write_bytes(b"nothing")
    done = command(str(tmp_path), "--json")
    assert done.returncode == 1
    answer = json.loads(done.stdout)
    assert [r["name"] for r in answer["runs"]] == ["good"]
    assert answer["errors"][0]["name"].endswith("bad.nvdla")
    assert command(str(tmp_path / "good.nvdla"), "--config", "nv_large").returncode == 1
    assert command().returncode == 2
    assert command(str(tmp_path), "--model", "guess").returncode == 2
