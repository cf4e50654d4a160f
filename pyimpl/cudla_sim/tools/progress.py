"""What a long command is doing: one line on the terminal, from the second second on; elsewhere, in
logs of CI, a line now and then."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from ..core.text import printable, tell

T = TypeVar("T")
DELAY = 1.0
"""Seconds of work before a line appears."""
_EVERY = 0.2
LOG_EVERY = 15.0
"""Seconds between lines where there is no terminal; nothing is said of shorter work."""
_BAR = 24
_LOG_WIDTH = 160


class Progress:
    """Text and counts of a piece of work."""

    def __init__(self, what: str, total: int = 0) -> None:
        self.what = what
        self.total = total
        self.done = 0
        self._begin = time.monotonic()
        self._shown = False
        self._ended = threading.Event()

    def at(self, done: int, what: str = "") -> None:
        """So much is done; *what* replaces the text."""
        self.done = done
        self.what = what or self.what

    def of(self, done: int, total: int) -> None:
        """So much is done of so much."""
        self.total = total
        self.done = done

    def beside(self, say: Callable[[str], None]) -> Callable[[str], None]:
        """*say*, with the line out of its way."""

        def told(text: str) -> None:
            self._wipe()
            say(text)

        return told

    def _wipe(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def line(self, width: int = 80) -> str:
        """The line as it is now, at most *width* characters."""
        seconds = f"{time.monotonic() - self._begin:.0f} s"
        if self.total:
            full = _BAR * min(self.done, self.total) // self.total
            bar = f"[{'#' * full}{'-' * (_BAR - full)}] {self.done}/{self.total}  {seconds}"
            return printable(f"{bar}  {self.what}")[:width]
        count = f" {self.done}" if self.done else ""
        return printable(f"{self.what}{count}  {seconds}")[:width]

    def _draw(self) -> None:
        while not self._ended.wait(_EVERY):
            if time.monotonic() - self._begin >= DELAY:
                self._shown = True
                width = shutil.get_terminal_size().columns - 1
                sys.stderr.write(f"\r\x1b[K{self.line(width)}")
                sys.stderr.flush()

    def _log(self) -> None:
        while not self._ended.wait(LOG_EVERY):
            tell(f"cudla-sim: {self.line(_LOG_WIDTH)}")

    @contextmanager
    def shown(self) -> Iterator[Progress]:
        """Shows the line while the block runs, and takes it away behind it."""
        show = self._draw if sys.stderr.isatty() else self._log
        drawing = threading.Thread(target=show, daemon=True)
        drawing.start()
        try:
            yield self
        finally:
            self._ended.set()
            drawing.join()
            self._wipe()


def each(items: Iterable[T], what: str, total: int = 0) -> Iterator[T]:
    """The items, one after the other, counted on the terminal."""
    with Progress(what, total).shown() as progress:
        for number, item in enumerate(items):
            progress.at(number, f"{what} {getattr(item, 'name', '')}".rstrip())
            yield item
