"""What the Cupva* functions have in common: statuses, handles, values in the program's memory."""

from __future__ import annotations

import os
from typing import Any, TypeVar, cast

from ...constants import cupva_parameters
from ...core import process
from ...core.pages import accessible
from ...cupva.dataflow.base import DataFlow
from ...cupva.errors import CupvaError, Error, error, invalid
from ...cupva.machine import Pva, pva
from ...cupva.pointers import OffsetPointer, Pointer
from ...cupva.program import Program
from ..checked import CheckedFamily
from ..embedding import address, ffi

__all__ = [
    "CupvaError",
    "Error",
    "cupva",
    "error",
    "handle",
    "invalid",
    "machine",
    "object_of",
    "offset_pointer",
    "pointer_or_offset",
    "put",
    "put_part",
    "result",
    "uninitialized",
    "unsupported",
]

_LOOK_THEMSELVES = (
    "CupvaStreamSubmit",
    "CupvaFenceInit",
    "CupvaFenceWait",
    "CupvaCheckCommandStatus",
    "CupvaCmdRequestFencesInit",
    "CupvaCmdWaitOnFencesInit",
)
"""Called for each frame: they ask about all of their memory at once."""


cupva = CheckedFamily(
    "cupva",
    Error,
    cupva_parameters,
    error=CupvaError,
    bad_pointer=Error.CUPVA_INVALID_ARGUMENT,
    but=_LOOK_THEMSELVES,
)

T = TypeVar("T")


def machine() -> Pva:
    """The PVA; CUPVA_DMATIMEOUT (seconds, 0: never) says how long its DMA waits for a trigger."""
    found = pva()
    wish = os.environ.get("CUPVA_DMATIMEOUT", "")
    if wish.isdigit():
        found.dma_timeout_s = float(wish)
    return found


def result(pointer: Any, argument: str) -> None:
    """Raises CupvaError(CUPVA_INVALID_ARGUMENT) when there is no place for a result."""
    if not pointer:
        raise invalid(f"{argument} is NULL; it points to the result")


def handle(kind: str, target: object) -> int:
    return process.current().handles.add(kind, target)


def put(pointer: Any, ctype: str, kind: str, target: object) -> None:
    """Gives C a new handle."""
    pointer[0] = ffi.cast(ctype, handle(kind, target))


def put_part(
    pointer: Any, ctype: str, kind: str, target: object, owner: Program | DataFlow
) -> None:
    """Gives C a new handle that ends with the program of ``owner``."""
    number = handle(kind, target)
    owner.handles.append((kind, number))
    pointer[0] = ffi.cast(ctype, number)


def object_of(value: Any, kind: str, argument: str) -> Any:
    """The object behind a handle. Raises CupvaError(CUPVA_UNINITIALIZED_OBJECT)."""
    return cupva.resolve(value, kind, argument)


def uninitialized(what: str) -> CupvaError:
    return error(
        Error.CUPVA_UNINITIALIZED_OBJECT, f"{what} was not created (a default object, or zeroed)"
    )


def unsupported(explanation: str) -> CupvaError:
    return error(Error.CUPVA_UNSUPPORTED_FEATURE, explanation)


def offset_pointer(pointer: Any, argument: str) -> OffsetPointer:
    """The object in a ``cupvaOffsetPointer_t``."""
    if not accessible(address(pointer), ffi.sizeof("cupvaOffsetPointer_t")):
        raise invalid(f"{argument} ({address(pointer):#x}) is not memory of this process")
    if not pointer.data[0]:
        raise uninitialized(argument)
    return cast(OffsetPointer, cupva.resolve(int(pointer.data[0]), "OffsetPointer", argument))


def pointer_or_offset(pointer: Any, offset: Any, name: str) -> Pointer | None:
    """Of ptrX and opX exactly one may be set; None when neither is."""
    if pointer and offset:
        raise invalid(f"ptr{name} and op{name} are both set; one of them is")
    if offset:
        return offset_pointer(offset, f"op{name}")
    return address(pointer) or None
