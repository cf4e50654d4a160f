"""Daemons close their standard descriptors: workers start all the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cudla_sim.cupva.toolchain.build import compile_image
from tests.conftest import ROOT

KERNEL = """
#include <cupva_device.h>
CUPVA_VPU_MAIN() { return 7; }
"""
HOST = """
import os, sys
for number in map(int, sys.argv[3].split(",")):
    os.close(number)
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from cudla_sim.workers import files
from tests.cupva.device_side.bench import Bench
bench = Bench(Path(sys.argv[1]).read_bytes())
answer = bench.launch().value
low = [fd for fd in (bench.worker._vmem, bench.worker._control) if fd < 3]
bench.close()
os._exit(answer if not low else 1)
"""


@pytest.fixture(scope="module")
def seven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("seven")
    (folder / "kernel.c").write_text(KERNEL)
    (folder / "image").write_bytes(compile_image([folder / "kernel.c"]))
    return folder / "image"


@pytest.mark.parametrize("closed", ["0", "1", "2", "0,1", "0,1,2"])
def test_a_kernel_runs(seven: Path, closed: str) -> None:
    command = [sys.executable, "-c", HOST, str(seven), str(ROOT), closed]
    assert subprocess.run(command, cwd=ROOT, timeout=60, check=False).returncode == 7
