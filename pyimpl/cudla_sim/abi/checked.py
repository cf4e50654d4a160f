"""Families whose handlers are not reached by pointers to what is no memory of the process."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from enum import IntEnum
from functools import wraps
from typing import Any

from ..core.errors import ApiError
from ..core.pages import accessible
from .embedding import address, ffi, lib
from .entry import Family, Handler


class CheckedFamily(Family):
    """Asking about memory takes a microsecond: functions that are called for each frame are left
    out."""

    def __init__(
        self,
        name: str,
        statuses: type[IntEnum],
        declared: Any,
        *,
        error: type[ApiError],
        bad_pointer: int,
        only: Container[str] = (),
        but: Container[str] = (),
    ) -> None:
        """``bad_pointer``: the status. ``only`` names the functions, if not all ``but`` some."""
        super().__init__(name, statuses, declared, error=error)
        self._bad_pointer = bad_pointer
        self._only = only
        self._but = but

    def export(
        self, name: str, *, failure: Any = None, status: bool = True, always: bool = False
    ) -> Callable[[Handler], Handler]:
        attach = super().export(name, failure=failure, status=status, always=always)
        wanted = name in self._only if self._only else name not in self._but
        pointers = _pointers(name, self.parameters[name]) if wanted else []
        if not pointers:
            return attach

        def decorate(handler: Handler) -> Handler:
            @wraps(handler)
            def checked(*args: Any) -> Any:
                for at, size, argument in pointers:
                    given = args[at]
                    if given and not accessible(address(given), size):
                        raise self.error(
                            self._bad_pointer,
                            f"{argument} ({address(given):#x}) is not memory of this process",
                        )
                return handler(*args)

            attach(checked)
            return handler

        return decorate


def _pointers(name: str, parameters: Sequence[str]) -> list[tuple[int, int, str]]:
    """Of parameters that point to something of a known size: position, size, name."""
    found = []
    kinds = ffi.typeof(getattr(lib, "impl_" + name)).args
    for at, (kind, shown) in enumerate(zip(kinds, parameters, strict=True)):
        if kind.kind != "pointer" or kind.item.kind in ("void", "function"):
            continue
        with suppress(ffi.error):  # a handle: nobody knows what it points to
            found.append((at, ffi.sizeof(kind.item), shown.partition(":")[0].rstrip("*$")))
    return found
