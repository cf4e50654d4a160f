"""Modes of the units, as registers and descriptors number them.

Names of register fields, checks, the kernel-mode driver, ``Network``, the ONNX compiler and
listings follow from these. What a mode computes stands in its unit (``hw/units``).
Source: nvdla/hw register headers (master ``spec/manual/*.rdl``); nvdla/sw ``dla_interface.h``.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TypeVar

Mode = TypeVar("Mode", bound=IntEnum)


class Pooling(IntEnum):
    """Methods of PDP."""

    AVERAGE = 0
    MAX = 1
    MIN = 2


class Alu(IntEnum):
    """What an ALU of SDP does with its two operands; EQL only that of Y."""

    MAX = 0
    MIN = 1
    SUM = 2
    EQL = 3


class Rubik(IntEnum):
    """How RUBIK rearranges a cube."""

    CONTRACT = 0
    SPLIT = 1
    MERGE = 2


def word(kind: type[IntEnum], value: int) -> str:
    """The name of a mode in small letters; the number where there is none."""
    found = {int(m): m.name.lower() for m in kind}
    return found.get(value, str(value))


def by_word(kind: type[Mode]) -> dict[str, Mode]:
    """All modes by their names in small letters."""
    return {m.name.lower(): m for m in kind}
