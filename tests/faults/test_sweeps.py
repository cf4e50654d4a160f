"""The system fails once, at the n-th call of a kind, for n = 1, 2, 3 ... until nothing fails.

Each program is told with a documented status and an explanation, or does not notice; it never
crashes, hangs or computes something else, and works again afterwards. Failures that Python, numpy
or cffi do not survive themselves are counted apart (``failing.c``).
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cudla_sim import flags
from cudla_sim.testing import Compiler
from tests.compiled import contents, dpu_program, stored, vpu_program
from tests.conftest import ROOT

FOLDER = Path(__file__).parent
LOADABLE = ROOT / "c_examples" / "cudla" / "data" / "digits_int8.nvdla"
PROGRAMS = ("cudart.c", "nvsci.c", "cudla.c", "nvdla.cpp", "upmem.c", "cupva.c")
Sweep = Callable[[str, str, int, int], int]
KINDS = (
    "mmap",
    "fork",
    *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("memfd", "thread", "exec", "write")),
)


def tool(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def failing() -> Path:
    """The library that is loaded before all others."""
    words = ["gcc", "-shared", "-fPIC", "-O2", "-Wall", "-Werror", str(FOLDER / "failing.c")]

    def build(folder: Path) -> None:
        tool(*words, "-o", str(folder / "failing.so"), "-ldl")

    return stored((words, contents("tests/faults")), build) / "failing.so"


@pytest.fixture(scope="session")
def kernels() -> dict[str, Path]:
    """The programs of the devices."""
    vpu = ROOT / "tests" / "cupva" / "host" / "programs" / "subject.c"
    python = [sys.executable, "-m", "cudla_sim"]
    compiler = Path(flags.environment(cuda=True)["PATH"].split(":")[0]) / "dpu-upmem-dpurte-clang"

    def build_vpu(target: Path) -> None:
        tool(*python, "pva-cc", "-O2", str(vpu), "-o", str(target))

    def build_dpu(source: Path, program: Path) -> None:
        tool(str(compiler), "-o", str(program), str(source))

    return {
        "vpu": vpu_program(build_vpu, vpu.parent, "subject"),
        "dpu": dpu_program(build_dpu, (FOLDER / "value_dpu.c").read_text(), "value"),
    }


@pytest.fixture
def sweep(sim_cc: Compiler, failing: Path, kernels: dict[str, Path]) -> Sweep:
    def run(name: str, kind: str, step: int, most: int) -> int:
        """How many runs were refused; fails the test when one ended badly."""
        libraries = [*shlex.split(flags.libs(cuda=True)), "-ldl"]
        if name == "cupva.c":
            libraries.insert(0, str(kernels["vpu"]))
        if name == "nvdla.cpp":
            libraries.append("-lnvdla_runtime")
        program = sim_cc.build(FOLDER / name, options=["-DCUPVA_DEVICE=0"], libraries=libraries)
        settings = {
            "LD_PRELOAD": str(failing),
            "SWEEP_LOADABLE": str(LOADABLE),
            "SWEEP_DPU": str(kernels["dpu"]),
        }
        words = [kind, "1", str(step), str(most)]
        result = sim_cc.run(program, *words, settings=settings, timeout_s=600)
        assert result.status == 0, result.out + result.err
        runs, refused, bad = re.search(
            r"(\d+) runs, (\d+) refused, \d+ foreign, (\d+) bad", result.out
        ).groups()  # type: ignore[union-attr]
        assert int(bad) == 0, result.out
        assert int(runs) < 10_000
        return int(refused)

    return run


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_call_of_a_kind_fails_once(sweep: Sweep, program: str, kind: str) -> None:
    sweep(program, kind, 1, 60)


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_memory_runs_out_here_and_there(sweep: Sweep, program: str) -> None:
    assert sweep(program, "malloc", 7, 25) > 0


@pytest.mark.stress
@pytest.mark.parametrize("program", PROGRAMS)
def test_memory_runs_out_everywhere(sweep: Sweep, program: str) -> None:
    sweep(program, "malloc", 1, 5000)


def test_the_sweep_sees_what_it_is_for(sim_cc: Compiler, failing: Path) -> None:
    """A scenario that does not look at malloc's answer is found."""
    text = """
#include "sweep.h"
static int scenario(void)
{
    volatile char *memory = malloc(100);
    memory[50] = 7;
    free((void *)memory);
    return 0;
}
"""
    options = [f"-I{FOLDER}"]
    libraries = [*shlex.split(flags.libs(cuda=True)), "-ldl"]
    program = sim_cc.build(text, options=options, libraries=libraries)
    words = ["malloc", "1", "1", "5"]
    environment = {**os.environ, **flags.environment(cuda=True), "LD_PRELOAD": str(failing)}
    result = sim_cc.run(program, *words, environment=environment)
    assert "malloc 1: crash in the program, signal 11" in result.out
    assert ", 1 bad," in result.out
