"""Compiles C and C++ text against the public headers without producing anything."""

from __future__ import annotations

import subprocess
from pathlib import Path

from cudla_sim.families import INCLUDE_FOLDERS

INCLUDE = Path(__file__).resolve().parents[2] / "include"

C_STANDARDS = ("c99", "c11")
CPP_STANDARDS = ("c++11", "c++14", "c++17", "c++20")
STANDARDS = (*C_STANDARDS, *CPP_STANDARDS)
CLEAN = ("-Wall", "-Wextra", "-pedantic", "-Werror")


def is_cpp(standard: str) -> bool:
    return standard.startswith("c++")


def rejected(source: Path, standard: str, *options: str) -> str:
    """What the compiler has against ``source``; "" when it accepts it."""
    compiler = ["g++", "-x", "c++"] if is_cpp(standard) else ["gcc", "-x", "c"]
    command = [
        *compiler,
        f"-std={standard}",
        *(f"-I{INCLUDE / folder}" for folder in INCLUDE_FOLDERS),
        "-fsyntax-only",
        *options,
        str(source),
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr
