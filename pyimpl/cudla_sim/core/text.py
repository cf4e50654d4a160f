"""Text that came from files, for terminals, logs and pages."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text with everything that a terminal would not show as a character spelled out
    (``\\x1b``, ``\\n``, marks that turn the direction of writing): a name cannot write over what
    stands beside it."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
