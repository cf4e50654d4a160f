"""What firmware does between two steps of the chip, as values to be stored again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..hw.chip import Chip
from ..hw.csb import BlockState
from ..kmd.list_port import Entry

Bank = list[int]
"""Registers by word offset."""

Store = tuple[Bank, int, int, list[int]]
"""A bank of registers, first index, index behind the last, values."""

Bytes = tuple[int, int, bytes]
"""Number of the buffer, offset in it, contents."""


@dataclass(slots=True)
class Actions:
    """What happens between two steps of the chip: plain registers, pointers, interrupts, other
    special registers, memory, groups that become enabled."""

    stores: list[Store] = field(default_factory=list)
    pointers: list[tuple[BlockState, int]] = field(default_factory=list)
    enables: list[tuple[list[bool], int]] = field(default_factory=list)
    cleared: int = 0
    mask: int | None = None
    writes: list[tuple[int, int]] = field(default_factory=list)
    memory: list[Bytes] = field(default_factory=list)

    def apply(self, chip: Chip, entries: Sequence[Entry]) -> None:
        self.store()
        self.happen(chip, entries)

    def store(self) -> None:
        """The plain registers."""
        for bank, first, last, values in self.stores:
            bank[first:last] = values

    def happen(self, chip: Chip, entries: Sequence[Entry]) -> None:
        """All but the plain registers."""
        for state, producer in self.pointers:
            state.producer = producer
        if self.enables:
            for enabled, group in self.enables:
                enabled[group] = True
            chip.touch()
        glb = chip.csb.glb
        glb.status &= ~self.cleared
        if self.mask is not None:
            glb.mask = self.mask
        for address, value in self.writes:
            chip.write(address, value)
        for buffer, offset, data in self.memory:
            entries[buffer].data.data[offset : offset + len(data)] = data


class Registers:
    """Values of registers by bank and index; the last one put there counts."""

    def __init__(self) -> None:
        self.values: dict[tuple[int, int], int] = {}
        self._banks: dict[int, list[int]] = {}

    def put(self, bank: list[int], index: int, value: int) -> None:
        """Set one."""
        self._banks[id(bank)] = bank
        self.values[id(bank), index] = value

    def stores(self) -> list[Store]:
        """All of them, neighbours together."""
        result: list[Store] = []
        for (bank, index), value in sorted(self.values.items()):
            last = result[-1] if result else None
            if last is not None and last[0] is self._banks[bank] and last[2] == index:
                last[3].append(value)
                result[-1] = (last[0], last[1], index + 1, last[3])
            else:
                result.append((self._banks[bank], index, index + 1, [value]))
        return result


def joined(found: Iterable[Bytes]) -> list[Bytes]:
    """Bytes that do not overlap, neighbours together."""
    result: list[tuple[int, int, bytearray]] = []
    for buffer, offset, data in sorted(found):
        if result and result[-1][0] == buffer and result[-1][1] + len(result[-1][2]) == offset:
            result[-1][2].extend(data)
        else:
            result.append((buffer, offset, bytearray(data)))
    return [(buffer, offset, bytes(data)) for buffer, offset, data in result]


def settled(found: Iterable[Bytes]) -> list[Bytes]:
    """What bytes hold that were written one after the other."""
    memory: dict[tuple[int, int], int] = {}
    for buffer, offset, data in found:
        for position, value in enumerate(data, offset):
            memory[buffer, position] = value
    return joined((buffer, offset, bytes([value])) for (buffer, offset), value in memory.items())


Contents = list[tuple[Bank, list[int]]]
"""Banks with what they held at some time."""


def contents(banks: Iterable[Bank]) -> Contents:
    """What banks hold, each once."""
    return [(bank, bank.copy()) for bank in {id(bank): bank for bank in banks}.values()]


class Steady:
    """What banks held *before* a run whose end is now, which one segment did as a whole.

    Such a run stores the same numbers in the same registers each time. So when registers are before
    it what they were before an earlier one, they are behind it what they were then: a comparison of
    whole banks takes the place of a hundred stores.
    """

    def __init__(self, before: Contents) -> None:
        self._banks = [bank for bank, _ in before]
        self._before = [values for _, values in before]
        self._changed = [(bank, bank.copy()) for bank, values in before if bank != values]

    def stands(self) -> bool:
        """Whether they hold that again."""
        # mostly the same objects, of which a comparison sees nothing but the addresses
        return self._banks == self._before

    def leave(self) -> None:
        """Has them hold what they held behind that run."""
        for bank, values in self._changed:
            bank[:] = values
