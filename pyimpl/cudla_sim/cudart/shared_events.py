"""Events that several processes record and wait for (cudaEventInterprocess).

A page of shared memory counts records: how many were made, and which was reached last. Who waits
looks at it again and again.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ..constants.cudart import cudaEventDisableTiming, cudaEventInterprocess
from .errors import invalid_handle
from .events import Event
from .shared_files import SharedFile, Ticket
from .state import State
from .streams import Stream

EVENT_MARK = b"cudaevt\0"
_SIZE = 4096
_COUNTS = struct.Struct("<QQQ")  # made, reached, the process that made the last
_FLAGS = cudaEventInterprocess | cudaEventDisableTiming
_SHORTEST_S, _LONGEST_S = 20e-6, 1e-3
_LOOKS = 200  # between two questions whether the other process is alive


class SharedEvent(Event):
    """``file`` is that of another process; None: a new one."""

    def __init__(self, context: State, flags: int, file: SharedFile | None = None) -> None:
        super().__init__(context, flags)
        self.file = file or SharedFile.create("cuda event", _SIZE)
        self._page = self.file.map()

    @classmethod
    def open(cls, context: State, ticket: Ticket) -> SharedEvent:
        """Raises CudaError (InvalidResourceHandle)."""
        if ticket.mark != EVENT_MARK:
            raise invalid_handle("handle is no handle of an event")
        try:
            return cls(context, _FLAGS, SharedFile.open(ticket))
        except (OSError, ValueError) as error:
            raise invalid_handle(
                f"handle names an event of process {ticket.process} that is gone: {error}"
            ) from None

    def ticket(self) -> Ticket:
        return self.file.ticket(EVENT_MARK)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        fcntl.lockf(self.file.descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.lockf(self.file.descriptor, fcntl.LOCK_UN)

    def record(self, stream: Stream) -> None:
        with self.context.lock:
            if stream.capture is None:
                with self._locked():
                    made, reached, _ = _COUNTS.unpack_from(self._page)
                    number = made + 1
                    _COUNTS.pack_into(self._page, 0, number, reached, os.getpid())
                stream.enqueue(lambda: self._reach(number), always=True)
            super().record(stream)

    def _reach(self, number: int) -> None:
        with self._locked():
            made, reached, process = _COUNTS.unpack_from(self._page)
            _COUNTS.pack_into(self._page, 0, made, max(reached, number), process)

    def hold(self, stream: Stream) -> None:
        if self.captured is not None or stream.capture is not None:
            super().hold(stream)
            return
        made, reached, _ = _COUNTS.unpack_from(self._page)
        if reached < made:
            stream.enqueue(lambda: self._wait(made))

    def _wait(self, number: int) -> None:
        pause, looks = _SHORTEST_S, 0
        while True:
            _, reached, process = _COUNTS.unpack_from(self._page)
            if reached >= number or (looks % _LOOKS == _LOOKS - 1 and not _alive(process)):
                return  # a process that has ended reaches nothing any more
            time.sleep(pause)
            pause, looks = min(_LONGEST_S, pause * 2), looks + 1

    @property
    def reached(self) -> bool:
        self._refuse_captured()
        made, reached, _ = _COUNTS.unpack_from(self._page)
        return bool(reached >= made)

    def synchronize(self) -> None:
        self._refuse_captured()
        self._wait(_COUNTS.unpack_from(self._page)[0])
        self.context.check()


def _alive(process: int) -> bool:
    with suppress(PermissionError):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
    return True


def create(context: State, flags: int) -> Event:
    """An event of the kind that the flags say. Raises CudaError (InvalidValue)."""
    if flags == _FLAGS or flags == _FLAGS | 1:
        return SharedEvent(context, flags)
    return Event(context, flags)
