"""Structures of C that a worker is sent, filled by name."""

from __future__ import annotations

from ctypes import Structure
from typing import TypeVar

T = TypeVar("T", bound=Structure)


def filled(kind: type[T], /, **members: int | Structure) -> T:
    """One with these members, the others are 0. ctypes alone would cut numbers off.

    Raises OverflowError for a number that a member cannot hold.
    """
    made = kind(**members)
    for name, value in members.items():
        getattr(kind, name)  # ctypes takes any name
        if isinstance(value, int) and getattr(made, name) != value:
            raise OverflowError(f"{kind.__name__}.{name} cannot hold {value}")
    return made
