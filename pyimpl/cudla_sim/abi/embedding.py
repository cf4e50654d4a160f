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


def _realise() -> None:
    """Make all types of the headers now: cffi makes them when they are first looked at, and two
    threads that do that at once can abort inside it."""
    seen: set[Any] = set()

    def look(kind: Any) -> None:
        if kind in seen:
            return
        seen.add(kind)
        if kind.kind in ("struct", "union"):
            try:
                ffi.sizeof(kind)
            except ffi.error:  # opaque
                return
            for _, member in kind.fields or ():
                look(member.type)
        elif kind.kind in ("pointer", "array"):
            look(kind.item)
        elif kind.kind == "function":
            look(kind.result)
            for parameter in kind.args:
                look(parameter)

    for prefix, names in zip(("", "struct ", "union "), ffi.list_types(), strict=True):
        for name in names:
            look(ffi.typeof(prefix + name))


_realise()

UINTPTR = ffi.typeof("uintptr_t")
_VOIDP = ffi.typeof("void *")


def address(pointer: Any) -> int:
    """The number in a pointer."""
    return int(ffi.cast(UINTPTR, pointer))


def pointer(value: int) -> Any:
    """A ``void *`` with that number."""
    return ffi.cast(_VOIDP, value)
