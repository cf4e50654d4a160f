"""The cffi objects of the native library this Python serves."""

from __future__ import annotations

from typing import Any

from . import _cudla_sim  # type: ignore[attr-defined]

ffi: Any = _cudla_sim.ffi
lib: Any = _cudla_sim.lib

if not lib.sim_bridge_connected():
    raise ImportError(
        "cudla_sim's extension is of another version than libcudla_sim.so: install cudla-sim again"
    )

_UINTPTR = ffi.typeof("uintptr_t")
_VOIDP = ffi.typeof("void *")


def address(pointer: Any) -> int:
    """The number in a pointer."""
    return int(ffi.cast(_UINTPTR, pointer))


def pointer(value: int) -> Any:
    """A ``void *`` with that number."""
    return ffi.cast(_VOIDP, value)
