"""The last explanation of each thread."""

from __future__ import annotations

import threading


class _PerThread(threading.local):
    text = ""


_last = _PerThread()


def remember(text: str) -> None:
    _last.text = text


def last() -> str:
    """The explanation of this thread's last failed call, "" when none failed yet."""
    return _last.text
