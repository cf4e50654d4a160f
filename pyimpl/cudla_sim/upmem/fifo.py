"""WRAM FIFOs: queues between the host and DPUs that run (dpu_fifo.h; wramfifo.h on the DPU's side).

Positions count elements and never wrap. Of an input FIFO the host owns the write position, of an
output FIFO the read position. Source: dpu_memory.c and dpu_fifo.c of the SDK's library.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic, sleep
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..constants.dpu_protocol import WRAM_SIZE
from ..native.dpu_memory import Addresses, Place
from . import transfer
from .errors import Status, error
from .memory import WRAM_OFFSET
from .program import Program
from .rank import Dpu
from .symbols import Symbol

MAX_RETRIES = 1000
RETRY_US = 10
"""What dpu_link_input_fifo sets for pushes into a full FIFO."""

_MAX_PTR_SIZE = 10
_POSITIONS = 16  # bytes: read, then write
_SLOWER = 1000
"""A DPU that runs here may take that much longer than the chip to make room for an element."""

_READ, _WRITE = 0, 1


class Fifo(NamedTuple):
    """The FIFO of that name in the DPUs that hold one program."""

    name: str
    symbol: Symbol
    data: int
    """Address of the elements in WRAM, bytes."""
    ptr_size: int
    """Bits of a position: it has room for ``1 << ptr_size`` elements."""
    element: int
    """Bytes, a multiple of 8."""


def find(program: Program, name: str, dpu: Dpu, is_input: bool) -> Fifo:
    """Raises DpuError: DPU_ERR_UNKNOWN_SYMBOL, DPU_ERR_INVALID_WRAM_ACCESS for what is no FIFO."""
    symbol = program.symbol(name)
    data = program.symbol(f"__{name}_data")
    kind = "INPUT_FIFO_INIT" if is_input else "OUTPUT_FIFO_INIT"
    # The structure ends in two words behind two pointers, and one word more in output FIFOs; our
    # compiler has routes with pointers of 8 bytes.
    large = 40 if is_input else 48
    at = symbol.address + _POSITIONS + (16 if symbol.size >= large else 8)
    if symbol.memory != "wram" or data.memory != "wram" or at + 8 > WRAM_SIZE:
        raise error(
            Status.DPU_ERR_INVALID_WRAM_ACCESS,
            f"{name!r} is in {symbol.memory.upper()}, its elements in {data.memory.upper()}; a "
            f"FIFO ({kind} of wramfifo.h) is in WRAM",
        )
    ptr_size, element = dpu.bytes(WRAM_OFFSET + at, 8).view(np.uint32).tolist()
    if ptr_size > _MAX_PTR_SIZE or not element or element % 8 or element << ptr_size > data.size:
        raise error(
            Status.DPU_ERR_INVALID_WRAM_ACCESS,
            f"{name!r} says positions of {ptr_size} bits and elements of {element} bytes for "
            f"{data.size} bytes; is it made by {kind}? (at most {_MAX_PTR_SIZE} bits, a multiple "
            "of 8 bytes)",
        )
    return Fifo(name, symbol, data.address, ptr_size, element)


def _copy(
    dpus: list[Dpu],
    address: int,
    size: int,
    hosts: Addresses,
    to_dpu: bool,
    argument: str,
    counted: bool = True,
) -> None:
    """``counted``: as a transfer in hardware time."""
    store = dpus[0].rank.machine.store
    slots = np.array([dpu.slot for dpu in dpus], np.uint32)
    where = Place(store.base, WRAM_OFFSET + address, size, to_dpu)
    bad = store.transfer(where, slots, hosts)
    if bad >= 0:
        raise transfer.bad_buffer(int(hosts[bad]), size, argument, dpus[bad])
    if counted:
        transfer.note(where, dpus, same=False)


def _rows(array: NDArray[np.uint64]) -> Addresses:
    """Host addresses of the rows of a C-contiguous array."""
    return array.ctypes.data + np.arange(len(array), dtype=np.uint64) * np.uint64(array.strides[0])


def positions(fifo: Fifo, dpus: list[Dpu], counted: bool = True) -> NDArray[np.uint64]:
    """Read and write position of each DPU (uint64, n x 2)."""
    found = np.zeros((len(dpus), 2), np.uint64)
    hosts = _rows(found)
    _copy(dpus, fifo.symbol.address, _POSITIONS, hosts, False, "the FIFO's positions", counted)
    return found


def _set(fifo: Fifo, dpus: list[Dpu], which: int, values: NDArray[np.uint64]) -> None:
    kept = np.ascontiguousarray(values).reshape(-1, 1)
    address = fifo.symbol.address + 8 * which
    _copy(dpus, address, 8, _rows(kept), True, "the FIFO's positions")


def masked(fifo: Fifo, position: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The place of an element in the ring."""
    return position & np.uint64((1 << fifo.ptr_size) - 1)


def full(fifo: Fifo, found: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Of positions as ``positions`` gives them."""
    read, write = found[:, _READ], found[:, _WRITE]
    return (masked(fifo, read) == masked(fifo, write)) & (read != write)


def push(
    fifo: Fifo,
    dpus: list[Dpu],
    hosts: Addresses,
    seen: NDArray[np.uint64],
    max_retries: int,
    retry_us: int,
) -> None:
    """One element into the input FIFO of each DPU, from its host address; waits for those that are
    full. ``seen`` gets the positions before it (uint64, n x 2).

    Raises DpuError: DPU_ERR_WRAM_FIFO_FULL for DPUs that made no room, the others have theirs;
    DPU_ERR_INVALID_MEMORY_TRANSFER for a buffer that is not memory.
    """
    left = np.arange(len(dpus))
    asked = False
    for _ in _patience(dpus, max_retries, retry_us):
        waiting = [dpus[i] for i in left]
        transfer.together(waiting)
        # How often it is asked again depends on how slow DPUs are here.
        found = positions(fifo, waiting, counted=not asked)
        asked = True
        seen[left] = found
        stuck = full(fifo, found)
        places = masked(fifo, found[:, _WRITE])
        for place in np.unique(places[~stuck]):
            chosen = np.flatnonzero(~stuck & (places == place))
            some = [waiting[i] for i in chosen]
            address = fifo.data + int(place) * fifo.element
            _copy(some, address, fifo.element, hosts[left[chosen]], True, "the prepared buffer")
            _set(fifo, some, _WRITE, found[chosen, _WRITE] + np.uint64(1))
        left = left[stuck]
        if not len(left):
            return
    first = dpus[left[0]]
    raise error(
        Status.DPU_ERR_WRAM_FIFO_FULL,
        f"{len(left)} of {len(dpus)} DPUs (the first is {first.name}) have the "
        f"{1 << fifo.ptr_size} elements of the {fifo.name} full after {max_retries} retries of "
        f"{retry_us} us; the program {'takes none' if first.rank.running else 'does not run'}",
    )


def _patience(dpus: list[Dpu], max_retries: int, retry_us: int) -> Iterator[None]:
    """Once, and once for each retry; DPUs that run are given the time that they take here."""
    yield
    pause = retry_us / 1e6
    end = monotonic() + pause * max_retries * _SLOWER
    tries = 0
    while tries < max_retries or (
        monotonic() < end and any(dpu.rank.running for dpu in dpus) and max_retries
    ):
        sleep(pause)
        tries += 1
        yield


def flush(fifo: Fifo, dpus: list[Dpu], hosts: Addresses, emptied: list[Dpu]) -> NDArray[np.uint64]:
    """Empties the output FIFOs of *emptied*; the whole ring of each of *dpus* goes to its host
    address when any of them has an element.

    Gives the positions of *emptied* before it: what lies between them is new.

    Raises DpuError: DPU_ERR_INVALID_MEMORY_TRANSFER.
    """
    transfer.together(emptied)
    found = positions(fifo, emptied)
    if dpus and (found[:, _READ] != found[:, _WRITE]).any():
        _copy(dpus, fifo.data, fifo.element << fifo.ptr_size, hosts, False, "the prepared buffer")
    _set(fifo, emptied, _READ, found[:, _WRITE])
    return found
