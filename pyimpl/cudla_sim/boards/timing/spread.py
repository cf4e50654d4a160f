"""How far an estimate may be off, by what decides an operation's time."""

from __future__ import annotations

from .operations import RUBIK
from .work import Work

INT8_ORIN, FP16_ORIN, DEPTHWISE = "int8_orin", "fp16_orin", "depthwise"
XAVIER, OTHERS = "xavier", "others"
_UNKNOWN = ("SOFTMAX", "SHUFFLE", "SLICE", "RESIZE", "REDUCE", "UNARY")
"""Layers of which no published time tells anything, or one."""


def kind(item: Work, generation: str) -> str:
    """The name of its spread."""
    operation = item.operation
    if operation.main.kind in _UNKNOWN:
        return OTHERS
    if item.convolution is not None and item.convolution.depthwise:
        return DEPTHWISE
    if generation != "orin":
        return XAVIER
    return FP16_ORIN if operation.engine == RUBIK else INT8_ORIN
