"""What the compiler cannot do, said once for all nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """One node that cannot be compiled: why, and what would help."""

    node: str
    operator: str
    reason: str
    cure: str = ""

    def __str__(self) -> str:
        text = f"{self.operator} {self.node!r}: {self.reason}"
        return f"{text}; {self.cure}" if self.cure else text


class CompileError(Exception):
    """The model, its calibration or an option is wrong: one sentence with the cure."""


class Refused(CompileError):
    """Nodes that the hardware (or this compiler) cannot do, all of them."""

    def __init__(self, refusals: Sequence[Refusal]) -> None:
        self.refusals = tuple(refusals)
        super().__init__("\n".join(str(item) for item in self.refusals))


class Unsupported(Exception):
    """The node that is being read cannot be compiled: reason and cure."""

    def __init__(self, reason: str, cure: str = "") -> None:
        self.reason = reason
        self.cure = cure
        super().__init__(reason)
