"""How long the host waits for a worker before it says so, and before it gives up.

A worker that a debugger or ``kill -STOP`` holds answers nobody, and neither does a program in an
endless loop: from outside both are a host that hangs. So every wait that has gone on for a while
says once what it waits for.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from ..core.events import warn

TELL_AFTER_S = 10.0
SETTING = "CUDLA_SIM_WORKER_TIMEOUT"


class Patience:
    """Of one wait, which began at ``begin`` (``monotonic``; now). ``limit_s``: seconds until it is
    given up, 0: never; ``what``: says what is waited for, when it is asked."""

    def __init__(self, limit_s: float, what: Callable[[], str], begin: float | None = None) -> None:
        begin = monotonic() if begin is None else begin
        self._what = what
        self._end = begin + limit_s if limit_s else None
        self._tell: float | None = begin + TELL_AFTER_S

    def left_s(self) -> float | None:
        """Until ``over()`` has something to do; None: it has not any more."""
        times = [time for time in (self._tell, self._end) if time is not None]
        return max(0.0, min(times) - monotonic()) if times else None

    def over(self) -> bool:
        """Says what is waited for, once, when it is time; True when the wait is given up."""
        now = monotonic()
        if self._end is not None and now >= self._end:
            return True
        if self._tell is not None and now >= self._tell:
            self._tell = None
            rest = "" if self._end else f"; {SETTING}=SECONDS gives up after that time"
            warn(f"has waited {TELL_AFTER_S:g} s for {self._what()}{rest}")
        return False


def given_up(limit_s: float) -> str:
    """Why a program was ended."""
    return f"it did not end in {limit_s:g} s ({SETTING})"


def process_state(pid: int) -> str:
    """``process 123``, and whether something holds it."""
    try:
        with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
            state = file.read().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        state = ""
    held = {
        "T": f", which is stopped: kill -CONT {pid} lets it go on",
        "t": ", which a debugger holds",
    }
    return f"process {pid}{held.get(state, '')}"
