"""What a bench has to do, in order, and what it must find."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ...core.memory import Bytes
from ..facts.configs import HardwareConfig
from ..loadable import TensorDesc

PRIMARY, SECONDARY = 0, 1
"""The memories behind the two ports of the DMA (DRAM, SRAM)."""


class Write(NamedTuple):
    """Write a register."""

    address: int
    value: int


class Poll(NamedTuple):
    """Read a register until ``value & mask`` is found under *mask*."""

    address: int
    mask: int
    value: int


class Await(NamedTuple):
    """Wait for a bit of GLB.S_INTR_STATUS and write it back, which clears it. *event* names this
    one interrupt of all."""

    bit: int
    event: str


class Check(NamedTuple):
    """zlib's CRC-32 of a range of memory, after *event* ("": when everything is done)."""

    event: str
    memory: int
    address: int
    size: int
    crc: int
    what: str


class Load(NamedTuple):
    """A step of the host: a software (EMU) operation's result is put into memory."""

    memory: int
    address: int
    data: bytes
    what: str


Step = Write | Poll | Await | Check | Load


@dataclass(frozen=True, slots=True)
class Region:
    """A range of memory that the DMA reaches, before and after the run."""

    name: str
    memory: int
    address: int
    before: Bytes
    after: Bytes


class PlacedTensor(NamedTuple):
    """An input or output and the address of its buffer."""

    desc: TensorDesc
    address: int


class Operation(NamedTuple):
    """An operation of the run: of which task, its number there, *cycles* as the timing model has
    them, and the interrupt that ends it."""

    task: int
    number: int
    unit: str
    input_shape: tuple[int, int, int]
    output_shape: tuple[int, int, int]
    cycles: int
    event: str


@dataclass(slots=True)
class Bench:
    """A recorded run. *base* and *end* bound its memory."""

    name: str
    config: HardwareConfig
    base: int
    end: int
    steps: list[Step] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    inputs: list[PlacedTensor] = field(default_factory=list)
    outputs: list[PlacedTensor] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    cycles: int = 0
    """Of the run, as the timing model has them."""

    def image(self, after: bool = False) -> Bytes:
        """All memory from *base* to *end*, before or after the run; zero between regions."""
        import numpy as np

        data = np.zeros(self.end - self.base, np.uint8)
        for region in self.regions:
            start = region.address - self.base
            data[start : start + len(region.before)] = region.after if after else region.before
        return data
