"""Parameters of look-up tables: entries, starts and slopes as registers have them.

Source: nvdla hardware manual "LUT programming"; facts on the index and its 35 fraction bits.
"""

from __future__ import annotations

from math import floor, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.descriptors import LutParam, Slope
from cudla_sim.nvdla.facts.precisions import FP16_TOP, INT16_TOP

PREFER_LO: dict[str, Any] = {"hybrid_priority": 1, "underflow_priority": 1, "overflow_priority": 1}


def fixed_slope(real: float) -> Slope:
    """Result steps for each step of an integer input."""
    if real == 0.0:
        return Slope()
    shift = min(max(floor(log2(INT16_TOP / abs(real))), -16), 15)
    scale = int(np.clip(np.rint(real * 2.0**shift), -INT16_TOP, INT16_TOP))
    return Slope(scale=scale, shifter=shift)


def half_slope(real: float) -> Slope:
    """The same in fp16: there is no shift."""
    return Slope(scale=halves(np.array([real]))[0])


def integers(values: NDArray[np.float64]) -> list[int]:
    """Entries of an integer table."""
    return [int(item) for item in np.clip(np.rint(values), -INT16_TOP, INT16_TOP)]


def halves(values: NDArray[np.float64]) -> list[int]:
    """Entries of an fp16 table: patterns as int16."""
    return [
        int(item) for item in np.clip(values, -FP16_TOP, FP16_TOP).astype(np.float16).view("i2")
    ]


def single(value: float) -> int:
    """The pattern of a float32, as starts and ends have it in fp16."""
    return int(np.float32(value).view(np.uint32))


def linear(entries: list[int], start: int, end: int, select: int, far: int) -> LutParam:
    """A table of LO alone, with steps of 2**select; *far* is a start of LE above all values."""
    return LutParam(
        linear_only_table=entries,
        linear_only_offset=select,
        linear_only_start=start & 0xFFFFFFFFFFFFFFFF,
        linear_only_end=end & 0xFFFFFFFFFFFFFFFF,
        linear_exp_start=far,
        linear_exp_end=far,
        **PREFER_LO,
    )
