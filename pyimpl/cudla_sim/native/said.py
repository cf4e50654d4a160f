"""What a submission of cuPVA says, in words (``shim/native/pva_said.c``)."""

from __future__ import annotations

from typing import Any

from .compiled import ffi, lib

_ROOM = 64


class Said:
    """What ``count`` commands say now; their fences follow a word that begins with ``mark``."""

    __slots__ = ("_count", "_mark", "_number", "_words")

    def __init__(self, commands: Any, count: int, mark: int) -> None:
        words = ffi.new("uint64_t[]", _ROOM)
        self._number = lib.sim_pva_said(commands, count, mark, words, _ROOM)
        self._count, self._mark, self._words = count, mark, words

    @property
    def words(self) -> list[int]:
        """None, when it is too much or no memory."""
        return list(self._words[0 : self._number])

    def again(self, commands: Any, count: int) -> bool:
        """Whether these commands say the same."""
        return count == self._count and bool(
            lib.sim_pva_same(commands, count, self._mark, self._words, self._number)
        )
