"""A bench with DPUs, and a compiler of DPU programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cudla_sim.upmem.toolchain.cli import choose_route
from cudla_sim.upmem.toolchain.options import UsageError
from tests.compiled import dpu_program

from .bench import STRICT, Bench, Program, dpu_cc

Build = Callable[..., Program]


@pytest.fixture(scope="session")
def route() -> str:
    try:
        return choose_route()[0].name
    except UsageError as error:
        pytest.skip(f"no compiler for DPU programs: {error}")


@pytest.fixture(scope="session")
def build(route: str) -> Build:
    """build(source, tasklets=1, *flags) -> Program"""

    def compile_(source: str, tasklets: int = 1, *flags: str) -> Program:
        words = (*STRICT, f"-DNR_TASKLETS={tasklets}", *flags)

        def compile_file(file: Path, program: Path) -> None:
            done = dpu_cc(*words, "-o", program, file)
            assert done.returncode == 0, done.stderr
            assert done.stderr == ""

        return Program(dpu_program(compile_file, source, *words))

    return compile_


@pytest.fixture
def told(build: Build, route: str) -> Build:
    """The same for a program that tells its accesses; with -DCOUNTED also its instructions."""
    if not route.startswith("clang"):
        pytest.skip("accesses are told by clang's programs")

    def compile_(source: str, tasklets: int = 1, *flags: str) -> Program:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CUDLA_SIM_UPMEM_CHECKS", "race=warn")
            patch.setenv("CUDLA_SIM_UPMEM_TIMING", "model" if "-DCOUNTED" in flags else "off")
            return build(source, tasklets, "-DTOLD", *flags)

    return compile_


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.close()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A program that does nothing, to compile in many ways."""
    path = tmp_path / "nothing.c"
    path.write_text("int main(void) { return 0; }\n")
    return path
