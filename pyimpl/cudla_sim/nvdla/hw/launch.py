"""What a hardware unit and the core around it have to say to each other.

``chains.py`` declares which blocks work together, when they start and how they leave their groups.
A unit is a function ``launch(site, chain)``: it computes what the registers of a chain that can
start describe. ``hw/units/registry.py`` lists the units by the chains' rules; a new one is a chain,
a folder with such a function and a line there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...native.fp16 import Fp16Mac
from ...native.ints import Ints
from ..facts.configs import HardwareConfig
from .chains import Chain, Release
from .csb import RegisterFile
from .doubt import Doubt
from .legality import settle
from .memory import Memory
from .units.conv.buffer import Kept
from .units.conv.weights import Arranged, Entry


@dataclass(slots=True)
class ComputedLayer:
    """What one launch did. ``groups`` tells the register group each block used; shapes are
    (channels, height, width), times in nanoseconds of the host's clock."""

    chain: str
    groups: dict[str, int]
    input_shape: tuple[int, int, int]
    output_shape: tuple[int, int, int]
    precision: int
    start_ns: int
    end_ns: int = 0
    macs: int = 0
    saturated: int = 0
    notes: list[str] = field(default_factory=list)


class Job(Protocol):
    """What a compiled function does for a layer; ``counted`` are the numbers of
    ``native.steps.COUNTED``. One that has a ``step``, too, can be one of many in a call."""

    @property
    def counted(self) -> Sequence[int]: ...
    def run(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Work:
    """What computed a chain completely, from what memory held and weights that were left in the
    convolution buffer.

    ``shown``: which registers (block, name) show which number of ``native.steps.COUNTED``, ""
    where it is always 0. ``weights``: the raw bytes in memory (None: they were in the buffer),
    and what was made of them;
    ``tables``: the look-up tables of the unit were used.
    """

    jobs: Sequence[Job]
    shown: Mapping[tuple[str, str], str]
    weights: tuple[NDArray[np.uint8] | None, Entry] | None = None
    tables: bool = False


@dataclass(slots=True)
class Launched:
    """A chain that was computed. ``layer`` is None for one that had nothing to do, ``work`` where
    more than its work would have to be done again."""

    layer: ComputedLayer | None
    releases: list[Release]
    work: Work | None = None


class Site:
    """What a unit may touch: registers, memory ports (secondary, main), what convolutions keep.

    ``fp16`` is the exact kernel; None: fp16 convolutions are computed in float32, which rounds
    elsewhere. ``ints`` computes integer convolutions and SDP; None: numpy does.
    """

    def __init__(
        self,
        config: HardwareConfig,
        csb: RegisterFile,
        memory: tuple[Memory, Memory],
        arranged: Arranged,
        fp16: Fp16Mac | None,
        ints: Ints | None = None,
        doubt: Doubt | None = None,
    ) -> None:
        self.config = config
        self.doubt = doubt or Doubt()
        self.csb = csb
        self.memory = memory
        self.arranged = arranged
        self.fp16 = fp16
        self.ints = ints
        self.kept = Kept()
        self.spoiled = ""
        """What left PDP in a state in which its next operations go wrong."""
        self.unread = ""
        """What left input in SDP_RDMA that its next operations would take for theirs."""

    def ready(self, *blocks: str) -> bool:
        """True when a group of each block is enabled and waits for its unit."""
        return all(self.csb.blocks[name].ready for name in blocks)

    def groups(self, names: Sequence[str]) -> dict[str, list[int]]:
        """The active registers of blocks, as the units of the configuration take them.

        Raises HardwareFault for values that the configuration does not have.
        """
        active = {name: self.csb.blocks[name].active for name in names}
        return settle(self.config, active, self.doubt)

    def consumer(self, block: str) -> int:
        """The group that a block's unit works on."""
        return self.csb.blocks[block].consumer

    def latch(self, block: str, values: dict[str, int]) -> None:
        """Store what a unit counted."""
        for register, value in values.items():
            self.csb.latch(block, register, value)

    @staticmethod
    def now() -> int:
        """Nanoseconds of the clock that layers are timed by."""
        return perf_counter_ns()


Launch = Callable[[Site, Chain], Launched]
"""Computes a chain that can start. Raises NvdlaError for what is not defined or not simulated."""


class Shortcut(Protocol):
    """Who stands between a chip and its units, if anybody does (``nvdla.again``)."""

    def launch(self, unit: str, /) -> Launched | None:
        """Compute what *unit* could start with instead of it; None: it has to."""

    def compute(self, unit: str, chain: Chain, launch: Launch, /) -> Launched:
        """Have *unit* compute a chain."""
