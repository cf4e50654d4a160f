"""Register traces of the public hardware tests, replayed on the chip alone (no driver)."""

from __future__ import annotations

import gzip
import json
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_nvdla import fixtures

from cudla_sim.core.memory import AddressSpace
from cudla_sim.core.pages import anonymous
from cudla_sim.nvdla.again.layers import Layers
from cudla_sim.nvdla.facts import registers
from cudla_sim.nvdla.facts.configs import CONFIGS
from cudla_sim.nvdla.hw.chip import Chip
from cudla_sim.nvdla.hw.memory import Memory

BASE, SIZE = 0x50000000, 0xA0000000


@cache
def traces() -> dict[str, dict[str, Any]]:
    folder = fixtures()
    if folder is None:
        return {}
    with gzip.open(folder / "traces" / "tests.jsonl.gz", "rt") as lines:
        return {item["id"]: item for item in map(json.loads, lines)}


RUNS = [(name, config) for name, item in traces().items() for config in item["configs"][:2]]


class Replay:
    """Executes the operations of one trace."""

    def __init__(self, config: str, folder: Path) -> None:
        self.folder = folder
        self.line: registers.MapName = CONFIGS[config].line
        self.memory = [anonymous(SIZE), anonymous(SIZE)]
        ports = []
        for data in self.memory:
            space = AddressSpace()
            space.map(BASE, SIZE, name="trace memory", data=data)
            ports.append(Memory(space))
        flat = self.line == "v1"
        self.chip = Chip(CONFIGS[config], ports[0], ports[0] if flat else ports[1])
        Layers(self.chip)
        self.expected: list[tuple[int, str]] = []
        self.signalled: set[str] = set()
        self.failures: list[str] = []
        self.checks = 0

    def bytes(self, item: dict[str, Any], size: int) -> np.ndarray:
        which = int(item["mem"] == "sec")
        return self.memory[which][item["addr"] - BASE :][:size]

    def blob(self, item: dict[str, Any]) -> bytes:
        return gzip.decompress((self.folder / "blobs" / f"{item['blob']}.gz").read_bytes())

    def serve(self) -> None:
        """Acknowledge interrupts and note the events they stand for."""
        base = registers.BASES[self.line]["GLB"]
        status = self.chip.read(base + 0xC)
        for entry in list(self.expected):
            if status & entry[0]:
                self.signalled.add(entry[1])
                self.expected.remove(entry)
        self.chip.write(base + 0xC, status)

    def until(self, condition: Any) -> bool:
        for _ in range(1000):
            if condition():
                return True
            if not self.chip.step():
                return bool(condition())
        return False

    def wait_for(self, name: str) -> None:
        def arrived() -> bool:
            self.serve()
            return name in self.signalled

        if not self.until(arrived):
            self.failures.append(f"event {name} never came")

    def run(self, item: dict[str, Any]) -> None:
        kind = item["op"]
        handler = getattr(self, "do_" + kind, None)
        if handler is not None:
            handler(item)

    def do_mem_init(self, item: dict[str, Any]) -> None:
        self.bytes(item, item["size"])[...] = 0

    def do_mem_load(self, item: dict[str, Any]) -> None:
        raw = np.frombuffer(self.blob(item), np.uint8)
        position = 0
        for offset, size, count, stride in item["runs"]:
            for index in range(count):
                place = {**item, "addr": item["addr"] + offset + index * stride}
                self.bytes(place, size)[...] = raw[position : position + size]
                position += size

    def address(self, item: dict[str, Any]) -> int:
        return item["addr"]

    def do_reg_write(self, item: dict[str, Any]) -> None:
        self.chip.write(self.address(item), item["data"])

    def do_reg_check(self, item: dict[str, Any]) -> None:
        mask = item.get("mask", 0xFFFFFFFF)
        wanted = item["data"] & mask
        if not self.until(lambda: self.chip.read(self.address(item)) & mask == wanted):
            found = self.chip.read(self.address(item))
            self.failures.append(f"{item}: read {found:#x}")

    do_reg_poll = do_reg_check

    def do_wait_intr(self, item: dict[str, Any]) -> None:
        if not self.until(lambda: self.chip.irq):
            self.failures.append("no interrupt")

    def do_intr(self, item: dict[str, Any]) -> None:
        self.expected.append((item["bits"], item["sync"]))

    def do_check_none(self, item: dict[str, Any]) -> None:
        self.wait_for(item["sync"])

    def do_check_crc(self, item: dict[str, Any]) -> None:
        self.wait_for(item["sync"])
        self.checks += 1
        found = zlib.crc32(self.bytes(item, item["size"]).tobytes())
        if found != item["crc"]:
            self.failures.append(f"CRC {found:#x}, not {item['crc']:#x}")

    def do_check_mem(self, item: dict[str, Any]) -> None:
        wanted = np.frombuffer(self.blob(item), np.uint8)
        self.checks += 1
        if not np.array_equal(self.bytes(item, len(wanted)), wanted):
            self.failures.append("memory differs from the golden")


@pytest.mark.parametrize(("name", "config"), RUNS or [("none", "none")])
def test_trace(data: Path, name: str, config: str) -> None:
    item = traces()[name]
    replay = Replay(config, data / "traces")
    for operation in item["ops"]:
        replay.run(operation)
    assert not replay.failures
    assert replay.checks or not item["golden"]
