"""What a hardware unit and the core around it have to say to each other.

``chains.py`` declares which blocks work together, when they start and how they leave their groups.
A unit is a function ``launch(site, chain)``: it computes what the registers of a chain that can
start describe. ``hw/units/registry.py`` lists the units by the chains' rules; a new one is a chain,
a file with such a function and a line there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import NamedTuple

from ...native.fp16 import Fp16Mac
from ...native.ints import Ints
from ..facts.configs import HardwareConfig
from .chains import Chain, Release
from .csb import RegisterFile
from .doubt import Doubt
from .memory import Memory, Span
from .units.buffer import Kept
from .units.prepared import About, Around, Job, Notes, Prepared, PreparedLayers
from .units.weights import Lasting, WeightCache


@dataclass(slots=True)
class Layer:
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


@dataclass(slots=True)
class Launched:
    """A chain that was computed. ``layer`` is None for one that had nothing to do."""

    layer: Layer | None
    releases: list[Release]


Place = tuple[list[int], int]
"""A register: its bank and its index there."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """What follows a known layer, for the register groups that its blocks work on. ``banks`` are
    their registers. ``zeros`` are the counters that count nothing in integer layers, ``counts``
    those that show a number of ``native.steps.COUNTED``."""

    banks: list[list[int]]
    groups: dict[str, int]
    releases: list[Release]
    zeros: list[Place]
    counts: list[tuple[Place, int]]


class Known(NamedTuple):
    """A known layer on certain register groups."""

    layer: Prepared
    pattern: Pattern

    def describe(self, start_ns: int, end_ns: int, clipped: int) -> Layer:
        """What is told of one run."""
        about = self.layer.about
        return Layer(
            about.chain,
            self.pattern.groups.copy(),
            about.input_shape,
            about.output_shape,
            about.precision,
            start_ns,
            end_ns,
            about.macs,
            clipped,
        )

    def keep(self, site: Site) -> None:
        """Leave the convolution buffer as the layer does."""
        if self.layer.about.mode is not None:
            site.kept = Kept(mode=self.layer.about.mode, banks=self.layer.about.banks)

    def latch(self, site: Site, counted: Sequence[int]) -> None:
        """Leave counters and convolution buffer as the layer does that *counted* so much."""
        self.keep(site)
        for bank, index in self.pattern.zeros:
            bank[index] = 0
        for (bank, index), which in self.pattern.counts:
            bank[index] = counted[which] & 0xFFFFFFFF


Describe = Callable[["Site", Prepared], Pattern]
"""Says what follows a known layer whose blocks work on their groups now."""


def layer_known(site: Site, layer: Prepared, describe: Describe) -> Known:
    """The layer on the register groups that its blocks work on now."""
    consumers = tuple([state.consumer for state in layer.states])
    found: Pattern | None = layer.patterns.get(consumers)
    if found is None:
        found = layer.patterns[consumers] = describe(site, layer)
    return Known(layer, found)


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
        cache: WeightCache,
        fp16: Fp16Mac | None,
        ints: Ints | None = None,
        doubt: Doubt | None = None,
    ) -> None:
        self.config = config
        self.doubt = doubt or Doubt()
        self.csb = csb
        self.memory = memory
        self.cache = cache
        self.fp16 = fp16
        self.ints = ints
        self.kept = Kept()
        self.spoiled = ""
        """What left PDP in a state in which its next operations go wrong."""
        self.prepared = PreparedLayers()
        self.known: Known | None = None
        """The known layer that was computed last, if nothing was since then."""
        self.written: list[Span] | None = None
        """Collects where known layers write while it is a list."""

    @property
    def disturbed(self) -> bool:
        """Whether layers before left something behind that known layers do not reckon with."""
        return bool(self.spoiled) or len(self.kept.spare) > 0

    def ready(self, *blocks: str) -> bool:
        """True when a group of each block is enabled and waits for its unit."""
        return all(self.csb.blocks[name].ready for name in blocks)

    def groups(self, names: Sequence[str]) -> dict[str, list[int]]:
        """The active registers of blocks."""
        return {name: self.csb.blocks[name].active for name in names}

    def again(self, first: str) -> Prepared | None:
        """Compute the layer whose chain begins with block *first* as it was described before.

        None: it is not known, or something is different; nothing was computed.
        """
        if self.disturbed:
            return None
        known = self.prepared.find(self.csb.blocks[first])
        if known is None or not known.run():
            return None
        if self.written is not None:
            self.written += [
                (host, host + access.size) for _, access, host in known.accesses if access.write
            ]
        return known

    def remember(
        self,
        first: str,
        chain: Sequence[str],
        jobs: Sequence[Job],
        notes: Notes,
        weights: Lasting | None,
        about: About,
        describe: Describe,
        tables: Around | None = None,
    ) -> None:
        """Keep a layer that its jobs compute completely from what memory holds, for
        :meth:`again`. *describe* says what follows it."""
        accesses = notes.accesses()
        if not jobs or accesses is None or self.disturbed:
            return
        states = [self.csb.blocks[name] for name in chain]
        groups = [list(state.active) for state in states]
        every = [*notes.copies(), *jobs]
        layer = Prepared(tuple(chain), states, groups, accesses, every, weights, about, tables)
        self.prepared.store(self.csb.blocks[first], layer)
        self.known = layer_known(self, layer, describe)

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
