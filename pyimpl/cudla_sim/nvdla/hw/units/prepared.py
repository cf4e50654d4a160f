"""Layers that were described for the compiled functions once, to be run again.

A layer is described by the registers of its chain, by where its memory lies, and by its weights.
When a chain starts whose registers are those of a known layer, the memory behind its addresses is
looked up again and its weights are compared; what is described is then computed at once. Whatever
differs takes the usual way, which describes it anew (and reports what is wrong with it).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from ....native.ints import same
from ....native.steps import Copy
from ..csb import BlockState
from ..memory import Access, Memory, Padded
from .weights import Lasting

LIMIT = 1024
"""Layers that a core keeps (some KiB each), but for those alike."""

ALIKE = 64
"""Layers that it keeps with the same registers in the first block of their chain."""


class Job(Protocol):
    """What a compiled function does for a layer; ``counted`` are the numbers of
    ``native.steps.COUNTED``. One that has a ``step``, too, can be one of many in a call."""

    @property
    def counted(self) -> Sequence[int]: ...
    def run(self) -> None: ...


class Around(Protocol):
    """What a layer depends on that is not in the register groups of its chain: ``bank`` are its
    registers."""

    @property
    def bank(self) -> list[int]: ...
    def same(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class About:
    """What is told of a layer besides its counters. ``mode``, ``banks``: see ``buffer.Kept``;
    *mode* is None where no convolution takes part."""

    chain: str
    input_shape: tuple[int, int, int]
    output_shape: tuple[int, int, int]
    precision: int
    macs: int = 0
    mode: tuple[int, ...] | None = None
    banks: tuple[int, int] = (0, 0)


@dataclass(slots=True)
class Prepared:
    """A described layer: the blocks of its chain with their registers, and what it touches as
    (memory port, access, host address). ``signatures`` are those of the memory ports when this was
    last looked up. ``weights`` is where the raw ones lie and what was made of them;
    ``patterns`` what it does by the register groups that the blocks work on (``known.Pattern``)."""

    chain: tuple[str, ...]
    states: list[BlockState]
    groups: list[list[int]]
    accesses: list[tuple[Memory, Access, int]]
    jobs: Sequence[Job]
    weights: Lasting | None
    about: About
    tables: Around | None = None
    signatures: list[tuple[Memory, tuple[int, ...] | None]] = field(default_factory=list)
    patterns: dict[tuple[int, ...], Any] = field(default_factory=dict)

    def _where_it_was(self) -> bool:
        """Whether all that it touches lies where it was."""
        for memory, signature in self.signatures:
            if signature is None or memory.signature != signature:
                break
        else:
            if self.signatures:
                return True
        for memory, access, host in self.accesses:
            if memory.host(access) != host:
                return False
        memories = {id(memory): memory for memory, _, _ in self.accesses}.values()
        self.signatures = [(memory, memory.signature) for memory in memories]
        return True

    def run(self) -> bool:
        """Compute, unless something differs from what was described."""
        if not self._where_it_was() or (self.tables is not None and not self.tables.same()):
            return False
        entry = None  # held while the jobs run
        if self.weights is not None:
            entry = self.weights.entry()
            if entry is None or not same(self.weights.host, entry.raw):
                return False
        for job in self.jobs:
            job.run()
        return True


class PreparedLayers:
    """The described layers of a core, by the registers of the first block of their chain."""

    def __init__(self) -> None:
        self._layers: OrderedDict[tuple[int, ...], list[Prepared]] = OrderedDict()

    def find(self, first: BlockState) -> Prepared | None:
        """Return the layer that the enabled groups describe."""
        for layer in self._layers.get(tuple(first.active), ()):
            for state, registers in zip(layer.states, layer.groups, strict=True):
                group = state.consumer
                if not state.enabled[group] or state.groups[group] != registers:
                    break
            else:
                return layer
        return None

    def store(self, first: BlockState, layer: Prepared) -> None:
        """Keep a layer."""
        alike = self._layers.setdefault(tuple(first.active), [])
        known = [item for item in alike if (item.chain, item.groups) != (layer.chain, layer.groups)]
        alike[:] = [layer, *known[: ALIKE - 1]]
        while len(self._layers) > LIMIT:
            self._layers.popitem(last=False)


class Notes:
    """Collects what is touched while a layer is described and computed the usual way."""

    def __init__(self, memory: tuple[Memory, Memory]) -> None:
        self._memory = {id(item): item for item in memory}.values()

    def __enter__(self) -> Self:
        for memory in self._memory:
            memory.noted = []
        return self

    def __exit__(self, *_: object) -> None:
        self._noted = [(memory, memory.noted or []) for memory in self._memory]
        for memory in self._memory:
            memory.noted = None

    def accesses(self) -> list[tuple[Memory, Access, int]] | None:
        """What was touched; None if some of it was not a view of the memory."""
        result = []
        for memory, noted in self._noted:
            accesses = [item.access if isinstance(item, Padded) else item for item in noted]
            for access in dict.fromkeys(accesses):
                if access is None:
                    return None
                result.append((memory, access, memory.host(access)))
        return result

    def copies(self) -> list[Job]:
        """What makes the copies again that the layer was given."""
        return [
            Copy(memory.host(item.access), item.copy, item.access.size)
            for memory, noted in self._noted
            for item in noted
            if isinstance(item, Padded)
        ]
