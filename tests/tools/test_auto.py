"""``--config auto`` is what a loadable was compiled for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from cudla_sim.nvdla.build import Network
from tests import warm


@pytest.mark.parametrize("config", ["nv_small", "nv_full"])
def test_run_takes_the_loadables_configuration(tmp_path: Path, config: str) -> None:
    random = np.random.default_rng(2)
    net = Network(("data", (1, 8, 6, 6)), "int8", config)
    net.conv2d(random.normal(size=(24, 8, 3, 3)))
    file = tmp_path / "net.nvdla"
    file.write_bytes(net.build(calibration=random.normal(size=(1, 8, 6, 6))))
    for words in ([], ["--config", "auto"]):
        done = subprocess.run(
            [warm.python(), "-m", "cudla_sim", "nvdla", "run", str(file), *words],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.startswith(config + ":")
