"""Writing loadables: the container, and the lists of a task.

``Network``, which makes one of layers and numpy weights, is a front of the compiler; its public
names are here, and the compiler is imported with the first use of one.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Image: Any
    Network: Any
    Tensor: Any

__all__ = ["Image", "Network", "Tensor"]

_FRONT = "cudla_sim.compiler.layers"


def __getattr__(name: str) -> Any:
    """A public name of the front. Raises AttributeError for any other."""
    if name in __all__:
        return getattr(import_module(_FRONT), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
