"""The C functions of the native libraries, called from this Python process through ctypes.

The library finds the interpreter that is already running, so the objects that C creates are those
that ``cudla_sim.dla`` and its siblings show. ``help(load().cudlaSubmitTask)`` and
``inspect.signature`` tell what the header declares.
"""

from __future__ import annotations

import ctypes
import functools
from typing import TYPE_CHECKING

from .. import paths
from . import prototypes
from .described import describe

if TYPE_CHECKING:
    from .generated.functions import Functions
else:
    Functions = object


class CApi(Functions):
    """Attributes are the exported functions, with argument and result types set.

    AttributeError for a name that no header declares.
    """

    def __init__(self) -> None:
        self._libraries = [
            describe(ctypes.CDLL(str(file)))
            for file in (paths.library(), paths.lib_dir() / "libcudart_sim.so")
        ]

    if not TYPE_CHECKING:  # a type checker knows all names

        def __getattr__(self, name: str) -> ctypes._CFuncPtr:
            if name not in prototypes.PROTOTYPES:
                raise AttributeError(f"no header declares {name}")
            for library in self._libraries:
                try:
                    function = getattr(library, name)
                except AttributeError:
                    continue
                function.restype, function.argtypes = prototypes.PROTOTYPES[name]
                setattr(self, name, function)
                return function
            raise AttributeError(f"{name} is declared but not exported")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *prototypes.PROTOTYPES]


@functools.cache
def load() -> CApi:
    """The one CApi of this process."""
    return CApi()
