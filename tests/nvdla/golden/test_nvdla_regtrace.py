"""Our register writes are those of the public firmware, operation by operation."""

from __future__ import annotations

import gzip
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from golden_nvdla import manifest

from cudla_sim.core.memory import AddressSpace, Region
from cudla_sim.nvdla import Engine, KmdError, Loadable, LoadedNetwork
from cudla_sim.nvdla.facts import registers

CASES = {tag: case for tag, case in manifest().items() if "regtrace" in case}
PUBLIC = {
    "CONV_D_L0_0": "full",
    "CONV_D_L0_0_small": "small",
    "PDP_L0_0": "full",
    "PDP_L0_0_small": "small",
    "NN_L0_0": "full",
    "CDP_L0_0": "full",
    "CDP_L0_0_large": "large",
    "BDMA_L0_0": "full",
}
# SDP_X1_L0_0_large is left out: its descriptor names a memory type of an unused operand that does
# not exist, and the firmware then writes whatever lies behind its table.
UNITS = {
    **dict.fromkeys(("CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA"), "CONV"),
    **dict.fromkeys(("SDP", "SDP_RDMA"), "SDP"),
    **dict.fromkeys(("PDP", "PDP_RDMA"), "PDP"),
    **dict.fromkeys(("CDP", "CDP_RDMA"), "CDP"),
    "RBK": "RUBIK",
    "BDMA": "BDMA",
}


class TraceSpace(AddressSpace):
    """Gives out the addresses that the public stack's allocator gave out."""

    def __init__(self) -> None:
        super().__init__()
        self._next = 0xC0000000

    def allocate(self, size: int, *, name: str, align: int = 4096, owner=None) -> Region:
        base = self._next
        self._next += -(-size // 4096) * 4096
        return self.map(base, size, name=name, data=np.zeros(size, np.uint8), owner=owner)


def recorded(path: Path) -> list[tuple[int, int]]:
    """Register writes of a trace file."""
    with gzip.open(path, "rt") as lines:
        words = [line.split() for line in lines]
    return [(int(item[1], 16), int(item[2], 16)) for item in words if item[0] == "W"]


def ours(loadable: Path, config: str) -> list[tuple[int, int]]:
    """Register writes of our firmware for the same loadable at the same addresses.

    A loadable that the firmware rejects has the writes until then.
    """
    network_file = Loadable.parse(loadable.read_bytes())
    space = TraceSpace()
    network = LoadedNetwork(network_file, space, config)
    inputs = [space.allocate(item.size, name="input").base for item in network_file.inputs]
    outputs = [space.allocate(item.size, name="output").base for item in network_file.outputs]
    engine = Engine(config)
    log: list[tuple[int, int]] = []
    write = engine.chip.write

    def record(address: int, value: int) -> None:
        log.append((address, value))
        write(address, value)

    engine.chip.write = record
    with suppress(KmdError):
        engine.run(network, inputs, outputs)
    return log


def operations(writes: list[tuple[int, int]], line: registers.MapName) -> Counter:
    """Cut the writes into programming and enabling sequences, one per pointer setting."""
    result: Counter = Counter()
    open_parts: dict[str, list[tuple[str, int]]] = {}
    for address, value in writes:
        found = registers.lookup(line, address)
        assert found is not None
        block, register = found
        if block == "GLB":
            continue
        unit = UNITS[block]
        part = open_parts.setdefault(unit, [])
        pointer = register.name == "S_POINTER"
        if pointer and part and not part[-1][0].endswith("S_POINTER"):
            result[unit, tuple(part)] += 1
            part = open_parts[unit] = []
        part.append((f"{block}.{register.name}", value))
    for unit, part in open_parts.items():
        result[unit, tuple(part)] += 1
    return result


def without_pointers(parts: Counter) -> Counter:
    """Drop the group numbers: which group is free depends on the timing of interrupts."""
    result: Counter = Counter()
    for (unit, part), count in parts.items():
        kept = tuple((name, 0 if name.endswith("S_POINTER") else value) for name, value in part)
        result[unit, kept] += count
    return result


def compare(path: Path, trace: Path, config: str) -> None:
    line: registers.MapName = "v1" if config == "nv_full" else "master"
    log = ours(path, config)
    mine, theirs = operations(log, line), operations(recorded(trace), line)
    if mine != theirs:
        mine, theirs = without_pointers(mine), without_pointers(theirs)
    assert mine == theirs


@pytest.mark.parametrize("tag", list(CASES) or ["none"])
def test_register_writes_of_compiled_loadable(data: Path, tag: str) -> None:
    folder = data / "compiled"
    compare(
        folder / "loadables" / f"{tag}.nvdla",
        folder / "regtrace" / CASES[tag]["regtrace"],
        "nv_" + CASES[tag]["config"],
    )


@pytest.mark.parametrize("name", list(PUBLIC))
def test_register_writes_of_public_loadable(data: Path, name: str) -> None:
    folder = data / "public"
    compare(
        folder / "loadables" / f"{name}.nvdla",
        folder / "golden" / name / "regtrace.txt.gz",
        "nv_" + PUBLIC[name],
    )
