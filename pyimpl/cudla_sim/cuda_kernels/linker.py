"""The linker of programs and modules: gold, where the machine has it.

GNU ld keeps and restores all symbols that it knows for each library that may be left out
(``--as-needed``); with libstdc++'s six thousand that takes longer than compiling a small kernel.
gold takes a third of the time. Where a user has words for the linker, they are GNU ld's, and where
gold refuses something GNU ld says why.

Source: GCC manual, "Options for Linking" (``-fuse-ld``); ld manual, "--as-needed".
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from ..workers.precompiled import can

_GOLD = "-fuse-ld=gold"
_USERS = ("-Wl,", "-Xlinker", "-T", "-fuse-ld", "-static", "-fsanitize", "-pg", "-fprofile", "-B")
"""Words with which the choice is the user's, or the linker has more to do than to link."""


def faster(compiler: str, words: Sequence[str]) -> list[str]:
    """Words for g++ that choose gold; none where it is not there, or *words* (the user's for the
    link) speak of the linker."""
    if not can(compiler) or shutil.which("ld.gold") is None:
        return []
    return [] if any(word.startswith(_USERS) for word in words) else [_GOLD]
