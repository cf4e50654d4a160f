"""A submission that comes again: what the objects of its commands came to the last time.

A program submits the same commands for every frame. Whoever finds that they say what they said
(``abi/cupva/again.py``) has them begin from this record; the objects of a submission are most of
what a small one costs.
"""

from __future__ import annotations

from .batch import Batch
from .commands import Command, FencePlace, RequestFences, RunProgram
from .statuses import Status
from .sync import SyncObj

MOST_KNOWN = 4
"""Submissions that a stream remembers."""


class Again:
    """``commands`` as they were taken; ``original``: the first as the program has it, whose
    parameters and dataflows may change."""

    __slots__ = ("_places", "commands", "in_order", "original", "program")

    def __init__(self, original: RunProgram, commands: list[Command], in_order: bool) -> None:
        taken = commands[0]
        assert isinstance(taken, RunProgram), "posted.suits() looked"
        self.original, self.program = original, taken.program
        self.commands, self.in_order = commands, in_order
        self._places: list[list[tuple[FencePlace, SyncObj]]] = [
            [(place, place.sync()) for place in command.fences]
            if isinstance(command, RequestFences)
            else []
            for command in commands[1:]
        ]

    def renew(self) -> bool:
        """Takes the program as it is now. False: it cannot be taken as ever; raises CupvaError for
        what is wrong with it."""
        if self.original.program.pointed:
            return False
        taken = self.original.taken()
        taken.check()
        self.program, self.commands = taken.program, [taken, *self.commands[1:]]
        return True

    def reserve(self) -> list[list[tuple[SyncObj, int]]]:
        """Promises the values of its fences, of each command behind the program."""
        promised = []
        for places in self._places:
            signals = []
            for place, sync in places:
                value = sync.reserve()
                place.put(value)
                signals.append((sync, value))
            promised.append(signals)
        return promised

    def batch(self, signals: list[list[tuple[SyncObj, int]]], statuses: list[Status]) -> Batch:
        """The same as a submission that has begun."""
        made = Batch(self.commands, self.in_order)
        made.begun = True
        made.signals = dict(enumerate(signals, 1))
        made.statuses = statuses or made.statuses
        return made
