"""Submissions that go to the VPU at once, from the thread that submits, and without another one.

Waking a thread costs more than a small program runs. So a submission of one program and requests
for fences, with nothing before it and without a limit of time, is handed to the worker of its
executable by the caller; and whoever waits for its fence waits for the worker itself. Where nobody
waits, a thread of the worker ends the submission (``workers.worker.VpuWorker.post``).
"""

from __future__ import annotations

from collections.abc import Callable

from ..core.fence import Fence
from .batch import Batch
from .commands import Barrier, RequestFences, RunProgram
from .errors import CupvaError
from .statuses import Status
from .sync import Help, SyncObj

Ended = Callable[[CupvaError | None], None]
Signal = tuple[SyncObj, int]
_FOLLOW = (RequestFences, Barrier)


def suits(batch: Batch, execution_us: int) -> bool:
    """One program, then fences; no limit of time."""
    if execution_us >= 0 or not isinstance(batch.commands[0], RunProgram):
        return False
    for number, command in enumerate(batch.commands):
        if number and not isinstance(command, _FOLLOW):
            return False
    return True


class Posted:
    """A submission whose program runs. ``done`` is reached when everything of it ended.

    ``signals``: of each command behind the program. ``statuses``: of all commands, or none, where
    nobody can ask for them.
    """

    __slots__ = ("_signals", "_statuses", "_tell", "done", "help")

    def __init__(
        self,
        signals: list[list[Signal]],
        statuses: list[Status],
        done: Fence,
        tell: Callable[[CupvaError], None],
    ) -> None:
        self.done = done
        self.help: Help = _at_once
        self._signals, self._statuses = signals, statuses
        self._tell = tell

    def begin(self) -> None:
        """Those who wait for its fences can help."""
        for signals in self._signals:
            for sync, value in signals:
                sync.helpers[value] = self

    def give_up(self) -> None:
        """It did not begin."""
        for signals in self._signals:
            for sync, value in signals:
                sync.helpers.pop(value, None)

    def wait(self) -> None:
        self.help(-1)
        self.done.wait()

    def end(self, failure: CupvaError | None) -> None:
        """Statuses and fences, in the order of the commands."""
        statuses = self._statuses
        if statuses:
            statuses[0].end(failure)
        if failure is not None:
            self._tell(failure)
        for number, signals in enumerate(self._signals, 1):
            for sync, value in signals:
                sync.helpers.pop(value, None)
                sync.signal(value)
            if statuses:
                statuses[number].end(None)


def _at_once(timeout_us: int) -> None:
    """Until there is somebody to help."""
