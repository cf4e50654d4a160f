"""Functions of a ctypes library that say what their header declares."""

from __future__ import annotations

import ctypes
import inspect
from typing import Any


class CType(str):
    """A type as C spells it; shown without quotes in signatures."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Described:
    """Adds the header's words to a ctypes function; they are read when somebody asks."""

    __name__: str

    @property
    def _declared(self) -> tuple[str, str, tuple[tuple[str, str], ...]]:
        from .declarations import DECLARATIONS

        return DECLARATIONS[self.__name__]

    @property
    def __signature__(self) -> inspect.Signature:
        _, returns, parameters = self._declared
        only = inspect.Parameter.POSITIONAL_ONLY
        return inspect.Signature(
            [inspect.Parameter(n, only, annotation=CType(text)) for n, text in parameters],
            return_annotation=CType(returns),
        )

    def __repr__(self) -> str:
        header, returns, parameters = self._declared
        words = ", ".join(f"{name}: {text}" for name, text in parameters)
        return f"<{self.__name__}({words}) -> {returns} of {header}>"


def _doc(function: Described) -> str:
    header, _, _ = function._declared
    return f"{function.__name__}{inspect.signature(function)}\n\nDeclared in {header}."  # type: ignore[arg-type]


def describe(library: ctypes.CDLL) -> ctypes.CDLL:
    """The same library; what is looked up in it from now on is ``Described``."""
    plain: Any = library._FuncPtr
    names = {
        "_flags_": plain._flags_,  # ctypes looks for it in the class itself
        "_restype_": plain._restype_,
        "__doc__": property(_doc),
        "__module__": __name__,
    }
    library._FuncPtr = type("Function", (Described, plain), names)
    return library
