"""Environments of the host that are none of the library's business."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cudla_sim import paths
from cudla_sim.testing import Compiler

from . import programs


def test_pythonhome_of_the_host_does_not_matter(sim_cc: Compiler) -> None:
    program = sim_cc.build(programs.VERSION)
    result = sim_cc.run(program, settings={"PYTHONHOME": "/nonexistent"})
    assert (result.status, result.out) == (0, "0 1005000 \n"), result.err


def test_pythonpath_of_the_host_does_not_matter(sim_cc: Compiler, tmp_path: Path) -> None:
    """ROS sets one; modules there may have any name and be for any Python."""
    for name in ("numpy", "cffi", "_cffi_backend", "cudla_sim", "json", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('of another Python')\n")
    program = sim_cc.build(programs.VERSION)
    result = sim_cc.run(program, settings={"PYTHONPATH": str(tmp_path), "PYTHONSAFEPATH": ""})
    assert (result.status, result.out, result.err) == (0, "0 1005000 \n", "")


def test_python_in_another_environment_finds_the_package(tmp_path: Path) -> None:
    """The host is a Python of the same version that has neither cudla_sim nor numpy."""
    make = [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "other")]
    subprocess.run(make, check=True)
    text = (
        "import ctypes, sys\n"
        "library = ctypes.CDLL(sys.argv[1])\n"
        "version = ctypes.c_uint64()\n"
        "print(library.cudlaGetVersion(ctypes.byref(version)), version.value)\n"
        "import cudla_sim; print(cudla_sim.dla.devices)\n"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    run = subprocess.run(
        [str(tmp_path / "other" / "bin" / "python"), "-c", text, str(paths.library())],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert run.stdout.splitlines() == ["0 1005000", "[]"], run.stderr


def test_packages_of_the_host_come_first(tmp_path: Path) -> None:
    """What the host imports stays its own; our folders are only added behind."""
    text = (
        "import ctypes, sys\n"
        "before = list(sys.path)\n"
        "library = ctypes.CDLL(sys.argv[1])\n"
        "library.simWarmup()\n"
        "print(sys.path[:len(before)] == before)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", text, str(paths.library())],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout == "True\n", run.stderr


def test_an_interpreter_with_python_inside_gets_no_second_one() -> None:
    """Debian's python3 is such a one; its libpython, which C hosts need, stays out."""
    text = (
        "import ctypes, sys\n"
        "sys.path += sys.argv[2:]\n"
        "print(ctypes.CDLL(sys.argv[1]).simWarmup())\n"
        "maps = {line.split()[-1] for line in open('/proc/self/maps') if '/' in line}\n"
        "print(sum('libpython3' in name for name in maps))\n"
    )
    candidates = {Path(sys.executable), Path(f"/usr/bin/python3.{sys.version_info.minor}")}
    for interpreter in candidates:
        if not interpreter.exists():
            continue
        run = subprocess.run(
            [str(interpreter), "-c", text, str(paths.library()), *sys.path[1:]],
            capture_output=True,
            text=True,
            check=False,
        )
        linked = subprocess.run(
            ["ldd", str(interpreter)], capture_output=True, text=True, check=True
        ).stdout
        expected = int("libpython3" in linked)
        assert run.stdout.split() == ["0", str(expected)], (interpreter, run.stderr)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("python3.99", "has no shared library libpython3.99.so.1.0"),
        ("python3.13t", "is a free-threaded Python"),
    ],
)
def test_python_without_a_library_is_explained(
    sim_cc: Compiler, tmp_path: Path, name: str, told: str
) -> None:
    interpreter = tmp_path / "bin" / name
    interpreter.parent.mkdir()
    interpreter.write_text("#!/bin/sh\nexit 1\n")
    interpreter.chmod(0o755)
    program = sim_cc.build(programs.VERSION)
    result = sim_cc.run(program, settings={"CUDLA_SIM_PYTHON": str(interpreter)})
    assert result.out.startswith(f"{0x7FFFFFFF} 0 ")
    assert told in result.out


def test_a_copied_interpreter_is_asked_for_its_library(sim_cc: Compiler, tmp_path: Path) -> None:
    """``venv --copies`` leaves no version in the interpreter's name, and no library beside it."""
    made = tmp_path / "other"
    make = [sys.executable, "-m", "venv", "--copies", "--without-pip", str(made)]
    subprocess.run(make, check=True)
    (packages,) = made.glob("lib/python3.*/site-packages")
    ours = [folder for folder in sys.path if folder.endswith("site-packages")]
    lines = [f"import site; site.addsitedir({folder!r})\n" for folder in ours]
    (packages / "ours.pth").write_text("".join(lines))
    interpreter = made / "bin" / "python3"
    assert not interpreter.resolve().name.startswith("python3.")
    program = sim_cc.build(programs.VERSION)
    result = sim_cc.run(program, settings={"CUDLA_SIM_PYTHON": str(interpreter)})
    assert (result.status, result.out) == (0, "0 1005000 \n"), result.err
