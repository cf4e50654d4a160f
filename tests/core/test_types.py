"""What editors and type checkers see of the package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import cudla_sim
from cudla_sim import cupva, upmem
from cudla_sim.testing import load, prototypes

pytestmark = pytest.mark.slow


def test_dir_names_what_is_there() -> None:
    assert set(cudla_sim.__all__) <= set(dir(cudla_sim))
    assert set(upmem.__all__) <= set(dir(upmem))
    assert set(cupva.__all__) <= set(dir(cupva))
    assert set(prototypes.PROTOTYPES) <= set(dir(load()))


PROGRAM = """
import cudla_sim
from cudla_sim.testing import load
from dpu import DpuSet

reveal_type(cudla_sim.dla.devices[0])
reveal_type(cudla_sim.memory)
reveal_type(cudla_sim.upmem.sets[0])
reveal_type(cudla_sim.upmem.launches[-1].seconds)
reveal_type(cudla_sim.cupva.programs[0])
reveal_type(load().cudlaGetVersion)
reveal_type(DpuSet)
"""


WRONG = """
import cudla_sim
cudla_sim.configure(config='nv_small', dla_count=1)
cudla_sim.configure(confg='nv_small')
cudla_sim.configure(dla_count='one')
cudla_sim.evaluate('a', 'b', keep_output=True)
cudla_sim.report('a', 'b', hardwar='nv_small')
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """What mypy says of both programs: most of its time it reads the package."""
    pytest.importorskip("mypy", reason="mypy comes with the extra lint, not with test")
    folder = tmp_path_factory.mktemp("types")
    (folder / "user.py").write_text(PROGRAM)
    (folder / "wrong.py").write_text(WRONG)
    command = [sys.executable, "-m", "mypy", "--no-incremental", "--cache-dir", "/dev/null"]
    source = Path(cudla_sim.__file__).parents[1]
    return subprocess.run(
        [*command, "--strict", "--follow-imports", "silent", "user.py", "wrong.py"],
        cwd=folder,
        env={"MYPYPATH": str(source), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_mypy_knows_types_outside(told: subprocess.CompletedProcess[str]) -> None:
    revealed = [
        line.partition('"')[2].rstrip('"')
        for line in told.stdout.splitlines()
        if line.startswith("user.py:")
    ]
    assert revealed[:5] == [
        "cudla_sim.cudla.device.Device",
        "cudla_sim.core.memory.AddressSpace",
        "cudla_sim.upmem.machine.DpuSet",
        "float",
        "cudla_sim.cupva.program.Program",
    ], told.stdout + told.stderr
    assert revealed[5].endswith("-> int")
    assert "dpu.driver.DpuSet" in revealed[6]


def test_mypy_finds_typing_errors(told: subprocess.CompletedProcess[str]) -> None:
    lines = [
        line.split(":")[1]
        for line in told.stdout.splitlines()
        if line.startswith("wrong.py:") and ": error:" in line
    ]
    assert lines == ["4", "5", "6", "7"], told.stdout
