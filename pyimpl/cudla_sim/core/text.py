"""Text that came from files, for terminals, logs and pages."""

from __future__ import annotations

import sys


def printable(text: str) -> str:
    """The text with everything that a terminal would not show as a character spelled out
    (``\\x1b``, ``\\n``, marks that turn the direction of writing): a name cannot write over what
    stands beside it."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def because(error: OSError, where: object = "") -> str:
    """What the system refused and why; *where* stands for the file that the error does not name."""
    place = error.filename or where
    said = error.strerror or str(error)
    return f"{place}: {said}" if place else said


def tell(text: str) -> None:
    """The lines of *text* on stderr, printable: what commands say of errors, and the log."""
    sys.stderr.write("".join(f"{printable(line)}\n" for line in text.split("\n")))
