"""The pipeline model against simulations of the public RTL, and against common sense."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.core.config import Config
from cudla_sim.core.errors import ConfigError
from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import Core, Loadable, LoadedNetwork
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.facts.configs import CONFIGS
from cudla_sim.nvdla.replay import read
from cudla_sim.nvdla.timing import runs
from cudla_sim.nvdla.timing.durations import Durations
from cudla_sim.nvdla.timing.parameters import Surroundings
from tests import warm


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
    assert max(errors) < 0.04
    assert statistics.median(errors) < 0.01


def test_loadables_take_as_long_as_in_the_rtl(fixtures: Path) -> None:
    folder = fixtures / "nvdla" / "compiled" / "loadables"
    errors = []
    for case in recorded(fixtures)["loadable"]:
        network = Loadable.parse((folder / f"{case['tag']}.nvdla").read_bytes())
        errors.append(error(runs.loadable(network, "", "nv_small", around(case)), case))
    assert len(errors) >= 27
    assert max(errors) < 0.05
    assert statistics.median(errors) < 0.01


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


LARGE = built("nv_large", 64)


@settings(max_examples=40)
@given(
    st.sampled_from([(IMAGE, "nv_small"), (LARGE, "nv_large")]),
    st.integers(0, 2000),
    st.floats(0.25, 128),
    st.integers(1, 1000),
    st.floats(1, 16),
)
def test_worse_memory_never_saves_time(
    network: tuple[bytes, str], latency: int, rate: float, more: int, slower: float
) -> None:
    def cycles(latency: int, rate: float) -> int:
        return timed(*network, latency=latency, bytes_per_cycle=rate).cycles

    here = cycles(latency, rate)
    assert cycles(latency + more, rate) >= here
    assert cycles(latency, rate / slower) >= here
    assert cycles(latency, 0) <= here
    assert (
        timed(*network, latency=latency, bytes_per_cycle=rate, interrupt_cycles=99).cycles >= here
    )


def test_a_memory_of_little_bandwidth_bounds_by_it() -> None:
    run = timed(bytes_per_cycle=0.01)
    moved = run.bytes_read + run.bytes_written
    assert moved * 100 <= run.cycles < 1.1 * moved * 100
    assert {o.bound for o in run.operations} <= {"memory", "input", "weights"}


def test_the_second_memory_has_its_own_figures() -> None:
    """Bytes that lie there take its bandwidth and latency, and both memories work at once."""
    first, second = 1, 0
    hardware = CONFIGS["nv_full"]
    cube = (32, 64, 64)  # 131072 bytes of int8
    slow = Surroundings(latency=100, bytes_per_cycle=1, sram_latency=7, sram_bytes_per_cycle=32)
    found = {
        memories: Durations(hardware, slow).sdp(cube, (0, 0), memories, [], (True, False))
        for memories in ((first, first), (first, second), (second, second))
    }
    assert [c.compute for c in found.values()] == [262144, 131072, 8192]
    assert found[first, second].cycles - 131072 == found[first, first].cycles - 262144 - 93
    alone = replace(slow, sram_latency=-1, sram_bytes_per_cycle=0)
    assert Durations(hardware, alone).ports[second].latency == 100
    small = Durations(CONFIGS["nv_small"], slow)
    assert small.ports[second] is small.ports[first], "nv_small has one port"


def test_software_operations_take_what_is_said() -> None:
    random = np.random.default_rng(1)
    net = Network(("data", (1, 8, 4, 4)), "int8", "nv_small")
    net.conv2d(random.normal(size=(8, 8, 4, 4)))
    net.softmax()
    image = net.build(calibration=random.normal(size=(1, 8, 4, 4)))
    free, paid = timed(image), timed(image, software_us=20, clock_mhz=100)
    assert [o.unit for o in free.operations] == ["CONV+SDP", "EMU softmax"]
    assert paid.cycles - free.cycles == 2000
    assert (paid.operations[1].bound, paid.bounds["software"]) == ("software", 2000)


def test_a_large_core_is_faster() -> None:
    assert timed(built("nv_large"), "nv_large").cycles < timed().cycles


@pytest.mark.parametrize("kernels", [8, 64])
def test_a_convolution_is_bound_by_its_multipliers_or_its_output(kernels: int) -> None:
    first = timed(built(kernels=kernels)).operations[0]
    atoms = 12 * 12 * 9 * 2 * -(-kernels // 8)  # positions, taps, channel blocks, kernel groups
    assert first.bound == "mac"
    assert atoms < first.end - first.start < 1.4 * atoms


def command(*words: str, what: str = "time", **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [warm.python(), "-m", "cudla_sim", "nvdla", what, *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **{f"CUDLA_SIM_{name}": value for name, value in settings.items()}},
    )


def test_settings_and_flags_say_the_same_everywhere(tmp_path: Path) -> None:
    file = tmp_path / "net.nvdla"
    file.write_bytes(IMAGE)
    expected = timed(latency=150, bytes_per_cycle=4, interrupt_cycles=500, clock_mhz=100)
    flags = ("--clock=100", "--latency=150", "--dram-gbps=0.4", "--interrupt-cycles=500")
    variables = {"CLOCK": "100", "LATENCY": "150", "DRAM_GBPS": "0.4", "INTERRUPT_CYCLES": "500"}
    text = f"{expected.cycles} cycles"
    assert text in command(str(file), *flags, what="run").stdout
    assert text in command(str(file), what="run", **variables).stdout
    other = command(str(file), "--bytes-per-cycle=4", **{**variables, "DRAM_GBPS": "7"})
    assert text in other.stdout, "a flag goes before the setting of the same thing"


@pytest.mark.parametrize(
    "figures",
    [
        {"latency": -1},
        {"clock": 0},
        {"dram_gbps": 1, "bytes_per_cycle": 1},
        {"bytes_per_cycle": float("nan")},
        {"sram_latency": -2},
        {"software_us": -1},
        {"interrupt_cycles": -1},
    ],
)
def test_senseless_figures_are_refused(figures: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(figures)).split("_")[-1]):
        Surroundings.of(Config(), **figures)


def test_senseless_flags_are_one_line() -> None:
    done = command("net.nvdla", "--dram-gbps=1", "--bytes-per-cycle=1")
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("what", ["empty", "missing.nvdla", "broken.nvdla", "trace.cfg"])
def test_ragged_input_is_one_line(tmp_path: Path, what: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.nvdla").write_bytes(IMAGE[: len(IMAGE) // 2])
    (tmp_path / "trace.cfg").write_text("senseless")
    done = command(str(tmp_path / what))
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1, done.stderr


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
