"""The cffi objects of the extension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _compiled  # type: ignore[attr-defined]  # made by build_ffi.py

if TYPE_CHECKING:
    from array import array as numbers

    from numpy.typing import NDArray

ffi: Any = _compiled.ffi
lib: Any = _compiled.lib


class Words:
    """Integers that C code and Python share, all 0 at first. ``kind``: "uint32_t", "uint64_t"."""

    def __init__(self, kind: str, count: int) -> None:
        self._held = ffi.new(f"{kind}[]", count)
        self.address = int(ffi.cast("uintptr_t", self._held))
        """Where they lie, as long as this object lives."""

    def __getitem__(self, index: int) -> int:
        found: int = self._held[index]
        return found

    def __setitem__(self, index: int, value: int) -> None:
        self._held[index] = value

    def bytes(self) -> Any:
        """All of them, as a buffer that keeps them alive."""
        return ffi.buffer(self._held)


_VOIDP = ffi.typeof("void *")


def array(kind: str, values: NDArray[Any] | numbers[int]) -> Any:
    """A C array over the memory of a contiguous array."""
    return ffi.from_buffer(f"{kind}[]", values)


def pointer(value: int) -> Any:
    """A ``void *`` with that number."""
    return ffi.cast(_VOIDP, value)
