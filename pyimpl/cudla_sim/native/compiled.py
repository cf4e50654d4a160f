"""The cffi objects of the extension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _compiled  # type: ignore[attr-defined]  # made by build_ffi.py

if TYPE_CHECKING:
    from numpy.typing import NDArray

ffi: Any = _compiled.ffi
lib: Any = _compiled.lib

_VOIDP = ffi.typeof("void *")


def array(kind: str, values: NDArray[Any]) -> Any:
    """A C array over the memory of a contiguous numpy array."""
    return ffi.from_buffer(f"{kind}[]", values)


def pointer(value: int) -> Any:
    """A ``void *`` with that number."""
    return ffi.cast(_VOIDP, value)
