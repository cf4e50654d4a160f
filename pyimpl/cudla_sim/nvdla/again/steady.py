"""Registers around runs of a plan that one segment does as a whole.

Such a run stores the same numbers in the same registers each time. So when registers are before it
what they were before an earlier one, they are behind it what they were then: a comparison of whole
banks takes the place of a hundred stores.
"""

from __future__ import annotations

from collections.abc import Iterable

Bank = list[int]
Contents = list[tuple[Bank, list[int]]]


def contents(banks: Iterable[Bank]) -> Contents:
    """What banks hold, each once."""
    return [(bank, bank.copy()) for bank in {id(bank): bank for bank in banks}.values()]


class Steady:
    """What banks held *before* a run whose end is now."""

    def __init__(self, before: Contents) -> None:
        self._before = before
        self._changed = [(bank, bank.copy()) for bank, values in before if bank != values]

    def stands(self) -> bool:
        """Whether they hold that again."""
        # mostly the same objects, of which a comparison sees nothing but the addresses
        return all(bank == values for bank, values in self._before)

    def leave(self) -> None:
        """Has them hold what they held behind that run."""
        for bank, values in self._changed:
            bank[:] = values
