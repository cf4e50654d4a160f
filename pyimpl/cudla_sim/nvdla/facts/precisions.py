"""Precisions, as registers and descriptors number them, and the integers that they hold."""

from __future__ import annotations

INT8, INT16, FP16 = 0, 1, 2

NAMES = ("int8", "int16", "fp16")
"""By number."""

NUMBERS = {name: number for number, name in enumerate(NAMES)}
"""By name."""

INT8_TOP, INT16_TOP, FP16_TOP = 127, 32767, 65504
"""Largest finite values."""

TOPS = (INT8_TOP, INT16_TOP, FP16_TOP)
"""By number."""

RANGES = ((-INT8_TOP - 1, INT8_TOP), (-INT16_TOP - 1, INT16_TOP))
"""Smallest and largest value by precision number (int8, int16)."""

WRITTEN = ("dst_precision", "out_precision", "precision")
"""Members of operation descriptors that say in which precision the result is written: the first
that an operation has."""

ALL = ("in_precision", "src_precision", *WRITTEN)
"""All members of operation descriptors that name a precision."""


def name(precision: int) -> str:
    """For messages: what registers can say beyond the three is a number."""
    return NAMES[precision] if 0 <= precision < len(NAMES) else f"precision {precision}"


def element_size(precision: int) -> int:
    """Bytes of one element of a precision (0 int8, 1 int16, 2 fp16)."""
    return 1 if precision == INT8 else 2
