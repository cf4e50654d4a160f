"""The last explanation of each thread."""

from __future__ import annotations

import threading


class _PerThread(threading.local):
    def __init__(self) -> None:
        self.text = ""
        self.statuses: dict[str, int] = {}


_last = _PerThread()


def remember(text: str, family: str = "", status: int = 0) -> None:
    """Keeps why a call of this thread failed, and the status by which its API says so."""
    _last.text = text
    if family:
        _last.statuses[family] = status


def last() -> str:
    """The explanation of this thread's last failed call, "" when none failed yet."""
    return _last.text


def last_status(family: str) -> int:
    """The status of this thread's last failed call of an API family, 0 when none failed yet."""
    return _last.statuses.get(family, 0)
