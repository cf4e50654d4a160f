"""Layers that were described for the compiled functions once, to be run again.

A layer is described by the registers of its chain, by where its memory lies, and by its weights.
When a chain starts whose registers are those of a known layer, the memory behind its addresses is
looked up again and its weights are compared; what is described is then computed at once. Whatever
differs takes the usual way, which describes it anew (and reports what is wrong with it).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

from ....native.ints import same
from ..csb import BlockState
from ..memory import Access, Memory
from .weights import Lasting

LIMIT = 1024
"""Layers that a core keeps (some KiB each), but for those alike."""

ALIKE = 32
"""Layers that it keeps with the same registers in the first block of their chain."""


class Job(Protocol):
    """What a compiled function does for a layer."""

    @property
    def clipped(self) -> int: ...
    @property
    def saturated(self) -> int: ...
    def run(self) -> None: ...


@dataclass(slots=True)
class Prepared:
    """A described layer: the blocks of its chain with their registers, and what it touches as
    (memory port, access, host address). ``weights`` is where the raw ones lie and what was made of
    them; ``about`` whatever its unit wants to know again."""

    chain: tuple[str, ...]
    groups: list[list[int]]
    accesses: list[tuple[Memory, Access, int]]
    jobs: Sequence[Job]
    weights: Lasting | None
    about: Any

    def run(self) -> bool:
        """Compute, unless something differs from what was described."""
        for memory, access, host in self.accesses:
            if memory.host(access) != host:
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

    def find(self, first: BlockState, blocks: Mapping[str, BlockState]) -> Prepared | None:
        """Return the layer that the enabled groups of *blocks* describe."""
        for layer in self._layers.get(tuple(first.active), ()):
            for name, registers in zip(layer.chain, layer.groups, strict=True):
                state = blocks[name]
                if not state.ready or state.active != registers:
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
            for access in dict.fromkeys(noted):
                if access is None:
                    return None
                result.append((memory, access, memory.host(access)))
        return result
