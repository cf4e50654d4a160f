"""What the compiler cannot do, said once for all nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """One node that cannot be compiled: why, and what would help.

    *node* is the name of an ONNX node (or several, joined by " + "), *operator* is what it is;
    *operators* are those of all its names where the model is known.
    """

    node: str
    operator: str
    reason: str
    cure: str = ""
    operators: tuple[str, ...] = ()

    def __str__(self) -> str:
        who = f"{self.operator} {self.node!r}"
        if len(self.operators) > 1:
            names = self.node.split(" + ")
            who = " + ".join(f"{op} {n!r}" for op, n in zip(self.operators, names, strict=True))
        text = f"{who}: {self.reason}"
        return f"{text}; {self.cure}" if self.cure else text


class CompileError(Exception):
    """The model, its calibration or an option is wrong: one sentence with the cure."""


class Refused(CompileError):
    """Nodes that the hardware (or this compiler) cannot do, all of them.

    *hints* are sentences about options of ``cudla-sim compile`` that have been tried and work.
    """

    def __init__(self, refusals: Sequence[Refusal], hints: Sequence[str] = ()) -> None:
        self.refusals = tuple(refusals)
        self.hints = tuple(hints)
        super().__init__("\n".join(self.lines()))

    def lines(self) -> list[str]:
        """What to tell the user, a line for each node and hint."""
        return [*map(str, self.refusals), *self.hints]


class Unsupported(Exception):
    """The node that is being read cannot be compiled: reason and cure."""

    def __init__(self, reason: str, cure: str = "") -> None:
        self.reason = reason
        self.cure = cure
        super().__init__(reason)
