"""Whole programs: host, kernel, dataflows, checked by themselves."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from cudla_sim.testing import Compiler
from tests import warm

PROGRAMS = Path(__file__).parent / "programs"


def kernel(name: str, folder: Path) -> str:
    """The object of a VPU kernel."""
    target = folder / f"{name}.o"
    command = [
        warm.python(),
        "-m",
        "cudla_sim.cupva.toolchain",
        "-O2",
        str(PROGRAMS / f"{name}.c"),
    ]
    subprocess.run([*command, "-o", str(target)], check=True)
    return str(target)


@pytest.mark.slow
def test_gather_and_sequence(sim_cc: Compiler, tmp_path: Path) -> None:
    objects = [kernel("gather_dev", tmp_path)]
    program = sim_cc.build(PROGRAMS / "gather_host.cpp", options=objects)
    result = sim_cc.run(program)
    assert (result.status, result.out) == (0, "0 wrong\n"), result.err


@pytest.mark.slow
def test_regions_of_memory_that_the_kernel_chooses(sim_cc: Compiler, tmp_path: Path) -> None:
    """From DRAM and L2SRAM, with both configurations, whenever data moves."""
    program = sim_cc.build(PROGRAMS / "regions_host.cpp", options=[kernel("regions_dev", tmp_path)])
    for way in ("dram", "l2"):
        for delivery in ("trigger", "sync", "random"):
            result = sim_cc.run(program, way, settings={"CUDLA_SIM_PVA_DMA": delivery})
            assert (result.status, result.out) == (0, "status 0, 0 wrong\n"), (way, result.err)
    result = sim_cc.run(program, "invalid", settings={"CUDLA_SIM_EXPLAIN": "1"})
    assert (result.status, result.out) == (0, "status 11\n")
    assert "update with no memory type" in result.err


def test_memory_of_the_host(sim_cc: Compiler) -> None:
    result = sim_cc.run(sim_cc.build(PROGRAMS / "borrowed_host.c"))
    assert (result.status, result.out) == (0, "status 0, equal\n"), result.err


def test_dataflows_of_a_program_that_knows_nothing(sim_cc: Compiler, tmp_path: Path) -> None:
    program = sim_cc.build(PROGRAMS / "borrowed_host.c")
    environment = {**os.environ, "CUDLA_SIM_DATAFLOWS": str(tmp_path / "flows")}
    subprocess.run([str(program)], env=environment, check=True, capture_output=True)
    table = (tmp_path / "flows" / "program1_StaticDataFlow0.txt").read_text()
    assert table.splitlines()[0] == "StaticDataFlow 0 (no handler): 1 tiles"
    assert table.splitlines()[3].split()[:6] == ["0", "0", "0", "0", "64", "64"]


@pytest.mark.slow
def test_tiles_at_places_of_the_kernels_choice(sim_cc: Compiler, tmp_path: Path) -> None:
    """DynamicDataFlows of all pixel sizes, nodes, lanes and paddings, whenever data moves."""
    objects = [kernel("dynamic_dev", tmp_path)]
    program = sim_cc.build(PROGRAMS / "dynamic_host.cpp", options=objects)
    for seed, delivery in enumerate(("trigger", "sync", "random")):
        result = sim_cc.run(program, str(seed), settings={"CUDLA_SIM_PVA_DMA": delivery})
        assert (result.status, result.out) == (0, "0 wrong\n"), result.err


_EVENT = r"word of a descriptor whose bits are not documented"
_WRONG_TABLES = {
    1: "second word of the table is not 0xDEADC0DE",
    2: "different numbers of tiles on its sides",
    3: _EVENT,
    4: "no StaticDataFlow's descriptor",
    5: "more entries than its variable has room for",
    6: "in the middle of its tiles",
}


@pytest.mark.slow
def test_descriptors_that_the_kernel_writes(sim_cc: Compiler, tmp_path: Path) -> None:
    """A ConfigDataFlow; what is wrong with a table is said; a DynamicDataFlow of one node."""
    objects = [kernel("config_dev", tmp_path)]
    program = sim_cc.build(PROGRAMS / "config_host.c", options=objects)
    for seed in range(1, 6):
        result = sim_cc.run(program, "0", str(seed))
        assert (result.status, result.out) == (0, "status 0, equal\n"), result.err
    for mode, text in _WRONG_TABLES.items():
        result = sim_cc.run(program, str(mode), settings={"CUDLA_SIM_EXPLAIN": "1"})
        assert (result.status, result.out) == (0, "status 11\n"), (mode, result.err)
        assert text in result.err
    assert sim_cc.run(program, "9").out == "status 0\n"
