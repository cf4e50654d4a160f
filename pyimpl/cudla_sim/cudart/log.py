"""Why calls of CUDA failed, as a driver keeps it for the program.

CUDA Programming Guide, "Error Log Management": lines of ``[Time][TID][Source][Severity][API Entry
Point] Message`` in 25600 bytes, the oldest of which go first.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

ROOM = 25600
"""Bytes (CUDA Driver API, cuLogsDumpToMemory)."""
VARIABLE = "CUDA_LOG_FILE"
"""``stdout``, ``stderr``, or the path of a file that gets the lines as they come."""
TRUNCATED = "(older messages are not there any more)"

Told = Callable[[str], None]


class Log:
    """Lines by their numbers from 0 on, and who is told of each."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: deque[str] = deque()
        self._first = 0
        self._bytes = 0
        self._told: dict[int, Told] = {}
        self._ids = itertools.count(1)
        self._telling = threading.local()

    @property
    def end(self) -> int:
        """The number of the line that comes next."""
        return self._first + len(self._lines)

    def add(self, function: str, message: str) -> None:
        """One more line, of the calling thread and this moment."""
        now = datetime.now().strftime("%H:%M:%S.%f")[:-3]
        flat = " ".join(message.split("\n"))
        line = f"[{now}][{threading.get_native_id()}][CUDA][E][{function}] {flat}"
        with self._lock:
            self._lines.append(line)
            self._bytes += len(line.encode()) + 1
            while self._bytes > ROOM and len(self._lines) > 1:
                self._bytes -= len(self._lines.popleft().encode()) + 1
                self._first += 1
            told = list(self._told.values())
        _write(line)
        if getattr(self._telling, "now", False):
            return  # a function that is told has made a call that fails
        self._telling.now = True
        try:
            for each in told:
                each(line)
        finally:
            self._telling.now = False

    def since(self, begin: int) -> list[str]:
        """Lines from *begin* on; the first one says so where some of them are gone."""
        with self._lock:
            lost = begin < self._first
            lines = list(itertools.islice(self._lines, max(begin - self._first, 0), None))
        return [TRUNCATED, *lines] if lost else lines

    def register(self, told: Told) -> int:
        """The number by which it is taken back."""
        number = next(self._ids)
        with self._lock:
            self._told[number] = told
        return number

    def unregister(self, number: int) -> bool:
        with self._lock:
            return self._told.pop(number, None) is not None


def fitting(lines: list[str], room: int) -> str:
    """The newest lines within *room* bytes with the zero at the end, each with its newline; a line
    before them says that some are left out. Empty where not one fits."""
    text = "".join(f"{line}\n" for line in lines)
    if len(text.encode()) < room:
        return text
    kept: list[str] = []
    left = room - 1 - len(f"{TRUNCATED}\n")
    for line in reversed(lines):
        left -= len(line.encode()) + 1
        if left < 0:
            break
        kept.insert(0, line)
    return "".join(f"{line}\n" for line in [TRUNCATED, *kept]) if kept else ""


def _write(line: str) -> None:
    where = os.environ.get(VARIABLE)
    if not where:
        return
    try:
        if where in ("stdout", "stderr"):
            stream = sys.stdout if where == "stdout" else sys.stderr
            print(line, file=stream, flush=True)
        else:
            with Path(where).open("a") as file:
                print(line, file=file)
    except OSError:
        return  # a log that cannot be written must not disturb the call


LOG = Log()
"""Of this system process, as the driver's: calls that fail before there is a device count, too."""
