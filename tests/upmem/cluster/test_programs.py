"""The programs of c_examples/upmem, unmodified, with their ranks on 1, 2 and 3 workers."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests import warm
from tests.conftest import ROOT

from .conftest import Clusters

pytestmark = pytest.mark.slow

EXAMPLES = ROOT / "c_examples" / "upmem"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    sim = f"CUDLA_SIM={warm.python()} -m cudla_sim"
    command = ["make", "-s", "-C", str(EXAMPLES), "all", f"OUT={folder}", sim]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def run(
    folder: Path, host: str, kernel: str, address: str = "", **more: str
) -> subprocess.CompletedProcess[str]:
    command = [str(folder / f"{host}_host"), str(folder / f"{kernel}_dpu")]
    environment = {"PATH": os.environ["PATH"], **more}
    if address:
        environment["CUDLA_SIM_UPMEM_CLUSTER"] = address
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=100, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workers", "host", "kernel", "last"),
    [
        (1, "pivot", "pivot", "partitioned"),
        (2, "pivot", "pivot", "partitioned"),
        (3, "pivot", "pivot", "partitioned"),
        (2, "pivot_cpp", "pivot", "partitioned"),
        (2, "pivot_lambda", "pivot", "partitioned"),
        (2, "block_order", "block_order", "results are equal"),
    ],
)
def test_examples(
    built: Path, clusters: Clusters, workers: int, host: str, kernel: str, last: str
) -> None:
    address = clusters(workers).scheduler_address
    done = run(built, host, kernel, address)
    expected = (0, f"cudla-sim: connecting to {address}\n")
    assert (done.returncode, done.stderr) == expected, done.stdout
    assert done.stdout.strip().endswith(last)


@pytest.mark.slow
def test_logs_are_those_of_one_machine(built: Path, clusters: Clusters) -> None:
    """Under the names that the DPUs have in the program."""
    here = run(built, "checksum", "checksum")
    there = run(built, "checksum", "checksum", clusters(2).scheduler_address)
    assert there.stdout == here.stdout


def test_no_cluster(built: Path) -> None:
    """An allocation error and one line."""
    done = run(built, "checksum", "checksum", "nonsense://somewhere")
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if line.startswith("cudla-sim: ")]
    assert len(lines) == 1
    assert "upmem_cluster: no Dask scheduler answers at 'nonsense://somewhere'" in lines[0]
    assert "dpu allocation error" in done.stderr
