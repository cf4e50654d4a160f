"""Bulk copies between host buffers and the same place in the memory of many DPUs.

The functions are replaced by C versions that release the interpreter lock
(``abi/upmem/copying.py``); the ones here do the same with ctypes, slower.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..core.pages import accessible
from .memory import MRAM_SIZE, STRIDE, WRITTEN_OFFSET

Slots = NDArray[np.uint32]
Addresses = NDArray[np.uint64]


class Place(NamedTuple):
    """``size`` bytes at ``offset`` of the slots (see ``memory``) that lie at ``base``."""

    base: int
    offset: int
    size: int
    to_dpu: bool

    @property
    def in_mram(self) -> bool:
        return self.offset < MRAM_SIZE


class Transfer(Protocol):
    def __call__(self, place: Place, slots: Slots, hosts: Addresses) -> int:
        """Copies between each slot and its host address (0: skipped).

        Nothing is copied when a host range is not memory of this process; the answer is the index
        of the first such one, -1 when all is well.
        """
        ...


class SgResult(NamedTuple):
    """What became of a scatter/gather transfer; the numbers say where it failed."""

    problem: str
    """"" (done), "blocks" (too many), "length" (sum differs), "address" (not memory),
    "memory" (the host has none left)."""
    dpu: int = 0
    block: int = 0
    found: int = 0
    """Bytes that the blocks of the DPU have, or the address that is not memory."""


class ScatterGather(Protocol):
    def __call__(
        self,
        place: Place,
        slots: Slots,
        indexes: Slots,
        function: object,
        arguments: object,
        max_blocks: int,
        check_length: bool,
    ) -> SgResult:
        """Collects all blocks of all DPUs first, checks them, then copies: in ascending block
        number, and for each number over all DPUs. Nothing is copied when something is wrong.
        ``indexes`` are the DPU numbers that the get_block function is called with."""
        ...


def _transfer(place: Place, slots: Slots, hosts: Addresses) -> int:
    pairs = [(s, h) for s, h in zip(slots.tolist(), hosts.tolist(), strict=True)]
    for index, (_, host) in enumerate(pairs):
        if host and not accessible(host, place.size):
            return index
    for slot, host in pairs:
        if not host:
            continue
        start = place.base + slot * STRIDE
        here = start + place.offset
        ctypes.memmove(*((here, host) if place.to_dpu else (host, here)), place.size)
        if place.to_dpu and place.in_mram:
            bits = (ctypes.c_uint8 * (MRAM_SIZE >> 6)).from_address(start + WRITTEN_OFFSET)
            mark(np.ctypeslib.as_array(bits), place.offset, place.size)
    return -1


def _scatter_gather(*_: object) -> SgResult:
    raise RuntimeError("scatter/gather needs the native library")


transfer: Transfer = _transfer
scatter_gather: ScatterGather = _scatter_gather  # type: ignore[assignment]


def install(fast: Transfer, sg: Callable[..., SgResult]) -> None:
    """Puts the C versions in place."""
    global transfer, scatter_gather
    transfer, scatter_gather = fast, sg


def mark(written: NDArray[np.uint8], offset: int, size: int) -> None:
    """Sets the "written" bits of MRAM bytes [offset, offset + size)."""
    first, last = offset >> 3, (offset + size + 7) >> 3  # 8-byte words
    if first >= last:
        return
    low, high = (first + 7) >> 3, last >> 3
    if low <= high:
        written[low:high] = 0xFF
        if first & 7:
            written[low - 1] |= (0xFF << (first & 7)) & 0xFF
        if last & 7:
            written[high] |= (1 << (last & 7)) - 1
    else:
        written[first >> 3] |= (0xFF << (first & 7)) & ((1 << (last & 7)) - 1)
