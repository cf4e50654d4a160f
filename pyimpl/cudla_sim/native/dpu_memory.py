"""Copies between host memory and the memories of many DPUs (``shim/native/dpu_copy.c``)."""

from __future__ import annotations

import os
import threading
from array import array
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from .. import lazy
from .compiled import Words, ffi, lib, pointer
from .compiled import array as c_array

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..constants.native_types import sim_dpu_sg
else:
    np = lazy.module("numpy")

_FAR = 0x2000_0000_0000
"""Far from where Linux puts programs, libraries and what they map."""

Slots: TypeAlias = "NDArray[np.uint32]"
Addresses: TypeAlias = "NDArray[np.uint64]"
Numbers: TypeAlias = "array[int] | NDArray[np.uint32] | NDArray[np.uint64]"
"""Slots or addresses without numpy, whose import takes longer than a small program."""


def slot_numbers(found: Iterable[int]) -> array[int]:
    """As C wants slots: 32 bits each."""
    return array("I", found)


def host_addresses(found: Iterable[int]) -> array[int]:
    """As C wants addresses: 64 bits each."""
    return array("Q", found)


_PROBLEMS = {
    lib.SIM_SG_DONE: "",
    lib.SIM_SG_BLOCKS: "blocks",
    lib.SIM_SG_LENGTH: "length",
    lib.SIM_SG_ADDRESS: "address",
    lib.SIM_SG_MEMORY: "memory",
    lib.SIM_SG_THREAD: "thread",
    lib.SIM_SG_OVERLAP: "overlap",
}


class Place(NamedTuple):
    """``size`` bytes at ``offset`` of the slots (see ``upmem.memory``) that lie at ``base``."""

    base: int
    offset: int
    size: int
    to_dpu: bool


class SgResult(NamedTuple):
    """What became of a scatter/gather transfer; the numbers say where it failed."""

    problem: str
    """"" (done), "blocks" (too many), "length" (sum differs), "address" (not memory),
    "memory" (the host has none left), "thread" (the host gives none), "overlap" (see ``other``)."""
    dpu: int = 0
    block: int = 0
    found: int = 0
    """Bytes that the blocks of the DPU have, the address that is not memory, or that of a block
    that overlaps another one."""
    other: tuple[int, int] | None = None
    """DPU and block that share bytes with this one."""


def _place(place: Place) -> Any:
    return ffi.new("struct sim_dpu_place *", place._asdict())


class Clearing:
    """Bytes of the memory file that are on their way back to the system."""

    def __init__(self, file: int, offset: int, size: int) -> None:
        self._lock = threading.Lock()
        self._job = lib.sim_dpu_clear(file, offset, size)

    def wait(self) -> None:
        """Until they read as zero. Harmless when repeated."""
        with self._lock:
            job, self._job = self._job, ffi.NULL
            lib.sim_dpu_cleared(job)


class Mapping:
    """The memory file in this process, as long as this object or a view of it lives.

    ``grows``: where there is most room behind it, if the system lets it choose. Raises OSError when
    the system has no addresses for it.
    """

    def __init__(self, file: int, size: int, grows: bool = False) -> None:
        self.base = int(lib.sim_dpu_map(file, size, _FAR if grows else 0))
        if not self.base:
            raise OSError(ffi.errno, os.strerror(ffi.errno))
        self.size = size
        self._parts = [self._owner(self.base, size)]

    @staticmethod
    def _owner(start: int, size: int) -> Any:
        return ffi.gc(pointer(start), lambda _: lib.sim_dpu_unmap(start, size))

    def grow(self, file: int, size: int) -> None:
        """Maps what follows in the file behind what is mapped. Raises OSError where the addresses
        behind are in use."""
        start, more = self.base + self.size, size - self.size
        if not lib.sim_dpu_map_at(start, file, self.size, more):
            raise OSError(ffi.errno, os.strerror(ffi.errno))
        self._parts.append(self._owner(start, more))
        self.size = size
        self.__dict__.pop("bytes", None)

    @cached_property
    def bytes(self) -> NDArray[np.uint8]:
        """All of it."""
        parts = tuple(self._parts)  # which the view keeps alive
        whole = ffi.gc(pointer(self.base), lambda _: parts)
        return np.frombuffer(ffi.buffer(whole, self.size), np.uint8)


class DpuCopies:
    """The interpreter lock is free while bytes move."""

    @staticmethod
    def keeps_to(end: int, unit: int, offset: int, size: int) -> bool:
        """Whether ``size`` bytes at ``offset`` of a slot may be copied: the same question that C
        asks where it copies without Python."""
        return bool(lib.sim_dpu_may_copy(end, unit, offset, size))

    @staticmethod
    def transfer(place: Place, slots: Numbers, hosts: Numbers) -> int:
        """Copies between each slot and its host address (0: skipped).

        Nothing is copied when a host range is not memory of this process; the answer is the index
        of the first such one, -1 when all is well.
        """
        return int(
            lib.sim_dpu_transfer(
                _place(place), c_array("uint32_t", slots), c_array("uint64_t", hosts), len(slots)
            )
        )

    @staticmethod
    def await_turn(words: Words) -> None:
        """Waits for the end of a copy that C code makes on a rank, whose ``words`` these are."""
        lib.sim_dpu_await_turn(ffi.cast("uint32_t *", words.address))

    @staticmethod
    def clear(file: int, offset: int, size: int) -> Clearing:
        """Begins to give memory back."""
        return Clearing(file, offset, size)

    @staticmethod
    def zero(file: int, base: int, offset: int, size: int) -> None:
        """Zeroes bytes of the memory file, which is mapped at ``base``, and keeps them."""
        lib.sim_dpu_zero(file, base, offset, size)

    @staticmethod
    def transfer_address() -> int:
        """Where the C function of ``transfer`` lies, for other C code of this process."""
        return int(ffi.cast("uintptr_t", ffi.addressof(lib, "sim_dpu_transfer")))

    @staticmethod
    def scatter_gather(
        place: Place,
        slots: Slots,
        indexes: Slots,
        function: int,
        arguments: int,
        max_blocks: int,
        check_length: bool,
        most_compared: int = 0,
        overlap_fails: bool = False,
        token: int = 0,
    ) -> SgResult:
        """Collects all blocks of all DPUs first, checks them, then copies: in ascending block
        number, and for each number over all DPUs. Nothing is copied when something is wrong.

        ``function`` and ``arguments``: addresses of a get_block function and of what it is called
        with; ``indexes``: the DPU numbers that it is called with. ``most_compared``: a copy to the
        host of up to so many blocks is looked through for some that overlap each other. ``token``:
        what ``Calls.dpu_token`` answers in the function.
        """
        described: sim_dpu_sg = {
            "function": pointer(function),
            "arguments": pointer(arguments),
            "max_blocks": max_blocks,
            "check_length": check_length,
            "most_compared": most_compared,
            "overlap_fails": overlap_fails,
            "token": token,
        }
        job = ffi.new("struct sim_dpu_sg *", described)
        found = ffi.new("struct sim_dpu_sg_result *")
        status = lib.sim_dpu_scatter_gather(
            _place(place),
            c_array("uint32_t", slots),
            c_array("uint32_t", indexes),
            len(slots),
            job,
            found,
        )
        return SgResult(
            problem=_PROBLEMS[status],
            dpu=found.dpu,
            block=found.block,
            found=found.found,
            other=(found.other_dpu, found.other_block) if found.overlaps else None,
        )
