"""What editors and type checkers see of the package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import cudla_sim
from cudla_sim import cupva, upmem
from cudla_sim.testing import load, prototypes


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


def test_types_are_known_outside(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "mypy", "--no-incremental", "--cache-dir", "/dev/null"]
    source = Path(cudla_sim.__file__).parents[1]
    done = subprocess.run(
        [*command, "--follow-imports", "silent", "user.py"],
        cwd=tmp_path,
        env={"MYPYPATH": str(source), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    revealed = [line.partition('"')[2].rstrip('"') for line in done.stdout.splitlines()]
    assert revealed[:5] == [
        "cudla_sim.cudla.device.Device",
        "cudla_sim.core.memory.AddressSpace",
        "cudla_sim.upmem.machine.DpuSet",
        "float",
        "cudla_sim.cupva.program.Program",
    ], done.stdout + done.stderr
    assert revealed[5].endswith("-> int")
    assert "dpu.driver.DpuSet" in revealed[6]
