"""Enumerations of the generated modules, made when somebody names one.

CUDA's headers have 180, and Python takes longer to make all of them than it takes to start.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any


def enumerations(module: dict[str, Any]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a module whose ``_ENUMERATIONS`` has, by name, the members
    of each."""
    members: dict[str, dict[str, int]] = module["_ENUMERATIONS"]

    def find(name: str) -> Any:
        if name not in members:
            raise AttributeError(f"module {module['__name__']!r} has no attribute {name!r}")
        make: Any = IntEnum  # mypy expects a literal name
        kind = make(name, members[name], module=module["__name__"], qualname=name)
        return module.setdefault(name, kind)  # one class, whoever else makes it now

    return find, lambda: sorted({*module, *members})
