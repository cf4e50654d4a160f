"""Plans: what the firmware did with a task, to be done again without it.

The firmware's register and memory accesses follow from the descriptors of a task, its address list
and the state of the register file when it starts. A :class:`Recorder` notes them while the firmware
runs; a :class:`Plan` repeats them as long as all of these are what they were, byte by byte. The
chip computes in between as ever: launches, layers, interrupts and registers are the same.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ..descriptors import OpType
from ..hw.chip import Chip
from ..kmd.event_loop import serve
from ..kmd.firmware import FirmwareEngine
from ..kmd.list_port import Entries, Entry, ListPort, places
from .actions import Actions, Bytes, Contents, Steady, contents
from .layer import Prepared
from .layers import Layers
from .recorder import Groups, Recorder
from .segment import Held, Note, Ran, Segment, Spans, segments

LIMIT, STEPS = 64, 4096
"""Plans that a core keeps, and their steps in all (some KiB each). Each set of buffers has its
own."""

VARIANTS = 4
"""Segments of a plan that it keeps with the same first step."""

SEARCHES = 64
"""Segments that a plan describes in its life."""


class Operations(Protocol):
    """Who knows which operation is in a register group."""

    def operation_of(self, op_type: OpType, group: int, /) -> int:
        """Index of the operation, -1 if there is none."""


class Plan:
    """A recorded task: the ``descriptors`` it holds for, what to do before the first step of the
    chip and behind each, and the operations in the register groups at each step.

    Steps that compute known layers become segments.
    """

    def __init__(
        self,
        descriptors: list[Bytes],
        first: Actions,
        rest: list[Actions],
        operations: list[Groups],
    ) -> None:
        self.descriptors = descriptors
        self._compared = [(n, start, start + len(data), data) for n, start, data in descriptors]
        self.first = first
        self.rest = rest
        self.operations = operations
        self.segments: dict[int, list[Segment]] = {}
        """By their first steps: those for other registers that tasks before may leave behind."""
        self._recorded: dict[int, Note] = {}
        self._foreseen: dict[int, Prepared] = {}
        self._noted: dict[int, Prepared] = {}
        self._doubtful = False
        self._searches = 0
        self._step = 0
        self._steady: tuple[Segment, Steady] | None = None
        """The segment that did all of the last run, and the registers around it."""

    def holds(self, entries: Sequence[Entry]) -> bool:
        """Whether the descriptors are those that were recorded."""
        # A loop: with a generator each of them is a function. Bytes are compared as a block, views
        # number by number.
        for buffer, start, stop, data in self._compared:
            if entries[buffer].data.data[start:stop].tobytes() != data:
                return False
        return True

    def private(self, entries: Sequence[Entry]) -> Spans:
        """Where the bytes lie that firmware reads and writes."""
        bases: dict[int, int] = {}
        spans = []
        written = [item for actions in (self.first, *self.rest) for item in actions.memory]
        for buffer, offset, data in (*self.descriptors, *written):
            if buffer not in bases:
                bases[buffer] = entries[buffer].data.__array_interface__["data"][0]
            spans.append((bases[buffer] + offset, bases[buffer] + offset + len(data)))
        return Spans(spans)

    def operation_of(self, op_type: OpType, group: int) -> int:
        """As the firmware would say it of the layer that was just computed."""
        return self.operation_at(self._step, op_type, group)

    def operation_at(self, step: int, op_type: OpType, group: int) -> int:
        """The same for the layer of a step."""
        return self.operations[step][op_type, group]

    def run(
        self,
        layers: Layers,
        entries: Sequence[Entry],
        check: Callable[[], None],
        tell: Callable[[Ran, Plan], None] | None = None,
        quiet: bool = False,
    ) -> bool:
        """Do everything again; *check* is called between layers and may raise. Whether segments
        did it all, as far as there can be some.

        *quiet*: nobody looks in between; layers that are known are then computed in segments, and
        *tell* is told of them.
        """
        chip = layers.chip
        told = None if tell is None else lambda ran: tell(ran, self)
        steady, candidate, held_before = None, None, Contents()
        if quiet and self._steady is not None and self._steady[1].stands():
            steady = self._steady[1]
            self.first.happen(chip, entries)
        else:
            if quiet and (candidate := self._whole()) is not None:
                banks = [bank for bank, *_ in self.first.stores]
                held_before = contents([*banks, *candidate.banks()])
            self.first.apply(chip, entries)
        notes: dict[int, Note] = {}
        step = 0
        while step < len(self.rest):
            found = self._beginning(step, chip, steady) if quiet else None
            if found is None and steady is not None:
                steady = None
                self.first.store()
                continue
            if found is not None:
                segment, held = found
                owed = None if steady is None else self.first
                step = segment.run(held, layers, entries, check, told, steady, owed)
                steady = None
                if step == segment.last:
                    if segment is candidate:
                        self._steady = segment, Steady(held_before)
                    continue
                self.segments[segment.first].remove(segment)
                self._steady = None
                self._doubtful = True
            self._step = step
            check()
            if quiet:
                before = chip.position
                _, known = layers.advance()
                notes[step] = Note(known, before, chip.position)
            else:
                chip.advance()
            self.rest[step].apply(chip, entries)
            step += 1
        if not notes:
            return True
        return not self.search(notes, self.private(entries))

    def _whole(self) -> Segment | None:
        """A segment that does everything, and leaves in registers what follows from them."""
        if self.first.writes:
            return None
        whole = (s for s in self.segments.get(0, ()) if s.last == len(self.rest) and s.plain)
        return next(whole, None)

    def _beginning(
        self, step: int, chip: Chip, steady: Steady | None
    ) -> tuple[Segment, Held] | None:
        """The segment that can run now, and what has to be held meanwhile. *steady*: only the one
        that ran as a whole."""
        if steady is not None and self._steady is not None:
            segment = self._steady[0]
            held = segment.begins(chip, steady)
            return None if held is None else (segment, held)
        for segment in self.segments.get(step, ()):
            held = segment.begins(chip)
            if held is not None:
                return segment, held
        return None

    def recorded(self, notes: dict[int, Note], private: Spans) -> None:
        """Find segments among the steps when they were recorded."""
        self._recorded = notes
        self._foreseen = _layers(notes)
        self.search(notes, private)

    def foresee(self, layers: Layers, private: Spans) -> None:
        """Find segments for registers as they stand now, idle.

        What the plan does not store it finds as other tasks left it: behind the first task, as a
        reset left it. Whether it holds is seen when a segment begins, as ever.
        """
        if self._doubtful:
            return
        banks: dict[int, list[int]] = {}
        notes: dict[int, Note] = {}
        for step, actions in enumerate([self.first, *self.rest[:-1]]):
            for bank, start, stop, values in actions.stores:
                banks.setdefault(id(bank), bank.copy())[start:stop] = values
            note = self._recorded.get(step)
            if note is not None and note.known is not None:
                groups = [banks.get(id(bank), bank).copy() for bank in note.known.pattern.banks]
                known = layers.with_registers(note.known, groups)
                if known is None:
                    return
                notes[step] = note._replace(known=known)
        found = _layers(notes)
        if not _same(found, self._foreseen):
            self._foreseen = found
            self.search(notes, private)

    def search(self, notes: dict[int, Note], private: Spans) -> bool:
        """Find segments among the steps of a run; whether there are some.

        When one ended early, the layers must have been the same twice: those whose weights change
        all the time are not worth it.
        """
        noted = _layers(notes)
        same = _same(noted, self._noted)
        self._noted = noted
        if (self._doubtful and not same) or self._searches == SEARCHES:
            return False
        self._doubtful = False
        self._noted = {}
        found = list(segments(notes, self.rest, private))
        for segment in found:
            self._searches += 1
            known = self.segments.setdefault(segment.first, [])
            known.insert(0, segment)
            del known[VARIANTS:]
        return bool(found)


def _layers(notes: Mapping[int, Note]) -> dict[int, Prepared]:
    """The known layers by their steps."""
    return {step: note.known.layer for step, note in notes.items() if note.known is not None}


def _same(one: dict[int, Prepared], other: dict[int, Prepared]) -> bool:
    return one.keys() == other.keys() and all(layer is other[step] for step, layer in one.items())


UNUSED = 4
"""Plans that are recorded at first sight and not used before tasks have to be seen twice."""


class Plans:
    """The plans of one chip, with its known *layers*. Tasks are told apart by address list and
    state of the register file; the first equal one is recorded, the second where tasks rarely
    come again."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        self._plans: OrderedDict[Any, Plan | None] = OrderedDict()
        self._unused = 0

    def run(
        self,
        entries: Sequence[Entry],
        check: Callable[[], None],
        firmware: Callable[[Any], FirmwareEngine],
        tell: Callable[[Operations], None],
        kind: Any = None,
        quiet: bool = False,
        ran: Callable[[Ran, Plan], None] | None = None,
    ) -> None:
        """Run a task, by its plan where there is one.

        *firmware* makes the one for a port, always the same for the same *kind*. *tell* is told
        before the first layer who knows the operations. *quiet*: nobody looks at single layers
        while they run; *ran* is told of those that were computed together.
        """
        chip = self._layers.chip
        state = None if chip.pending else chip.csb.idle_state()
        where = entries.places if isinstance(entries, Entries) else places(entries)
        key = (kind, state, where)
        plan = self._plans.get(key)
        if plan is not None and plan.holds(entries):
            self._plans.move_to_end(key)
            self._unused = 0
            tell(plan)
            if plan.run(self._layers, entries, check, ran, quiet):
                return
        elif state is None or (self._unused >= UNUSED and key not in self._plans):
            engine = firmware(ListPort(chip, entries))
            tell(engine)
            serve(chip, engine, check)
            if state is not None:
                self._keep(key, None)
            return
        else:
            self._unused += 1
            self._keep(key, self._recorded(self._layers, entries, check, firmware, tell, quiet))
        # Something was new, so it may be for the next task, too.
        following = self._plans.get((kind, chip.csb.idle_state(), where))
        if following is not None and quiet:
            following.foresee(self._layers, following.private(entries))

    @staticmethod
    def _recorded(
        layers: Layers,
        entries: Sequence[Entry],
        check: Callable[[], None],
        firmware: Callable[[Any], FirmwareEngine],
        tell: Callable[[Operations], None],
        quiet: bool,
    ) -> Plan | None:
        chip = layers.chip
        recorder = Recorder(chip, entries)
        engine = recorder.firmware = firmware(recorder)
        tell(engine)
        notes: dict[int, Note] = {}

        def advance() -> bool:
            recorder.step()
            before = chip.position
            progress, known = layers.advance()
            notes[len(notes)] = Note(known, before, chip.position)
            return progress

        with chip.noting_writes() as written:
            serve(chip, engine, check, advance)
        if not recorder.sound:
            return None
        plan = Plan(*recorder.noted())
        private = plan.private(entries)  # a layer that writes there tells the firmware something
        if any(private.overlap(*span) for span in written):
            return None
        if quiet:
            plan.recorded(notes, private)
        return plan

    def _keep(self, key: Any, plan: Plan | None) -> None:
        self._plans[key] = plan
        self._plans.move_to_end(key)
        while len(self._plans) > 1 and (
            len(self._plans) > LIMIT or sum(map(_steps, self._plans.values())) > STEPS
        ):
            self._plans.popitem(last=False)


def _steps(plan: Plan | None) -> int:
    return 0 if plan is None else len(plan.rest)
