"""Lists of what a program has made so far, which say so when something is not there yet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

T = TypeVar("T")


class Live(list[T]):
    """A list whose IndexError says *when*: what makes an element and what ends it."""

    def __init__(self, items: Iterable[T], what: str, when: str) -> None:
        super().__init__(items)
        self._what = what
        self._when = when

    def __getitem__(self, index: Any) -> Any:
        try:
            return super().__getitem__(index)
        except IndexError:
            count = f"there are {len(self)}" if self else "there is none yet"
            raise IndexError(f"{self._what}[{index}]: {count}; {self._when}") from None
