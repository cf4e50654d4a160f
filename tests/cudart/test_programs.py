"""Compiled C and C++ programs that use the CUDA runtime subset."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudla_sim.testing import Compiler

PROGRAMS = Path(__file__).parent / "programs"


@pytest.mark.parametrize("standard", ["c++11", "c++20"])
def test_half_precision_rounds_exactly(sim_cc: Compiler, standard: str) -> None:
    program = sim_cc.build(
        PROGRAMS / "halves.cpp", options=(f"-std={standard}", "-O2"), libraries=()
    )
    for seed in ("1", "2"):
        done = sim_cc.run(program, seed)
        expected = "value 0 round trip 0 float 0 double 0 arithmetic 0 compare 0\n"
        assert (done.status, done.out) == (0, expected)


def test_half_precision_from_c(sim_cc: Compiler) -> None:
    program = sim_cc.build(PROGRAMS / "halves.c", options=("-std=c99",), libraries=())
    assert sim_cc.run(program).out == "0 2 0.0999756\n"


def test_host_functions_run_in_order_on_other_threads(sim_cc: Compiler) -> None:
    done = sim_cc.run(sim_cc.build(PROGRAMS / "callbacks.cpp", options=("-std=c++11",)))
    lines = done.out.splitlines()
    assert lines[0] == "a b c inside other thread success 1", done.err
    assert lines[1] in ("nested 800", "nested 0")
    assert lines[2:] == ["null 1 flags 1", "done"]
    assert done.status == 0


def test_ordinary_host_code(sim_cc: Compiler) -> None:
    done = sim_cc.run(sim_cc.build(PROGRAMS / "hostcode.cpp", options=("-std=c++14",)))
    assert done.out.splitlines() == [
        "cudla-sim integrated GPU 8.7 integrated 1",
        "equal 1 time 1",
        "cudaErrorInvalidValue cudaErrorInvalidValue 1",
        "done",
    ], done.err
    assert done.status == 0


def test_a_program_on_a_machine_without_gpu_gets_the_error(sim_cc: Compiler) -> None:
    program = sim_cc.build(PROGRAMS / "hostcode.cpp", options=("-std=c++14",))
    done = sim_cc.run(program, settings={"CUDLA_SIM_GPU": "none", "CUDLA_SIM_EXPLAIN": "1"})
    assert done.out.startswith("cudaFree(0): cudaErrorNoDevice: ")
    assert "setting gpu is none" in done.err


def test_both_generations_of_names_are_exported(sim_cc: Compiler) -> None:
    program = sim_cc.build(PROGRAMS / "symbols.c", libraries=("-ldl",))
    assert sim_cc.run(program).out == "0 1 missing 0\n"


def test_default_streams_of_threads_end_with_them(sim_cc: Compiler) -> None:
    done = sim_cc.run(sim_cc.build(PROGRAMS / "threads.c"))
    assert done.out == "wrong 0, many threads 0\n", done.err
