"""Single operations as register programs, against their cycles on the public RTL.

``rtl_programs.json`` holds programs of the project's own networks for nv_small: what the driver
wrote into registers ("address:value", hexadecimal; "wait": until an interrupt), and how many cycles
a Verilated nv_small took from the first enable to the last interrupt, by "latency/bandwidth" of the
memory behind its AXI port (bytes a cycle of both directions; 0: what the port takes). With little
bandwidth they wait for weights, share the port, or fetch operands of one byte or two.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median

import pytest

from cudla_sim.nvdla.facts import registers
from cudla_sim.nvdla.facts.configs import CONFIGS
from cudla_sim.nvdla.replay import trace as t
from cudla_sim.nvdla.timing import runs
from cudla_sim.nvdla.timing.parameters import Surroundings

PROGRAMS = json.loads((Path(__file__).parent / "rtl_programs.json").read_text())
NARROW = {
    # few pixels in a row, or in all: the ends of an operation weigh more, the model knows them less
    "conv 1x1 8->8 1x1": 0.08,
    "conv 1x1 8->8 1x4": 0.06,
    "lrn 3 8x1x10": 0.04,
    "max pool 3x3/1 pad 8x12x12": 0.07,
    "max pool 3x3/1 pad 8x12x12, in 2 parts": 0.07,
    "max pool 3x3/1 pad 8x12x12, in 4 parts": 0.07,
    "max pool 3x1/1 32x30x1": 0.21,
    "relu 64x1x1": 0.29,
}
CASES = [(name, around) for name, program in PROGRAMS.items() for around in program["cycles"]]


def operation(word: str) -> t.Operation:
    if word == "wait":
        return t.WaitInterrupt()
    address, value = (int(part, 16) for part in word.split(":"))
    return t.RegWrite(address, value)


def test_two_convolutions_load_one_after_the_other() -> None:
    """In the two register groups at once: the second loads while the first computes, not before all
    of the first has come at 8 bytes a cycle."""
    line = CONFIGS["nv_small"].line
    pointers = {
        block.address("S_POINTER")
        for block in registers.blocks(line).values()
        if "S_POINTER" in block.by_name
    }
    words = PROGRAMS["conv 1x1 64->64 8x8"]["program"].split()
    first = [operation(word) for word in words]
    second = [
        t.RegWrite(o.address, 1) if isinstance(o, t.RegWrite) and o.address in pointers else o
        for o in first
    ]
    trace = t.Trace("both", line, ["nv_small"], [*first, *second])
    one, two = runs.trace(trace, "nv_small", Surroundings(register_cycles=0)).operations
    assert two.start - one.start >= one.bytes_read / 8
    assert two.start < one.end
    alone = t.Trace("one", line, ["nv_small"], first)
    (single,) = runs.trace(alone, "nv_small", Surroundings(register_cycles=0)).operations
    assert one.end - one.start == single.end - single.start
    assert two.end <= 2 * single.end


def error(name: str, around: str) -> float:
    latency, bandwidth = map(int, around.split("/"))
    writes = [operation(word) for word in PROGRAMS[name]["program"].split()]
    trace = t.Trace(name, CONFIGS["nv_small"].line, ["nv_small"], writes)
    surroundings = Surroundings(latency=latency, bytes_per_cycle=bandwidth, register_cycles=1)
    cycles = runs.trace(trace, "nv_small", surroundings).cycles
    return cycles / int(PROGRAMS[name]["cycles"][around]) - 1


@pytest.mark.parametrize(("name", "around"), CASES)
def test_an_operation_takes_as_long_as_on_the_rtl(name: str, around: str) -> None:
    assert abs(error(name, around)) < NARROW.get(name, 0.03)


def test_most_are_within_a_percent() -> None:
    assert median(abs(error(*case)) for case in CASES) < 0.01
