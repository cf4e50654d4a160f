"""The programs of c_examples/cupva, built by their own Makefile."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests import warm
from tests.conftest import ROOT

EXAMPLES = ROOT / "c_examples" / "cupva"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, subject: Path) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    sim = f"CUDLA_SIM={warm.python()} -m cudla_sim"
    strict = "-O2 -Wall -Wextra -Wpedantic -Werror"
    options = [f"CFLAGS={strict}", f"CXXFLAGS={strict}"]
    command = ["make", "-s", "-j2", "-C", str(EXAMPLES), "all", f"OUT={folder}", sim, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return folder


def run(folder: Path, sample: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"]}  # the run path finds the library
    command = [str(folder / sample), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.mark.parametrize(
    ("sample", "lines"),
    [
        ("hello", ["Hello from the VPU!", "hello: done"]),
        ("fences", ["fences (C++): the second stream went on after the first one"]),
        ("fences_c", ["fences (C): the second stream went on after the first one"]),
        ("scalars", ["scalars: the second program failed as it should, and no other"]),
        ("static_copy", ["static_copy: 96 x 96 pixels, as expected"]),
        ("convolution", ["convolution: 4 x 53 x 75 results, as expected"]),
        ("unsharp", ["unsharp: 301 x 203 pixels, as expected"]),
        ("two_vpus", ["two_vpus: 4096 sums, as expected"]),
    ],
)
def test_sample(built: Path, sample: str, lines: list[str]) -> None:
    done = run(built, sample)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-len(lines) :] == lines
    assert done.stderr == ""


def test_unsharp_takes_a_picture(built: Path, tmp_path: Path) -> None:
    width, height = 130, 70
    grey = bytes((x * y) % 251 for y in range(height) for x in range(width))
    (tmp_path / "in.pgm").write_bytes(b"P5\n%d %d\n255\n" % (width, height) + grey)
    done = run(built, "unsharp", str(tmp_path / "in.pgm"), str(tmp_path / "out.pgm"))
    assert done.returncode == 0, done.stderr
    found = (tmp_path / "out.pgm").read_bytes()
    assert found.startswith(b"P5\n130 70\n255\n")
    assert len(found) == len(b"P5\n130 70\n255\n") + width * height
    assert run(built, "unsharp", str(tmp_path / "none.pgm")).returncode == 1
