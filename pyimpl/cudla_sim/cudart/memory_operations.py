"""Values in memory that streams wait for and write.

CUDA Driver API, "Stream Memory Operations".
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable

from ..constants.cudart import CUstreamWaitValue_flags_enum as Flags
from ..core.queue import Work
from . import transfer
from .errors import invalid_value, not_supported
from .memory import Memory
from .transfer import Range, Shape

_PATIENT_NS = 200_000  # how long a wait asks again at once; then it sleeps in between
_PAUSE_S = 0.0001
_CELLS = {4: ctypes.c_uint32, 8: ctypes.c_uint64}


def _meets(flags: int, size: int) -> Callable[[int, int], bool]:
    """Whether a value is what is waited for. Raises CudaError (InvalidValue)."""
    bits = 8 * size
    every = (1 << bits) - 1
    known: dict[int, Callable[[int, int], bool]] = {
        Flags.CU_STREAM_WAIT_VALUE_GEQ: lambda now, value: not ((now - value) & every) >> bits - 1,
        Flags.CU_STREAM_WAIT_VALUE_EQ: lambda now, value: now == value,
        Flags.CU_STREAM_WAIT_VALUE_AND: lambda now, value: now & value != 0,
        Flags.CU_STREAM_WAIT_VALUE_NOR: lambda now, value: now | value != every,
    }
    if flags not in known:
        raise invalid_value(f"flags is {flags:#x}; CU_STREAM_WAIT_VALUE_... has 0 to 3")
    return known[flags]


def _place(memory: Memory, address: int, size: int) -> Range:
    """Raises CudaError (InvalidValue)."""
    if address % size:
        raise invalid_value(f"address is {address:#x}; a multiple of {size}, the value's bytes")
    return transfer.check(memory, address, Shape(size, 1, size), "device", "address")


def waiting(
    memory: Memory, address: int, value: int, size: int, flags: int, over: Callable[[], object]
) -> Work:
    """Ends when the value meets the condition, or something is ``over``.

    Raises CudaError (InvalidValue, NotSupported)."""
    if flags & Flags.CU_STREAM_WAIT_VALUE_FLUSH:
        raise not_supported(
            "CU_STREAM_WAIT_VALUE_FLUSH, as CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES says"
        )
    meets, place = _meets(flags, size), _place(memory, address, size)

    def work() -> None:
        cell = _CELLS[size].from_address(place.address)
        end = time.perf_counter_ns() + _PATIENT_NS
        while not meets(cell.value, value) and not over():
            time.sleep(0 if time.perf_counter_ns() < end else _PAUSE_S)

    return work


def writing(memory: Memory, address: int, value: int, size: int) -> Work:
    """Raises CudaError (InvalidValue)."""
    place = _place(memory, address, size)

    def work() -> None:
        _CELLS[size].from_address(place.address).value = value

    return work
