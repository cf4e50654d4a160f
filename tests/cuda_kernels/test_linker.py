"""Programs are linked by gold where it is, and by whatever the user says."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import nvcc

SOURCE = "__global__ void k() {}\nint undefined();\nint main() { k<<<1, 1>>>(); return %s; }\n"
GOLD = "-fuse-ld=gold"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    made = tmp_path / "a.cu"
    made.write_text(SOURCE % "cudaDeviceSynchronize()")
    return made


def links(said: str) -> list[str]:
    """The commands that link a program, of those that -v shows."""
    lines = said.splitlines()
    return [line for line in lines if line.startswith("#$ g++") and "-lcudart" in line]


@pytest.mark.skipif(not shutil.which("ld.gold"), reason="no gold in this binutils")
def test_gold_where_the_user_says_nothing(source: Path) -> None:
    program = source.with_suffix("")
    done = nvcc("-v", source, "-o", program)
    assert [GOLD in line for line in links(done.stderr)][-1:] == [True]
    assert subprocess.run([program], check=False).returncode == 0


@pytest.mark.parametrize("words", [("-Xlinker", "-z,now"), ("-Xcompiler", "-fuse-ld=bfd")])
def test_the_users_words_are_for_the_usual_one(source: Path, words: tuple[str, ...]) -> None:
    program = source.with_suffix("")
    done = nvcc("-v", *words, source, "-o", program)
    assert done.returncode == 0
    assert GOLD not in done.stderr
    assert subprocess.run([program], check=False).returncode == 0


def test_gold_that_cannot_is_not_heard(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    broken = folder / "ld.gold"
    broken.write_text("#!/bin/sh\necho gold: no >&2\nexit 1\n")
    broken.chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    environment["COMPILER_PATH"] = str(folder)  # where g++ looks first
    program = source.with_suffix("")
    done = nvcc(source, "-o", program, environment=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert subprocess.run([program], check=False).returncode == 0


def test_what_is_missing_is_said_once_by_the_usual_one(source: Path) -> None:
    source.write_text(SOURCE % "undefined()")
    done = nvcc(source, "-o", source.with_suffix(""))
    assert done.returncode == 1
    assert done.stderr.count("undefined reference to `undefined()'") == 1
