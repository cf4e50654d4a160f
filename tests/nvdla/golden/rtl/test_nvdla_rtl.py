"""Networks against results of the public RTL (Verilated nv_small and nv_large, FPGA memories).

The ``.npz`` files hold loadables that the builder and the compiler made of random networks, and
their inputs. The RTL ran each twice without a reset in between, on one memory behind its AXI ports;
the ``.json`` files hold what it left: a digest (BLAKE2b, 12 bytes) of every allocation after each
run, and its cycles. ``total`` counts from the first register write of the first run to its last
interrupt, at a memory latency of 32 cycles and full bandwidth; a register read took 18 cycles, and
register writes 9 for every four behind the first.
"""

from __future__ import annotations

import json
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import Core, Loadable, LoadedNetwork
from cudla_sim.nvdla.check import check
from cudla_sim.nvdla.timing import runs
from cudla_sim.nvdla.timing.parameters import Surroundings

HERE = Path(__file__).parent
CONFIGS = ("nv_small", "nv_large")


@cache
def recorded(config: str) -> tuple[list[dict[str, Any]], dict[str, np.ndarray]]:
    with np.load(HERE / f"{config}.npz") as archive:
        return json.loads((HERE / f"{config}.json").read_text()), dict(archive)


CASES = [(config, at) for config in CONFIGS for at in range(len(recorded(config)[0]))]


def loadable(config: str, at: int) -> Loadable:
    return Loadable.parse(recorded(config)[1][f"{at}.loadable"].tobytes())


@pytest.mark.parametrize(("config", "at"), CASES)
def test_memory_is_that_of_the_rtl(config: str, at: int) -> None:
    entries, arrays = recorded(config)
    network = loadable(config, at)
    space = AddressSpace("memory")
    loaded = LoadedNetwork(network, space, config)
    inputs = [space.allocate(t.size, name=t.name) for t in network.inputs]
    outputs = [space.allocate(t.size, name=t.name) for t in network.outputs]
    for number, region in enumerate(inputs):
        data = arrays[f"{at}.input.{number}"]
        region.data[: len(data)] = data
    core = Core(config)
    for wanted in entries[at]["memory"]:
        core.run(loaded, [r.base for r in inputs], [r.base for r in outputs])
        found = [blake2b(region.data.tobytes(), digest_size=12).hexdigest() for region in space]
        assert sorted(found) == sorted(wanted)  # addresses differ, and with them the order


@pytest.mark.parametrize(("config", "at"), CASES)
def test_the_checker_takes_what_the_rtl_computes(config: str, at: int) -> None:
    assert check(loadable(config, at), config) == []


def errors(config: str) -> tuple[list[float], list[float]]:
    """Relative errors of the timing model: operations of at least 100 cycles, and totals."""
    single, total = [], []
    for at, entry in enumerate(recorded(config)[0]):
        around = Surroundings(latency=32, register_cycles=2.1, read_cycles=18, interrupt_cycles=2)
        timed = runs.loadable(loadable(config, at), entry["name"], config, around)
        total.append(abs(max(o.end for o in timed.operations) / entry["total"] - 1))
        operations = [o for o in timed.operations if not o.unit.startswith("EMU")]
        for operation, (unit, cycles) in zip(operations, entry["operations"], strict=True):
            assert operation.unit == unit
            single.append(abs((operation.end - operation.start) / cycles - 1))
    return single, total


def test_times_are_those_of_the_rtl() -> None:
    """The networks are small: most operations take a few hundred cycles."""
    for config in CONFIGS:
        single, total = errors(config)
        assert np.median(single) < 0.006
        assert np.quantile(single, 0.95) < 0.05
        assert max(single) < 0.1
        assert np.median(total) < 0.005
        assert max(total) < 0.06
