"""Opaque pointers for C: looked up by value, typed, never dereferenced, never used twice."""

from __future__ import annotations

import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from . import threads

# Handles lie in a range where no mapping of a 48-bit process can be, so that a real pointer is
# never mistaken for one, and a program that dereferences one stops at once.
_BASE = 0x00D1_A000_0000_0000
_STEP = 0x10
# Some 200 bytes each: a program that makes its objects anew for every frame fills this within a
# thousand frames, and has a steady size from then on.
_FREED_KEPT = 8192


class Freed(NamedTuple):
    kind: str
    by: str
    thread: str
    at: float


class BadHandle(Exception):
    """A handle that means nothing here; the text says which of the ways it is wrong."""


class HandleTable:
    """All live handles of a process, of every API, in one table.

    Values are not reused, so a stale handle is always recognised. ``get`` is the hot path.
    """

    _values = itertools.count(_BASE + _STEP, _STEP)  # shared: a reset must not repeat values

    def __init__(self) -> None:
        self._live: dict[int, tuple[str, Any]] = {}
        self._freed: OrderedDict[int, Freed] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, kind: str, target: Any) -> int:
        """Issues a handle for ``target``."""
        value = next(self._values)
        self._live[value] = (kind, target)
        return value

    def get(self, value: int, kind: str) -> Any:
        """The object behind ``value``. Raises BadHandle when it is not a live ``kind``."""
        entry = self._live.get(value)
        if entry is not None and entry[0] == kind:
            return entry[1]
        raise BadHandle(self.explain(value, kind))

    def find_one(self, value: int, kind: str) -> Any:
        """``get``, None where that raises."""
        entry = self._live.get(value)
        return entry[1] if entry is not None and entry[0] == kind else None

    def entries(self, values: Iterable[int]) -> list[tuple[int, tuple[str, Any]]]:
        """Those of some words that are live handles, for ``still``."""
        return [(value, entry) for value in values if (entry := self._live.get(value))]

    def still(self, entries: Iterable[tuple[int, tuple[str, Any]]]) -> bool:
        """Whether all of them are live."""
        live = self._live
        for value, entry in entries:  # noqa: SIM110 - every submission asks, and all() costs a call
            if live.get(value) is not entry:
                return False
        return True

    def remove(self, value: int, kind: str, by: str) -> Any:
        """Takes a handle out of use; ``by`` names the function, for later explanations.

        Of several threads that remove the same handle exactly one gets the object.
        """
        with self._lock:
            entry = self._live.get(value)
            if entry is None or entry[0] != kind:
                raise BadHandle(self.explain(value, kind))
            del self._live[value]
            self._note_freed(value, kind, by)
        return entry[1]

    def drop_all(self, by: str) -> None:
        """Makes every handle stale."""
        with self._lock:
            dropped, self._live = self._live, {}  # readers keep what they iterate over
            for value, (kind, _) in list(dropped.items()):
                self._note_freed(value, kind, by)

    def inherit_freed(self, older: HandleTable) -> None:
        """Takes over what an earlier table knew of freed handles."""
        self._freed.update(older._freed)

    def _note_freed(self, value: int, kind: str, by: str) -> None:
        self._freed[value] = Freed(kind, by, threads.name(), time.monotonic())
        if len(self._freed) > _FREED_KEPT:
            self._freed.popitem(last=False)

    def live(self, kind: str | None = None) -> list[Any]:
        """The live objects, oldest first."""
        # A copy of a dictionary is atomic, a list of its items is not.
        entries = self._live.copy().values()
        return [target for k, target in entries if kind is None or k == kind]

    def find(self, kind: str, matches: Callable[[Any], bool]) -> list[int]:
        """The live handles of a kind whose object matches."""
        entries = self._live.copy().items()
        return [v for v, (k, target) in entries if k == kind and matches(target)]

    def explain(self, value: int, kind: str) -> str:
        """Why ``value`` is not a usable ``kind``."""
        if value == 0:
            return f"is NULL; expected a {kind}"
        entry = self._live.get(value)
        if entry is not None:
            return f"({value:#x}) is a {entry[0]}; expected a {kind}"
        freed = self._freed.get(value)
        if freed is not None:
            ago = (time.monotonic() - freed.at) * 1e3
            return (
                f"({value:#x}) is stale: that {freed.kind} was freed by {freed.by} "
                f"{ago:.1f} ms ago in thread {freed.thread}"
            )
        return f"({value:#x}) was never issued by this library; expected a {kind}"
