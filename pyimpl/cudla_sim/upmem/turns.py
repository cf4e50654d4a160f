"""Turns: which operation has the DPUs of a rank to itself.

The library does one job of a rank after the other, whichever threads asked for them. Here the jobs
of a rank's queue run in its thread and synchronous operations in the caller's; both take a turn on
each of their ranks first. An operation takes its turns on all ranks at once, so that no operation
waits for a turn while it has one.

Operations on a rank get their turns in the order in which they asked. An operation that waits for a
function of the program (a callback) keeps nobody waiting behind it: that function may wait for any
other operation.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from types import TracebackType

from ..native.compiled import Words
from ..native.dpu_memory import DpuCopies
from .memory import DPUS_PER_RANK

_QUEUED, _TAKEN, _WORDS = 0, 1, 4 + DPUS_PER_RANK
"""Words of a seat that C reads, too (shim/native/dpu_turn.h)."""


class Seat:
    """A rank as turns see it. ``words`` are shared with the C side, which copies without Python
    while no job is queued and no turn is taken or waited for."""

    def __init__(self) -> None:
        self.words = Words("uint32_t", _WORDS)
        self.holder: Turn | None = None
        self.asked = 0
        """Turns that are taken or waited for."""

    @property
    def queued(self) -> int:
        """Jobs that are queued or run."""
        return self.words[_QUEUED]

    @queued.setter
    def queued(self, count: int) -> None:
        self.words[_QUEUED] = count

    def count(self, change: int) -> None:
        self.asked += change
        self.words[_TAKEN] = int(self.asked > 0)


class Turns:
    """Those of one machine."""

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._waiting: list[Turn] = []

    def on(
        self,
        seats: Collection[Seat],
        *,
        calls: bool = False,
        inside: bool = False,
        unless: Callable[[], bool] | None = None,
    ) -> Turn:
        """A context in which the caller has these ranks to itself.

        Args:
            calls: the caller runs a function of the program meanwhile.
            inside: the caller is such a function; it passes by those that wait.
            unless: the context is entered without a turn as soon as this is true.
        """
        return Turn(self, seats, calls, inside, unless)

    def _take(self, turn: Turn) -> bool:
        with self._changed:
            for seat in turn.seats:
                seat.count(1)
            if not self._is_next(turn):
                self._waiting.append(turn)
                try:
                    while not self._is_next(turn):
                        if turn.unless is not None and turn.unless():
                            for seat in turn.seats:
                                seat.count(-1)
                            return False
                        self._changed.wait(None if turn.unless is None else LOOK_S)
                except BaseException:
                    for seat in turn.seats:
                        seat.count(-1)
                    raise
                finally:
                    self._waiting.remove(turn)
                    if self._waiting:
                        self._changed.notify_all()
            for seat in turn.seats:
                seat.holder = turn
        for seat in turn.seats:  # copies that C began before
            DpuCopies.await_turn(seat.words)
        return True

    def _give(self, turn: Turn) -> None:
        with self._changed:
            for seat in turn.seats:
                seat.holder = None
                seat.count(-1)
            if self._waiting:
                self._changed.notify_all()

    def _is_next(self, turn: Turn) -> bool:
        if any(seat.holder is not None for seat in turn.seats):
            return False
        if turn.inside:
            return True
        for earlier in self._waiting:
            if earlier is turn:
                break
            shared = not turn.seats.isdisjoint(earlier.seats)
            if shared and not any(s.holder is not None and s.holder.calls for s in earlier.seats):
                return False
        return True


class Turn:
    """See ``Turns.on``."""

    __slots__ = ("_taken", "_turns", "calls", "inside", "seats", "unless")

    def __init__(
        self,
        turns: Turns,
        seats: Collection[Seat],
        calls: bool,
        inside: bool,
        unless: Callable[[], bool] | None,
    ) -> None:
        self._turns = turns
        self.seats = frozenset(seats)
        self.calls = calls
        self.inside = inside
        self.unless = unless
        self._taken = False

    def __enter__(self) -> None:
        self._taken = bool(self.seats) and self._turns._take(self)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._taken:
            self._turns._give(self)


LOOK_S = 0.0005
"""How often an operation that may go on without a turn looks."""
