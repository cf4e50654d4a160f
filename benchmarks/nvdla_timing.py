"""How far the pipeline model is from the public nv_small RTL, and how fast it answers.

Needs the recorded RTL figures (``CUDLA_SIM_FIXTURES``); without them only the speed is measured.
"""

from __future__ import annotations

import json
import statistics
from contextlib import suppress
from pathlib import Path

import numpy as np

from cudla_sim.nvdla import Loadable
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.replay import read
from cudla_sim.nvdla.timing import runs
from cudla_sim.nvdla.timing.parameters import Surroundings
from tests.conftest import FIXTURES

from . import nvdla_published
from .report import Figure, median_seconds

RECORDED = FIXTURES / "nvdla" / "timing" / "rtl_nv_small.json"


def errors(kind: str) -> list[float]:
    """Relative errors of all recorded runs of a kind (``trace`` or ``loadable``)."""
    folder = FIXTURES / "nvdla"
    traces = {t.name: t for t in read(folder / "traces") if "nv_small" in t.configs}
    found = []
    for case in json.loads(RECORDED.read_text())[kind]:
        around = Surroundings(latency=case["latency"], bytes_per_cycle=case["bytes_per_cycle"])
        if kind == "trace":
            run = runs.trace(traces[case["name"]], "nv_small", around)
        else:
            file = folder / "compiled" / "loadables" / f"{case['tag']}.nvdla"
            run = runs.loadable(Loadable.parse(file.read_bytes()), "", "nv_small", around)
        found.append(abs(run.cycles / case["total_cycles"] - 1))
    return found


def _network() -> Loadable:
    random = np.random.default_rng(1)
    net = Network(("data", (1, 32, 56, 56)), "int8", "nv_large")
    for _ in range(20):
        net.conv2d(random.normal(size=(32, 32, 3, 3)), padding=1, relu=True)
    return Loadable.parse(net.build(calibration=random.normal(size=(1, 32, 56, 56))))


def figures() -> list[Figure]:
    found = []
    if Path(RECORDED).exists():
        for kind in ("trace", "loadable"):
            off = errors(kind)
            found.append(
                Figure(f"RTL {kind}s, median error", 100 * statistics.median(off), "%", 3.0)
            )
            found.append(Figure(f"RTL {kind}s, largest error", 100 * max(off), "%", 10.0))
        with suppress(BrokenPipeError):
            print(nvdla_published.table())
    network = _network()
    seconds = median_seconds(lambda: runs.loadable(network, "", "nv_large", Surroundings()))
    found.append(Figure("time of 20 convolutions, found in", seconds * 1e3, "ms"))
    return found
