"""Conditional nodes: graphs that run, again or not, by a value that kernels set.

CUDA Programming Guide, "Conditional Graph Nodes".
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Protocol

from ..constants.cudart import cudaGraphConditionalNodeType as Type


class Body(Protocol):
    """A graph, as conditions see it."""

    def run(self) -> None: ...


class Condition:
    """A value; kernels know its address, which is the handle. ``default``: what each launch begins
    with, None: what there was. ``kind``: that of the one node that reads it."""

    def __init__(self, default: int | None) -> None:
        self.default = default
        self.kind: Type | None = None
        self._value = ctypes.c_uint32(default or 0)

    @property
    def address(self) -> int:
        return ctypes.addressof(self._value)

    def begin(self) -> None:
        """A launch begins."""
        if self.default is not None:
            self._value.value = self.default

    def run(self, bodies: Sequence[Body]) -> None:
        """What the value says, at this moment of the launch."""
        value = self._value.value
        if self.kind == Type.cudaGraphCondTypeWhile:
            while self._value.value:
                bodies[0].run()
        elif self.kind == Type.cudaGraphCondTypeSwitch:
            if value < len(bodies):
                bodies[value].run()
        elif value:
            bodies[0].run()
        elif len(bodies) > 1:
            bodies[1].run()
