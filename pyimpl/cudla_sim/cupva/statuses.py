"""What became of each command, for as long as somebody may ask.

Nothing in the interface ends a ``cupvaCmdStatus_t``, and a program that runs for days makes
millions of them. So a command that ended well leaves nothing behind: every number that was given
out, is not pending and is not among the failures stands for success.
"""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from collections.abc import Iterable

from .errors import CupvaError, Error, error

FAILURES_KEPT = 1 << 16
_NONE = int(Error.CUPVA_ERROR_NONE)
# No handle (core/handles.py) and no address of a 48-bit process lies there.
_FIRST = 0x00D1_F000_0000_0000


class Status:
    """What became of one command of one submission; pending until it ended."""

    code = int(Error.CUPVA_OPERATION_PENDING)
    explanation = "the command has not ended yet"
    _listed: tuple[Statuses, int] | None = None

    def end(self, failure: CupvaError | None) -> None:
        self.explanation = failure.explanation if failure else ""
        self.code = failure.status if failure else _NONE
        if self._listed is not None:
            listing, number = self._listed
            if failure is not None:
                listing._keep(number, self)
            listing._pending.pop(number, None)


_SUCCESS = Status()
_SUCCESS.end(None)


class Statuses:
    """The statuses that a process was given."""

    _numbers = itertools.count(_FIRST)  # shared: a reset must not repeat numbers
    _newest = _FIRST - 1

    def __init__(self) -> None:
        self._before = Statuses._newest
        self._lock = threading.Lock()
        self._pending: dict[int, Status] = {}
        self._failed: OrderedDict[int, Status] = OrderedDict()
        self._forgotten = 0

    def find(self, number: int) -> Status:
        """Raises CupvaError: CUPVA_UNINITIALIZED_OBJECT for a number that was never given out,
        CUPVA_FENCE_STATUS_BUFFER_FAILURE for one among very many old failures."""
        found = self._pending.get(number) or self._failed.get(number)
        if found is not None:
            return found
        if not self._before < number <= Statuses._newest:
            raise error(
                Error.CUPVA_UNINITIALIZED_OBJECT,
                f"status ({number:#x}) was not written by a submission of this process"
                + (" since its reset" if _FIRST <= number <= self._before else ""),
            )
        if number <= self._forgotten:
            raise error(
                Error.CUPVA_FENCE_STATUS_BUFFER_FAILURE,
                f"status ({number:#x}) is gone: {FAILURES_KEPT} newer commands failed",
            )
        return _SUCCESS

    def publish(self, made: Iterable[Status]) -> list[int]:
        """The numbers by which a program asks; before the commands can end."""
        given = []
        lock = self._lock
        lock.acquire()  # twice as fast as ``with``
        try:
            for status in made:
                number = Statuses._newest = next(self._numbers)
                status._listed = (self, number)
                self._pending[number] = status
                given.append(number)
        finally:
            lock.release()
        return given

    def _keep(self, number: int, status: Status) -> None:
        with self._lock:
            self._failed[number] = status
            if len(self._failed) > FAILURES_KEPT:
                self._forgotten = max(self._forgotten, self._failed.popitem(last=False)[0])
