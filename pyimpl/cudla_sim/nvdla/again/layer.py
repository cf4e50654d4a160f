"""A layer that was described for the compiled functions once, to be run again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...native.ints import same
from ...native.steps import COUNTED
from ..hw.chains import Chain, Release
from ..hw.csb import BlockState, RegisterFile
from ..hw.launch import ComputedLayer, Job, Site
from ..hw.memory import Access, Memory
from ..hw.units.conv.buffer import Kept, Left
from ..hw.units.conv.weights import Entry
from .tables import Tables
from .weights import Lasting

Place = tuple[list[int], int]
"""A register: its bank and its index there."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """What follows a known layer, for the register groups that its blocks work on. ``banks`` are
    their registers. ``zeros`` are the counters that count nothing in such layers, ``counts`` those
    that show a number of ``native.steps.COUNTED``."""

    banks: list[list[int]]
    groups: dict[str, int]
    releases: list[Release]
    zeros: list[Place]
    counts: list[tuple[Place, int]]


class Done(NamedTuple):
    """A layer was computed, with these weights."""

    entry: Entry | None


@dataclass(slots=True)
class Prepared:
    """A described layer: its chain, the blocks of it with their registers, and what it touches as
    (memory port, access, host address). ``about`` is what was told of it, ``shown`` where its
    counters are (see ``hw.launch.Work``), ``buffer`` how it leaves the convolution
    buffer, None where no convolution takes part. ``weights`` is where the raw ones lie and what was
    made of them. ``signatures`` are those of the memory ports when this was last looked up;
    ``patterns`` what it does by the register groups that the blocks work on."""

    chain: Chain
    states: list[BlockState]
    groups: list[list[int]]
    accesses: list[tuple[Memory, Access, int]]
    jobs: Sequence[Job]
    weights: Lasting | None
    about: ComputedLayer
    shown: Mapping[tuple[str, str], str]
    buffer: Left | None
    tables: Tables | None = None
    signatures: list[tuple[Memory, tuple[int, ...] | None]] = field(default_factory=list)
    patterns: dict[tuple[int, ...], Pattern] = field(default_factory=dict)

    def _where_it_was(self) -> bool:
        """Whether all that it touches lies where it was."""
        for memory, signature in self.signatures:
            if signature is None or memory.space.signature != signature:
                break
        else:
            if self.signatures:
                return True
        for memory, access, host in self.accesses:
            if memory.host(access) != host:
                return False
        memories = {id(memory): memory for memory, _, _ in self.accesses}.values()
        self.signatures = [(memory, memory.space.signature) for memory in memories]
        return True

    @property
    def takes_weights(self) -> bool:
        """Whether its weights are those that a layer before left in the convolution buffer."""
        return self.weights is not None and self.weights.host is None

    def finds_weights(self, left: Left | Kept | None, entry: Entry | None) -> bool:
        """Whether they are these, left in such a way."""
        assert self.weights is not None
        assert self.buffer is not None
        return (
            left is not None
            and entry is not None
            and entry is self.weights.entry()
            and left.shape is not None
            and left.mode == self.buffer.mode
        )

    def run(self, kept: Kept) -> Done | None:
        """Compute, unless something differs from what was described. *kept*: what the convolution
        buffer holds."""
        if not self._where_it_was() or (self.tables is not None and not self.tables.same()):
            return None
        entry = None  # held while the jobs run
        if self.weights is not None:
            entry = self.weights.entry()
            if entry is None:
                return None
            if self.weights.host is None:
                if not self.finds_weights(kept, kept.entry):
                    return None
            elif not same(self.weights.host, entry.raw):
                return None
        for job in self.jobs:
            job.run()
        return Done(entry)

    def pattern(self, csb: RegisterFile) -> Pattern:
        """What follows it on the register groups that its blocks work on now."""
        consumers = tuple([state.consumer for state in self.states])
        found = self.patterns.get(consumers)
        if found is None:
            found = self.patterns[consumers] = self._pattern(csb)
        return found

    def _pattern(self, csb: RegisterFile) -> Pattern:
        zeros, counts = [], []
        for (block, register), name in self.shown.items():
            state = csb.blocks[block]
            place = state.counted[state.consumer], state.layout.by_name[register].offset // 4
            if name:
                counts.append((place, COUNTED.index(name)))
            else:
                zeros.append(place)
        return Pattern(
            [state.active for state in self.states],
            self.chain.groups(csb),
            self.chain.releases(csb),
            zeros,
            counts,
        )


class Known(NamedTuple):
    """A known layer on certain register groups."""

    layer: Prepared
    pattern: Pattern

    def describe(self, start_ns: int, end_ns: int, clipped: int) -> ComputedLayer:
        """What is told of one run."""
        about = self.layer.about
        return ComputedLayer(
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

    def latch(self, site: Site, counted: Sequence[int], entry: Entry | None) -> None:
        """Leave counters and convolution buffer as the layer does that *counted* so much, with the
        weights *entry*."""
        if self.layer.buffer is not None:
            site.kept = self.layer.buffer.kept(entry)
        for bank, index in self.pattern.zeros:
            bank[index] = 0
        for (bank, index), which in self.pattern.counts:
            bank[index] = counted[which] & 0xFFFFFFFF
