"""Consecutive steps of a plan whose layers are all known, computed by one call.

Nobody can see the registers and interrupts in between, so only what they are at the end is stored.
When a run ends early (weights have changed, the task is stopped), everything is put as it is behind
the layers that were computed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter_ns
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...native import steps as native
from ..errors import NvdlaError, Status
from ..hw.chip import Chip
from ..hw.csb import BlockState, Position
from ..hw.launch import ComputedLayer
from ..hw.memory import Memory, Span
from ..hw.units.conv.weights import Entry
from ..kmd.list_port import Entry as Buffer
from .actions import Actions, Bank, Registers, Steady, Store, settled
from .layer import Known, Place
from .layers import Layers

ATTENTION_NS = 5_000_000
"""How long the interpreter (and whoever may stop the task) waits for its turn, layers apart."""


class Note(NamedTuple):
    """A step of a plan: the known layer that it computed, if it did only that, and where the chip
    stood before and behind it."""

    known: Known | None
    before: Position | None
    after: Position | None


@dataclass(frozen=True, slots=True)
class Ran:
    """Layers that a segment computed: the steps *first* to *last* (not included) of the plan."""

    known: Sequence[Known]
    first: int
    last: int
    start_ns: int
    results: NDArray[np.int64]
    """[layer, (end in nanoseconds, *COUNTED)], see ``native.steps``."""

    def layers(self) -> list[tuple[int, ComputedLayer]]:
        """The layers with their steps."""
        found, start = [], self.start_ns
        for number, (known, result) in enumerate(
            zip(self.known, self.results.tolist(), strict=True), self.first
        ):
            end, clipped, *_ = result
            found.append((number, known.describe(start, end, clipped)))
            start = end
        return found


Tell = Callable[[Ran], None]
Held = Sequence[Entry | None]


class Segment:
    """Steps *first* to *last* (not included) of a plan, on one chip."""

    def __init__(self, first: int, notes: Sequence[Note], actions: Sequence[Actions]) -> None:
        """*notes* and *actions* are those of its steps; all layers are known."""
        self.first = first
        self.last = first + len(notes)
        self._known = [note.known for note in notes if note.known is not None]
        self._actions = actions
        before, after = notes[0].before, notes[-1].after
        assert before is not None
        assert after is not None
        self._before, self._after, self._moves = before, after, before.moves(after)
        assert len(self._known) == len(notes) == len(actions)
        self._needs = self._needed()
        self._composed = self._compose()
        self._zeros, self._counts = self._counters()
        self._convolutions = [n for n, k in enumerate(self._known) if k.layer.buffer is not None]
        takers = [self._known[n].layer for n in self._convolutions[:1]]
        self._taker = next((layer for layer in takers if layer.takes_weights), None)
        self._signatures = self._looked_up()
        self._weights = [k.layer.weights for k in self._known]
        self._tables = [k.layer.tables for k in self._known if k.layer.tables is not None]
        self._steps = native.Steps([(_steps(known), _weights(known)) for known in self._known])

    # -- what it is made of -------------------------------------------------------------------

    def _needed(self) -> list[Store]:
        """Registers of its layers that its own actions do not store before."""
        needs, stored, seen = Registers(), set[tuple[int, int]](), set[int]()
        for known, actions in zip(self._known, self._actions, strict=True):
            for bank, registers in zip(known.pattern.banks, known.layer.groups, strict=True):
                if id(bank) in seen:
                    continue
                seen.add(id(bank))
                for index, value in enumerate(registers):
                    if (id(bank), index) not in stored:
                        needs.put(bank, index, value)
            for bank, start, stop, _ in actions.stores:
                if id(bank) not in seen:
                    stored.update((id(bank), index) for index in range(start, stop))
        return needs.stores()

    def _compose(self) -> Actions:
        """What all actions but the last ones leave behind, but for interrupts and enabled groups:
        these go by position."""
        registers, pointers = Registers(), dict[str, tuple[BlockState, int]]()
        for actions in self._actions[:-1]:
            for bank, start, _, values in actions.stores:
                for index, value in enumerate(values, start):
                    registers.put(bank, index, value)
            pointers.update((state.name, (state, group)) for state, group in actions.pointers)
        memory = settled(item for actions in self._actions[:-1] for item in actions.memory)
        return Actions(registers.stores(), list(pointers.values()), memory=memory)

    def _counters(self) -> tuple[list[Place], list[tuple[Place, int, int]]]:
        """Counters that end as 0, and those that end as what a layer counted: where, which layer,
        which number."""
        found: dict[tuple[int, int], tuple[Place, int, int]] = {}
        for number, known in enumerate(self._known):
            for bank, index in known.pattern.zeros:
                found[id(bank), index] = (bank, index), number, -1
            for (bank, index), which in known.pattern.counts:
                found[id(bank), index] = (bank, index), number, which
        return (
            [place for place, _, which in found.values() if which < 0],
            [count for count in found.values() if count[2] >= 0],
        )

    def _looked_up(self) -> list[tuple[Memory, tuple[int, ...] | None]]:
        memories = {id(m): m for known in self._known for m, _, _ in known.layer.accesses}
        return [(memory, memory.space.signature) for memory in memories.values()]

    def touches(self, spans: Spans) -> bool:
        """Whether a layer reads or writes some of these bytes."""
        return any(
            spans.overlap(host, host + access.size)
            for known in self._known
            for _, access, host in known.layer.accesses
        )

    # -- running ------------------------------------------------------------------------------

    def banks(self) -> list[Bank]:
        """The banks of registers that it needs or changes, apart from counters."""
        stores = (*self._needs, *self._composed.stores, *self._actions[-1].stores)
        return list({id(bank): bank for bank, *_ in stores}.values())

    @property
    def plain(self) -> bool:
        """Whether what it leaves in registers follows from what was in them."""
        return not self._actions[-1].writes

    def begins(self, chip: Chip, steady: Steady | None = None) -> Held | None:
        """What has to be held while it runs, if everything is as it was when the steps were noted,
        but for the contents of memory. *steady*: registers are."""
        if steady is None:
            for bank, start, stop, values in self._needs:
                if bank[start:stop] != values:
                    return None
        for memory, signature in self._signatures:
            if signature is None or memory.space.signature != signature:
                return None
        if not chip.stands(self._before):
            return None
        if self._tables and not all(tables.same() for tables in self._tables):
            return None
        kept = chip.site.kept
        if self._taker is not None and not self._taker.finds_weights(kept, kept.entry):
            return None
        held: list[Entry | None] = []
        for weights in self._weights:
            entry = None if weights is None else weights.entry()
            if entry is None and weights is not None:
                return None
            held.append(entry)
        return held

    def run(
        self,
        held: Held,
        layers: Layers,
        entries: Sequence[Buffer],
        check: Callable[[], None],
        tell: Tell | None,
        steady: Steady | None = None,
        owed: Actions | None = None,
    ) -> int:
        """Compute; the next step to do. *held* is of :meth:`begins`. *check* is called in between,
        *tell* told what was done. *steady* leaves registers as the whole of it does; when it does
        less, what was *owed* before it is stored first. Raises NvdlaError when memory is short."""
        results, done, why = self._steps.results(), 0, native.End.LATE
        try:
            while why == native.End.LATE:
                check()
                start, begin = done, perf_counter_ns()
                done, why = self._steps.run(done, begin + ATTENTION_NS, results)
                if tell is not None and done > start:
                    found = self._steps.of_layers(results, start, done)
                    first = self.first + start
                    tell(Ran(self._known[start:done], first, first + done - start, begin, found))
        except MemoryError:
            raise NvdlaError(
                "not enough host memory for the working set of a layer", Status.INSUFFICIENT_MEMORY
            ) from None
        except BaseException:
            self._settle(layers, entries, held, done, results, steady, owed)
            raise
        self._settle(layers, entries, held, done, results, steady, owed)
        return self.first + done

    def _settle(
        self,
        layers: Layers,
        entries: Sequence[Buffer],
        held: Held,
        done: int,
        results: NDArray[np.int64],
        steady: Steady | None,
        owed: Actions | None,
    ) -> None:
        """Leave everything as it is behind *done* steps."""
        chip = layers.chip
        found = self._steps.of_layers(results, 0, done).tolist()
        if done < len(self._known):
            if owed is not None:
                owed.store()
            for number in range(done):
                layers.follow(self._known[number], found[number][1:], held[number])
                self._actions[number].apply(chip, entries)
            return
        if steady is None:
            self._composed.store()
        self._composed.happen(chip, entries)
        for bank, index in self._zeros:
            bank[index] = 0
        for (bank, index), number, which in self._counts:
            bank[index] = found[number][1 + which] & 0xFFFFFFFF
        if self._convolutions:
            number = self._convolutions[-1]
            buffer = self._known[number].layer.buffer
            assert buffer is not None
            chip.site.kept = buffer.kept(held[number])
        chip.settle(self._after, self._moves)
        if steady is None:
            self._actions[-1].store()
        else:
            steady.leave()
        self._actions[-1].happen(chip, entries)


def _steps(known: Known) -> list[native.Step]:
    """What its jobs call; empty for one that only Python can do."""
    steps = [getattr(job, "step", None) for job in known.layer.jobs]
    return [] if None in steps else [step for step in steps if step is not None]


def _weights(known: Known) -> native.Known | None:
    weights = known.layer.weights
    if weights is None or weights.host is None:
        return None
    entry = weights.entry()
    return None if entry is None else native.Known(weights.host, entry.raw)


class Spans:
    """Ranges of host addresses."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._first: list[int] = []
        self._last: list[int] = []
        for first, behind in sorted(spans):
            if self._last and first <= self._last[-1]:
                self._last[-1] = max(self._last[-1], behind)
            else:
                self._first.append(first)
                self._last.append(behind)

    def overlap(self, first: int, behind: int) -> bool:
        """Whether one of them shares a byte with another range."""
        index = bisect_right(self._first, behind - 1) - 1
        return index >= 0 and self._last[index] > first and first < behind


def _usable(note: Note) -> bool:
    known = note.known
    if known is None or note.before is None or note.after is None:
        return False
    layer = known.layer
    if layer.weights is not None and layer.weights.entry() is None:
        return False
    return bool(_steps(known))


def _follows(note: Note, actions: Sequence[Actions]) -> bool:
    """Whether a layer can be in a segment behind layers with *actions* in between."""
    if actions[-1].writes:
        return False  # what special registers do is done where it was
    assert note.known is not None
    tables = note.known.layer.tables
    return tables is None or all(
        bank is not tables.bank for between in actions for bank, *_ in between.stores
    )


def _finds_weights(note: Note, before: Sequence[Note]) -> bool:
    """Whether the layers *before* leave the weights that a layer takes from the convolution buffer.
    Where none of them is a convolution, it is seen when the segment begins."""
    assert note.known is not None
    layer = note.known.layer
    if not layer.takes_weights:
        return True
    for item in reversed(before):
        assert item.known is not None
        last = item.known.layer
        if last.buffer is not None:
            entry = None if last.weights is None else last.weights.entry()
            return layer.finds_weights(last.buffer, entry)
    return True


def segments(
    notes: Mapping[int, Note], actions: Sequence[Actions], private: Spans
) -> Iterator[Segment]:
    """The segments among noted steps of a plan. *private* is what only the firmware may touch
    while a segment runs."""
    run: list[int] = []
    for step in [*sorted(notes), -1]:
        usable = step >= 0 and _usable(notes[step])
        if usable and run and run[-1] == step - 1:
            between = _follows(notes[step], actions[run[0] : step])
            if between and _finds_weights(notes[step], [notes[n] for n in run]):
                run.append(step)
                continue
        if len(run) > 1:
            first, behind = run[0], run[-1] + 1
            segment = Segment(first, [notes[n] for n in run], actions[first:behind])
            if not segment.touches(private):
                yield segment
        run = [step] if usable else []
