"""The programs of c_examples/upmem, built by their own Makefile."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from cudla_sim import paths
from tests import warm
from tests.conftest import ROOT

STRICT = ["CFLAGS=-O2 -Wall -Wextra -Werror", "CXXFLAGS=-O2 -Wall -Wextra -Werror"]
EXAMPLES = ROOT / "c_examples" / "upmem"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    sim = f"CUDLA_SIM={warm.python()} -m cudla_sim"
    command = ["make", "-s", "-C", str(EXAMPLES), "all", f"OUT={folder}", sim, *STRICT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return folder


def run(folder: Path, host: str, kernel: str) -> subprocess.CompletedProcess[str]:
    command = [str(folder / f"{host}_host"), str(folder / f"{kernel}_dpu")]
    environment = {"PATH": os.environ["PATH"]}  # the run path finds the library
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.mark.parametrize(
    ("host", "kernel", "last"),
    [
        ("checksum", "checksum", "checksum: all as expected"),
        ("pivot", "pivot", "partitioned"),
        ("pivot_cpp", "pivot", "partitioned"),
        ("pivot_lambda", "pivot", "partitioned"),
        ("block_order", "block_order", "results are equal"),
    ],
)
def test_example(built: Path, host: str, kernel: str, last: str) -> None:
    done = run(built, host, kernel)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip().endswith(last)
    assert done.stderr == ""


def test_checksum_prints_what_the_dpus_printed(built: Path) -> None:
    lines = run(built, "checksum", "checksum").stdout.splitlines()
    assert lines[0] == "=== DPU#0x0 ==="
    assert lines[1].startswith("16 tasklets: checksum 0x")
    assert len(lines) == 4 * 2 + 1


def test_a_wrong_kernel_is_said_to_be_wrong(built: Path) -> None:
    done = run(built, "pivot", "checksum")
    assert done.returncode == 1
    assert "DPU Error" in done.stderr


@pytest.mark.slow
def test_they_build_where_paths_have_spaces(tmp_path: Path) -> None:
    """Of the sources, and of the installation."""
    sdk = tmp_path / "the sdk"
    sdk.symlink_to(paths.sdk_dir())
    copy = tmp_path / "my clone" / "upmem"
    shutil.copytree(EXAMPLES, copy, ignore=shutil.ignore_patterns("build"))
    made = ["build/pivot_host", "build/pivot_cpp_host", "build/pivot_dpu"]
    command = ["make", "-s", "-C", str(copy), *made, f"UPMEM_HOME={sdk}", "CUDLA_SIM=true", *STRICT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    for host in ("pivot", "pivot_cpp"):
        assert run(copy / "build", host, "pivot").returncode == 0
