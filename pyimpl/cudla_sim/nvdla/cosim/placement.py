"""Where buffers of a program lie in a memory with addresses of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...core.memory import AddressSpace, Bytes, Region, address_of, host_bytes
from ..errors import NvdlaError, Status
from ..facts.memory import PAGE
from ..kmd.list_port import Entry

BEHIND = 256
"""Zeros behind each buffer: weights and operands of SDP are fetched for whole groups of kernels and
whole atoms, past the end of what software stores, and what is read there reaches padding."""


class FlatSpace(AddressSpace):
    """An address space that hands out one range behind the other from *base* up to *end*."""

    def __init__(self, base: int, end: int, name: str) -> None:
        super().__init__(name)
        self._next = base
        self._end = end

    def allocate(
        self,
        size: int,
        *,
        name: str,
        align: int = PAGE,
        owner: object = None,
        margin: int = 0,
        behind: int = 0,
    ) -> Region:
        """Maps new zero-filled memory. Raises MemoryError when the range is used up."""
        base = -(-self._next // align) * align
        if base + size > self._end:
            raise MemoryError(
                f"{name} of {size} bytes would end at {base + size:#x}; {self.name} ends at"
                f" {self._end:#x}"
            )
        self._next = base + size + max(margin, behind, BEHIND)
        return self.map(base, size, name=name, data=np.zeros(size, np.uint8), owner=owner)


class Buffer(NamedTuple):
    """Bytes of the host, and the bus address that stands for the first of them."""

    host: int
    bus: int
    data: Bytes
    name: str


class Placement:
    """Gives each buffer that a task names a place in [base, base + size), the same every time."""

    def __init__(self, base: int, size: int) -> None:
        self._base, self._end = base, base + size
        self._next = base
        self._places: dict[tuple[int, int], int] = {}

    def place(self, entries: Sequence[Entry]) -> tuple[list[Buffer], list[Entry]]:
        """The buffers of an address list, and the list with their bus addresses.

        Raises NvdlaError (INSUFFICIENT_MEMORY) when they do not fit.
        """
        spans = _joined(entries)
        order = {entry.base: number for number, entry in reversed(list(enumerate(entries)))}
        wanted = sorted(  # the same addresses wherever the host has its memory
            ((base, len(data)) for base, data, _ in spans), key=lambda key: order[key[0]]
        )
        if not all(key in self._places for key in wanted) and not self._take(wanted):
            self._places.clear()
            self._next = self._base
            if not self._take(wanted):
                total = sum(size for _, size in wanted)
                raise NvdlaError(
                    f"the task's buffers have {total} bytes; the chip's memory has"
                    f" {self._end - self._base}",
                    Status.INSUFFICIENT_MEMORY,
                )
        buffers = [
            Buffer(base, self._places[base, len(data)], data, name) for base, data, name in spans
        ]
        return buffers, [_moved(entry, buffers) for entry in entries]

    def _take(self, wanted: list[tuple[int, int]]) -> bool:
        for key in wanted:
            if key in self._places:
                continue
            start = -(-self._next // PAGE) * PAGE
            if start + key[1] + BEHIND > self._end:
                return False
            self._places[key] = start
            self._next = start + key[1] + BEHIND
        return True


def _joined(entries: Sequence[Entry]) -> list[tuple[int, Bytes, str]]:
    """The buffers behind a list by address, each once; those that overlap are one."""
    found: list[tuple[int, Bytes, str]] = []
    present = {(e.base, len(e.data)): e for e in entries if not e.missing and len(e.data)}
    for base, size in sorted(present, key=lambda key: (key[0], -key[1])):
        entry = present[base, size]
        if not found or base >= found[-1][0] + len(found[-1][1]):
            found.append((base, entry.data, entry.name))
            continue
        first, data, name = found[-1]
        if base + size > first + len(data):
            if address_of(data) != first or address_of(entry.data) != base:
                raise NvdlaError(
                    f"{entry.name or 'a buffer'} at {base:#x} overlaps {name or 'another'} in part",
                    Status.INVALID_ADDRESS,
                )
            found[-1] = first, host_bytes(first, base + size - first), name
    return found


def _moved(entry: Entry, buffers: Sequence[Buffer]) -> Entry:
    for buffer in buffers:
        if not entry.missing and buffer.host <= entry.base < buffer.host + len(buffer.data):
            return entry._replace(base=buffer.bus + entry.base - buffer.host)
    return entry
