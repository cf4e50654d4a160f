"""Layers that were computed before, computed again: what stands between a chip and its units.

A layer is described by the registers of its chain, by where its memory lies, and by its weights.
When a chain starts whose registers are those of a known layer, the memory behind its addresses is
looked up again and its weights are compared; what is described is then computed at once. Whatever
differs takes the usual way, which describes it anew (and reports what is wrong with it).
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...native.steps import Copy
from ..hw.chains import Chain
from ..hw.chip import Chip
from ..hw.csb import BlockState
from ..hw.launch import ComputedLayer, Job, Launch, Launched, Work
from ..hw.memory import Access, Memory, Padded
from ..hw.units.conv.buffer import Left
from ..hw.units.conv.weights import Entry
from .layer import Known, Prepared
from .tables import Tables
from .weights import Lasting

if TYPE_CHECKING:
    from typing_extensions import Self

LIMIT = 1024
"""Layers that a core keeps (some KiB each), but for those alike."""

ALIKE = 64
"""Layers that it keeps with the same registers in the first block of their chain."""


class Layers:
    """The known layers of a chip, by the registers of the block that their unit is named after.
    ``last``: the known layer that was computed last, if nobody took it."""

    def __init__(self, chip: Chip) -> None:
        self.chip = chip
        self.site = chip.site
        self._layers: OrderedDict[tuple[int, ...], list[Prepared]] = OrderedDict()
        self._units: set[str] = set()
        self.last: Known | None = None
        chip.shortcut = self

    # -- what the chip wants (hw.launch.Shortcut) ----------------------------------------------

    def launch(self, unit: str) -> Launched | None:
        """Compute the layer that *unit* could start with as it was computed before.

        None: it is not known, or something is different; nothing was computed.
        """
        if unit not in self._units:
            return None
        first = self.site.csb.blocks[unit]
        if not first.enabled[first.consumer] or self.chip.disturbed:
            return None
        start = self.site.now()
        layer = self._find(first)
        done = None if layer is None else layer.run(self.site.kept)
        if layer is None or done is None:
            return None
        for memory, access, host in layer.accesses:
            if memory.written is not None and access.write:
                memory.written.append((host, host + access.size))
        known = self.last = Known(layer, layer.pattern(self.site.csb))
        counted = [sum(numbers) for numbers in zip(*[j.counted for j in layer.jobs], strict=True)]
        known.latch(self.site, counted, done.entry)
        return Launched(known.describe(start, 0, counted[0]), known.pattern.releases)

    def compute(self, unit: str, chain: Chain, launch: Launch) -> Launched:
        """Have the unit compute, and keep what it describes."""
        with _Notes(self.site.memory) as notes:
            launched = launch(self.site, chain)
        if launched.work is not None and launched.layer is not None:
            self._remember(unit, chain, launched.layer, launched.work, notes)
        return launched

    # -- for those who record ------------------------------------------------------------------

    def advance(self) -> tuple[bool, Known | None]:
        """Let the chip advance; whether it did, and the known layer that it computed, if it did
        only that."""
        self.last = None
        progress = self.chip.advance()
        return progress, self.last

    def with_registers(self, known: Known, groups: list[list[int]]) -> Known | None:
        """The known layer of the same blocks, in the same groups, for other registers of these."""
        layer = known.layer
        for item in (item for group in groups for item in self._layers.get(tuple(group), ())):
            if item.groups == groups and item.chain == layer.chain and item.shown == layer.shown:
                return Known(item, known.pattern)
        return None

    def follow(self, known: Known, counted: Sequence[int], entry: Entry | None) -> None:
        """All that follows when a known layer has been computed, which *counted* so much."""
        known.latch(self.site, counted, entry)
        for release in known.pattern.releases:
            release.happen(self.site.csb)
        self.chip.touch()

    # -- the layers ----------------------------------------------------------------------------

    def _find(self, first: BlockState) -> Prepared | None:
        """Return the layer that the enabled groups describe."""
        for layer in self._layers.get(tuple(first.active), ()):
            for state, registers in zip(layer.states, layer.groups, strict=True):
                group = state.consumer
                if not state.enabled[group] or state.groups[group] != registers:
                    break
            else:
                return layer
        return None

    def _remember(
        self, unit: str, chain: Chain, about: ComputedLayer, work: Work, notes: _Notes
    ) -> None:
        """Keep a layer that its jobs compute completely from what memory holds."""
        csb, accesses = self.site.csb, notes.accesses()
        if not work.jobs or accesses is None or self.chip.disturbed:
            return
        states = [csb.blocks[name] for name in chain.blocks]
        weights = None
        if work.weights is not None:
            raw, entry = work.weights
            host = None if raw is None else raw.__array_interface__["data"][0]
            weights = Lasting(host, weakref.ref(entry))
        kept = self.site.kept
        layer = Prepared(
            chain,
            states,
            [list(state.active) for state in states],
            accesses,
            [*notes.copies(), *work.jobs],
            weights,
            about,
            work.shown,
            Left(kept.mode, kept.banks, kept.shape) if "CDMA" in chain.blocks else None,
            Tables(csb.blocks[unit]) if work.tables else None,
        )
        self._store(csb.blocks[unit], layer)
        self._units.add(unit)
        self.last = Known(layer, layer.pattern(csb))

    def _store(self, first: BlockState, layer: Prepared) -> None:
        """Keep a layer."""
        alike = self._layers.setdefault(tuple(first.active), [])
        known = [
            item
            for item in alike
            if (item.chain.blocks, item.groups) != (layer.chain.blocks, layer.groups)
        ]
        alike[:] = [layer, *known[: ALIKE - 1]]
        while len(self._layers) > LIMIT:
            self._layers.popitem(last=False)


class _Notes:
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
