"""What `make` builds again: everything that generated files are made from."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.conftest import ROOT

INPUTS = (
    "build_ffi.py",
    "codegen/emit.py",
    "include/cudla.h",
    "pyimpl/cudla_sim/abi/cudla/tasks.py",
    "pyimpl/cudla_sim/families.py",
    "pyimpl/cudla_sim/tools/nvdla/run.py",
    "pyimpl/cudla_sim/upmem/isa/table.py",
    "pyimpl/cudla_sim/version.py",
    "shim/internal.h",
    "shim/library/boot/boot.c",
)


def make(*words: str) -> str:
    """What make would do."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    command = ["make", "-n", *words]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.parametrize("path", INPUTS)
def test_input_of_a_build_changes_make_builds_again(path: str) -> None:
    text = make("-W", path, ".venv/installed")
    assert "build_ffi.py\n" in text or "pip install" in text


def test_generated_files_are_not_sources() -> None:
    text = make("-p", "--no-builtin-rules", ".venv/installed")
    (line,) = (line for line in text.splitlines() if line.startswith("SOURCES := "))
    sources = line.split()
    assert "pyimpl/cudla_sim/families.py" in sources
    assert not any("generated" in name or "/constants/" in name for name in sources)
