"""Whole programs: host, kernel, dataflows, checked by themselves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from cudla_sim.testing import Compiler

PROGRAMS = Path(__file__).parent / "programs"


def kernel(name: str, folder: Path) -> str:
    """The object of a VPU kernel."""
    target = folder / f"{name}.o"
    command = [
        sys.executable,
        "-m",
        "cudla_sim.cupva.toolchain",
        "-O2",
        str(PROGRAMS / f"{name}.c"),
    ]
    subprocess.run([*command, "-o", str(target)], check=True)
    return str(target)


def test_gather_and_sequence(sim_cc: Compiler, tmp_path: Path) -> None:
    objects = [kernel("gather_dev", tmp_path)]
    program = sim_cc.build(PROGRAMS / "gather_host.cpp", options=objects)
    result = sim_cc.run(program)
    assert (result.status, result.out) == (0, "0 wrong\n"), result.err


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
