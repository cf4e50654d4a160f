"""What a forked child does first, in one list.

In the child only the thread that forked exists. Locks that others held stay taken for ever, queues
have no workers, open files are the parent's. Whoever keeps such a thing for the whole process, not
for one simulated ``Process``, names here what becomes of it; the order is that of registration.
Every way to fork comes by: ``os.fork`` in a Python program, fork() in a C program (boot.c in
shim/library).
"""

from __future__ import annotations

import os
from collections.abc import Callable

Reset = Callable[[], None]

_resets: list[Reset] = []


def in_child(reset: Reset) -> Reset:
    """``reset`` is called in each child, before any other code of this package; a decorator too."""
    _resets.append(reset)
    return reset


def _begin_child() -> None:
    for reset in _resets:
        reset()


os.register_at_fork(after_in_child=_begin_child)
