"""Programs with kernels, compiled once."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests import warm

PROGRAMS = Path(__file__).parent / "programs"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def nvcc(
    *words: object, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """With -O1 where *words* say nothing of it: headers are precompiled for each set of options."""
    said = any(str(word).startswith(("-O", "-G")) for word in words)
    return exactly(*([] if said else ["-O1"]), *words, environment=environment)


def exactly(
    *words: object, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """``nvcc`` with these words."""
    command = [warm.python(), "-m", "cudla_sim", "nvcc", *map(str, words)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


OPTIMISED = {"values", "punning", "halves", "meetings"}
"""Programs that are about what an optimiser may do; the others are compiled in half the time."""


def program(name: str, folder: Path) -> Run:
    target = folder / name
    done = nvcc(
        "-O2" if name in OPTIMISED else "-O1", "-arch=sm_87", PROGRAMS / f"{name}.cu", "-o", target
    )
    assert done.returncode == 0, done.stderr

    def run(*words: object, **settings: object) -> subprocess.CompletedProcess[str]:
        command = [str(target), *map(str, words)]
        return subprocess.run(
            command,
            env={**os.environ, **{name: str(value) for name, value in settings.items()}},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    return run


def compiled(name: str) -> Any:
    """A fixture: the program of that name, compiled when a test first wants it."""

    @pytest.fixture(scope="session", name=name)
    def made(tmp_path_factory: pytest.TempPathFactory) -> Run:
        return program(name, tmp_path_factory.mktemp(name))

    return made


values = compiled("values")
meetings = compiled("meetings")
halves = compiled("halves")
order = compiled("order")
faults = compiled("faults")
textures = compiled("textures")
graphs = compiled("graphs")
nodes = compiled("nodes")
punning = compiled("punning")
seams = compiled("seams")
tiles = compiled("tiles")
ptx = compiled("ptx")
rounding = compiled("rounding")
