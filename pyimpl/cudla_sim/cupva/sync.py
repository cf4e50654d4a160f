"""Sync objects and fences."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

from ..core.fence import Fence as CoreFence
from ..core.fence import Timeline, engine_clock_ns
from ..nvsci.sync import SyncObj as SharedSync
from .errors import Error, error

MAX_LIVE_FENCES = 512
"""Fences of one sync object whose time stamps are kept."""


Help = Callable[[int], None]
"""Waits for a program, up to a number of microseconds (below 0: for ever), and ends its
submission."""


class Helper(Protocol):
    """Who has a program that one can help."""

    help: Help


class SyncObj:
    """A counter that only grows. With time stamps it remembers when each value was reached."""

    def __init__(self, timestamps: bool = False) -> None:
        self.timestamps = timestamps
        self.timeline = Timeline("SyncObj", shown=True)
        self.helpers: dict[int, Helper] = {}
        """Submissions that will signal a value, and that one can help."""
        self._times: OrderedDict[int, int] = OrderedDict()

    def reserve(self) -> int:
        """The value that the next request will reach."""
        return self.timeline.reserve().value

    def signal(self, value: int) -> None:
        if self.timestamps:
            self._note(value)
        self.timeline.advance(value)

    def _note(self, value: int) -> None:
        self._times[value] = engine_clock_ns()
        while len(self._times) > MAX_LIVE_FENCES:
            self._times.popitem(last=False)

    def fence(self, value: int) -> CoreFence:
        return CoreFence(self.timeline, value)

    def time_ns(self, value: int) -> int:
        """When ``value`` was reached (ns, monotonic).

        Raises CupvaError: CUPVA_UNSUPPORTED_FEATURE without time stamps, CUPVA_INVALID_STATE when
        it is not reached yet, CUPVA_FENCE_STATUS_BUFFER_FAILURE when it is too long ago.
        """
        if not self.timestamps:
            raise error(
                Error.CUPVA_INVALID_STATE,
                "the SyncObj was created without time stamps (isTimeStamp = true)",
            )
        if self.timeline.value < value:
            raise error(Error.CUPVA_INVALID_STATE, "the fence has not expired yet; wait for it")
        found = self._times.get(value)
        if found is None:
            raise error(
                Error.CUPVA_FENCE_STATUS_BUFFER_FAILURE,
                f"the time stamp is gone: the SyncObj had {MAX_LIVE_FENCES} newer fences",
            )
        return found


class NvSciSync(SyncObj):
    """A sync object of NvSci that the PVA signals or waits for; ``shared`` belongs to all who use
    it."""

    def __init__(self, shared: SharedSync) -> None:
        super().__init__(shared.has_timestamps)
        self.shared = shared
        self.timeline = shared.timeline

    def signal(self, value: int) -> None:
        if self.timestamps:
            self._note(value)
        self.shared.signal(value)


def wait(sync: SyncObj, value: int, timeout_us: int) -> bool:
    """Waits up to ``timeout_us`` microseconds (negative: forever); False when it ran out."""
    begin = engine_clock_ns()
    helped = sync.helpers.get(value)
    if helped is not None:
        helped.help(timeout_us)
    left = None
    if timeout_us >= 0:
        left = max(0.0, timeout_us / 1e6 - (engine_clock_ns() - begin) / 1e9)
    return sync.timeline.wait(value, left, begin)
