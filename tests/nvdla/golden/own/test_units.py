"""Every unit against recorded results of the naive models (see ``make.py``)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import Core

BASE = 0x1_0000_0000
SIZE = 1 << 18
FILE = Path(__file__).parent / "units.npz"


@cache
def recorded() -> dict[str, np.ndarray]:
    with np.load(FILE) as archive:
        return dict(archive)


NAMES = sorted({".".join(key.split(".")[:3]) for key in recorded()})


@pytest.mark.parametrize("name", NAMES)
def test_unit(name: str) -> None:
    memory = np.zeros(SIZE, np.uint8)
    space = AddressSpace()
    space.map(BASE, SIZE, name="memory", data=memory)
    core = Core(name.split(".")[2], memory=space)
    turn = 0
    while f"{name}.{turn}.writes" in recorded():
        run = f"{name}.{turn}."
        _put(memory, run + "before")
        for address, value in recorded()[run + "writes"].tolist():
            core.write(address, value)
        expected = memory.copy()
        _put(expected, run + "after")
        while core.advance():
            pass
        assert np.flatnonzero(memory != expected).tolist() == []
        turn += 1
    assert turn


def _put(memory: np.ndarray, what: str) -> None:
    ranges, values = recorded()[what + ".ranges"], recorded()[what + ".values"]
    start = 0
    for first, last in ranges.tolist():
        memory[first:last] = values[start : start + last - first]
        start += last - first


def test_every_unit_has_one() -> None:
    units = {name.split(".")[0].split("_")[0] for name in NAMES}
    assert units == {"conv", "sdp", "pdp", "cdp", "rubik", "bdma"}
