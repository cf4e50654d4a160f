"""Telling "the system has no more of something" from mistakes of our own."""

from __future__ import annotations

import errno

_ERRNOS = {
    errno.ENOMEM, errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT,
    errno.ENOBUFS,
}  # fmt: skip
# What Python raises as a plain RuntimeError, and the import system around a MemoryError.
_TEXTS = ("can't allocate lock", "can't start new thread", "can't allocate read lock")

# What becomes of a function of numpy's or Python's that failed without saying why.
_SILENT = ("without setting an exception", "without exception set")


def shortage(error: BaseException | None) -> str:
    """What the system had no more of, as a sentence; "" for every other kind of error.

    Errors that were raised while such an error was handled, or because of it, count as well.
    """
    seen = 0
    while error is not None and seen < 20:
        if isinstance(error, MemoryError):
            return str(error) or "out of memory"
        if isinstance(error, OSError) and error.errno in _ERRNOS:
            return f"the system refused: {error}"
        if isinstance(error, RuntimeError) and str(error) in _TEXTS:
            return f"out of memory: {error}"
        if isinstance(error, SystemError) and any(t in str(error) for t in _SILENT):
            return f"out of memory: {error}"
        error, seen = error.__cause__ or error.__context__, seen + 1
    return ""
