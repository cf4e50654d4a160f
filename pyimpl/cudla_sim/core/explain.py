"""The last explanation of each thread."""

from __future__ import annotations

import threading
from collections.abc import Callable

Listener = Callable[[str, str, int], None]
"""Is told the text, the family and its status."""

_listeners: list[Listener] = []


class _PerThread(threading.local):
    def __init__(self) -> None:
        self.text = ""
        self.statuses: dict[str, int] = {}


_last = _PerThread()


def remember(text: str, family: str = "", status: int = 0, *, told: bool = True) -> None:
    """Keeps why a call of this thread failed, and the status by which its API says so. Listeners
    hear of it where it is ``told``."""
    _last.text = text
    if family:
        _last.statuses[family] = status
        for listener in _listeners if told else ():
            listener(text, family, status)


def listen(listener: Listener) -> None:
    """Calls *listener* for each failing call of an API, in the thread that calls."""
    _listeners.append(listener)


def last() -> str:
    """The explanation of this thread's last failed call, "" when none failed yet."""
    return _last.text


def last_status(family: str) -> int:
    """The status of this thread's last failed call of an API family, 0 when none failed yet."""
    return _last.statuses.get(family, 0)
