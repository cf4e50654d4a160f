"""A firmware whose portability layer is somebody's C code.

C code of the host may throw, jump away or call back into us, so it must never run below a Python
frame. Therefore the host's thread stays outside: it starts an engine call, then asks for the next
*action* (some register accesses, a copy, an address), performs it with the foreign functions and
hands the answer back, until the action is "the call has returned". The firmware itself runs on a
thread of its own, which sleeps meanwhile. When the host's thread never comes back (an exception
went through the foreign function), the firmware's thread is sent home with the next call.

Register writes return nothing, so they are collected and travel with the next action that does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from queue import SimpleQueue

from ...core import threads
from ..errors import NvdlaError, Status
from .port import Destination, invalid

MAX_WRITES = 256
"""Register writes that one action carries at most."""


class Kind(IntEnum):
    """What the host's thread is asked to do after the writes."""

    RETURN = 0
    NOTHING = 1
    REG_READ = 2
    DATA_READ = 3
    DATA_WRITE = 4
    DMA_ADDRESS = 5
    TIME = 6


@dataclass(slots=True)
class Action:
    """One request. ``first``, ``second`` and ``third`` are the arguments, by kind."""

    kind: Kind
    writes: list[tuple[int, int]] = field(default_factory=list)
    first: int = 0
    second: int = 0
    third: int = 0
    data: bytearray = field(default_factory=bytearray)


class _Abandoned(BaseException):
    """The host's thread has left the call for good."""


class ForeignPort:
    """The firmware's side: every function is a request to the host's thread."""

    def __init__(self, talk: Conversation) -> None:
        self._talk = talk
        self._writes: list[tuple[int, int]] = []

    def _ask(self, action: Action) -> int:
        action.writes, self._writes = self._writes, []
        return self._talk.ask(action)

    def flush(self) -> None:
        """Send the writes that still wait."""
        if self._writes:
            self._ask(Action(Kind.NOTHING))

    def forget(self) -> None:
        """Drop the writes that still wait."""
        self._writes = []

    def reg_write(self, address: int, value: int) -> None:
        """Write a register."""
        self._writes.append((address, value))
        if len(self._writes) == MAX_WRITES:
            self.flush()

    def reg_read(self, address: int) -> int:
        """Read a register."""
        return self._ask(Action(Kind.REG_READ, first=address)) & 0xFFFFFFFF

    def data_read(self, source: int, size: int, offset: int) -> bytes:
        """Copy from a buffer of the task."""
        action = Action(Kind.DATA_READ, first=source, second=size, third=offset)
        action.data = bytearray(size)
        self._check("dla_data_read", self._ask(action))
        return bytes(action.data)

    def data_write(self, destination: int, data: bytes, offset: int) -> None:
        """Copy to a buffer of the task."""
        action = Action(Kind.DATA_WRITE, first=destination, second=len(data), third=offset)
        action.data = bytearray(data)
        self._check("dla_data_write", self._ask(action))

    def dma_address(self, index: int, destination: Destination) -> int:
        """Resolve an address list entry."""
        action = Action(Kind.DMA_ADDRESS, first=index, second=int(destination))
        action.data = bytearray(8)
        self._check("dla_get_dma_address", self._ask(action))
        return int.from_bytes(action.data, "little")

    def time_us(self) -> int:
        """Microseconds of the foreign clock."""
        return self._ask(Action(Kind.TIME))

    @staticmethod
    def _check(function: str, result: int) -> None:
        if result:
            raise invalid(f"the portability layer's {function} returned {result}")


class Conversation:
    """Runs calls on a thread of its own; the host's thread performs what they need."""

    def __init__(self) -> None:
        self.port = ForeignPort(self)
        self._actions: SimpleQueue[Action] = SimpleQueue()
        self._answers: SimpleQueue[int | None] = SimpleQueue()
        self._running = False
        self._result: object = None

    def ask(self, action: Action) -> int:
        """On the firmware's thread: have an action performed."""
        answers = self._answers  # those of this call: abandon() makes new ones
        self._actions.put(action)
        answer = answers.get()
        if answer is None:
            raise _Abandoned
        return answer

    def start(self, call: Callable[[], object]) -> None:
        """Begin a call; ``next`` gives its actions. One that was left behind ends first."""
        self.abandon()
        self._running = True

        def body() -> None:
            try:
                self._result = call()
                self.port.flush()
            except _Abandoned:
                return
            except BaseException as error:
                self._result = error
            self._actions.put(Action(Kind.RETURN))

        threads.start(body, "NVDLA firmware")

    def abandon(self) -> None:
        """End a call whose host thread does not come back."""
        if self._running:
            self._running = False
            left = self._answers
            self._actions, self._answers = SimpleQueue(), SimpleQueue()
            self.port.forget()
            left.put(None)

    def next(self) -> Action:
        """On the host's thread: wait for the next action."""
        if not self._running:
            raise NvdlaError("no call is in progress on this engine", Status.INVALID_STATE)
        action = self._actions.get()
        if action.kind == Kind.RETURN:
            self._running = False
        return action

    def answer(self, value: int) -> None:
        """On the host's thread: what the foreign function returned."""
        self._answers.put(value)

    def result(self) -> object:
        """What the call returned. Raises what it raised."""
        if isinstance(self._result, BaseException):
            raise self._result
        return self._result
