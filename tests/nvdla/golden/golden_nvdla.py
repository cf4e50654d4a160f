"""Where the recorded data lie, and running a loadable on them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import Engine, Loadable, LoadedNetwork, TaskReport

_ROOT = Path(__file__).resolve().parents[3]


def fixtures() -> Path | None:
    """Folder of the NVDLA fixtures, None if there is none."""
    named = os.environ.get("CUDLA_SIM_FIXTURES")
    for base in (Path(named) if named else None, _ROOT.parent / "shared" / "fixtures"):
        if base is not None and (base / "nvdla").is_dir():
            return base / "nvdla"
    return None


@cache
def manifest() -> dict[str, Any]:
    """Cases of the compiled loadables, empty without fixtures."""
    folder = fixtures()
    if folder is None:
        return {}
    return json.loads((folder / "compiled" / "MANIFEST.json").read_text())["cases"]


@dataclass
class Outcome:
    """Result of one run: raw output buffers and the report."""

    loadable: Loadable
    outputs: list[np.ndarray]
    report: TaskReport


@cache
def engine(config: str) -> Engine:
    """One engine per configuration for all tests."""
    return Engine(config)


def execute(path: Path, config: str, inputs: list[Path]) -> Outcome:
    """Load a loadable, fill its inputs from files (zeros without), run it once."""
    loadable = Loadable.parse(path.read_bytes())
    space = AddressSpace()
    network = LoadedNetwork(loadable, space, config)
    regions = [space.allocate(item.size, name="input") for item in loadable.inputs]
    results = [space.allocate(item.size, name="output") for item in loadable.outputs]
    for region, file in zip(regions, inputs, strict=False):
        content = np.fromfile(file, np.uint8)
        region.data[: len(content)] = content
    report = engine(config).run(
        network, [item.base for item in regions], [item.base for item in results]
    )
    network.close()
    return Outcome(loadable, [item.data.copy() for item in results], report)
