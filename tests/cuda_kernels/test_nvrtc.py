"""CUDA C++ compiled by the program that launches it, from C."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np

from cudla_sim import flags
from cudla_sim.cudart import module_text
from cudla_sim.cudart.compiled import Program

from .conftest import PROGRAMS


def _run(name: str, folder: Path) -> str:
    """What a C program of ``programs/`` prints."""
    command = ["gcc", "-Wall", "-Werror", PROGRAMS / f"{name}.c", "-o", folder / name]
    command += [f"-I{d}" for d in flags.include_dirs(cuda=True)]
    for library in flags.library_dirs(cuda=True):
        command += [f"-L{library}", f"-Wl,-rpath,{library}"]
    subprocess.run([*command, "-lnvrtc", "-lcuda"], check=True)
    done = subprocess.run([folder / name], capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_program_compiles_its_kernels(tmp_path: Path) -> None:
    lines = _run("compiled", tmp_path).splitlines()
    values = np.float32(lines.pop(13).split())
    np.testing.assert_array_equal(values, -(np.arange(50) * 6 + 1))
    assert lines == [
        "create: NVRTC_SUCCESS",
        "name: NVRTC_SUCCESS",
        "name: NVRTC_SUCCESS",
        "early: NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
        "early: NVRTC_ERROR_INVALID_PROGRAM",
        "compile: NVRTC_SUCCESS",
        "late: NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
        "lowered: NVRTC_SUCCESS",
        "lowered: NVRTC_SUCCESS",
        "unknown: NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
        "for a linker 0",
        "destroy: NVRTC_SUCCESS",
        "program 1, names 1",
        "broken: NVRTC_ERROR_COMPILATION",
        "log 1 1",
        "code: NVRTC_ERROR_INVALID_PROGRAM",
        "option: NVRTC_ERROR_INVALID_OPTION",
        "destroy: NVRTC_SUCCESS",
        "gone: NVRTC_ERROR_INVALID_PROGRAM",
        "no source: NVRTC_ERROR_INVALID_INPUT",
        "other: NVRTC_ERROR unknown",
    ]


def test_ptx_is_a_text_that_names_the_kernels() -> None:
    """NVRTC, "nvrtcGetPTX"; programs of before name expressions look for ``.entry``."""
    program = Program(
        "template <class T> __global__ void set(T *x) { *x = 1; }\n"
        'extern "C" __global__ void plain(int *a) { set<int><<<1, 1>>>(a); }\n'
        "__device__ int helper(int a) { return a; }\n",
        "named",
        {},
    )
    program.compile([])
    text = module_text.written(program.module)
    assert text.endswith(b"\0")
    assert b"\0" not in text[:-1]
    names = [line.split()[2] for line in text.decode().splitlines() if ".entry" in line]
    assert names == ["_Z3setIiEvPT_()", "plain()"]
    assert module_text.contained(text[:-1]) == program.module
    assert module_text.contained(text.replace(b"//:", b"//:*", 1)) is None
    assert module_text.contained(b"// NVRTC\n.version 8.0\n") is None


def test_names_mean_what_the_text_says(tmp_path: Path) -> None:
    """A kernel is the module's, whatever libc calls so; a variable is there although nothing reads
    it; a graph's executable takes another graph's condition."""
    assert _run("compiled_names", tmp_path).splitlines() == ["6 1 4 6", "6", "7"]
