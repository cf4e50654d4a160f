"""The shipped digits: pictures, classes, and what numpy makes of the network's scores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudla_sim.nvdla import layout, network_run
from cudla_sim.nvdla.loadable import Loadable
from tests.conftest import ROOT

DATA = ROOT / "c_examples" / "cudla" / "data"
LOADABLE = DATA / "digits_int8.nvdla"


class Digits:
    """``elements``: the network's input for each picture [100, 1, 1, 8, 8], as the C samples make
    it; ``scores``: its outputs, run one by one."""

    def __init__(self) -> None:
        self.files = sorted((DATA / "images").glob("*.pgm"))
        self.classes = np.array([int(f.name.split("_")[0]) for f in self.files])
        grey = np.array([np.frombuffer(f.read_bytes()[-64:], np.uint8) for f in self.files])
        self.elements = np.rint(grey / 16 * 127).astype(np.int8).reshape(-1, 1, 1, 8, 8)
        loadable = Loadable.parse(LOADABLE.read_bytes())
        tensor = loadable.inputs[0]
        self.scores = np.array(
            [
                network_run.run(loadable, "nv_full", {0: layout.pack_tensor(tensor, e)}).values[0]
                for e in self.elements
            ]
        ).reshape(100, -1)


@pytest.fixture(scope="session")
def digits() -> Digits:
    return Digits()


@pytest.fixture(scope="session")
def labels_file(digits: Digits, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("labels") / "labels.npy"
    np.save(file, digits.classes)
    return file


@pytest.fixture(scope="package")
def cluster() -> Iterator[Any]:
    """Two worker processes of Dask on this machine. Not for longer: idle ones take a share of a
    core."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as made:
        yield made
