"""Register programming of the look-up tables of SDP and CDP.

Source: nvdla/sw firmware, LUT update; nvdla hardware manual "LUT programming".
"""

from __future__ import annotations

from ..descriptors import LutParam, Precision, Slope
from .context import Writes, high_low
from .port import check_choice

_WRITE = 1 << 17


def _slopes(name: str, under: Slope, over: Slope, precision: int) -> Writes:
    """Slope registers of one table; in fp16 mode the shifts are unused and left alone."""
    scale = (under.scale & 0xFFFF) | (over.scale & 0xFFFF) << 16
    writes: Writes = [(f"S_LUT_{name}_SLOPE_SCALE", scale)]
    if precision != Precision.FP16:
        shift = (under.shifter & 0x1F) | (over.shifter & 0x1F) << 5
        writes.append((f"S_LUT_{name}_SLOPE_SHIFT", shift))
    return writes


def _limit(name: str, value: int, sdp: bool) -> Writes:
    """START and END registers: one word in SDP, two in CDP."""
    high, low = high_low(value)
    if sdp:
        return [(f"S_LUT_{name}", low)]
    return [(f"S_LUT_{name}_LOW", low), (f"S_LUT_{name}_HIGH", high)]


def lut_writes(lut: LutParam, precision: int, sdp: bool) -> Writes:
    """Return the register writes that load a LUT."""
    check_choice("LUT method", lut.method, 2)
    for name in ("hybrid_priority", "underflow_priority", "overflow_priority"):
        check_choice(f"LUT {name}", getattr(lut, name), 2)
    writes: Writes = [("S_LUT_ACCESS_CFG", _WRITE)]
    writes += [("S_LUT_ACCESS_DATA", value) for value in lut.linear_exp_table]
    writes.append(("S_LUT_ACCESS_CFG", _WRITE | 1 << 16))
    writes += [("S_LUT_ACCESS_DATA", value) for value in lut.linear_only_table]
    priorities = lut.underflow_priority << 4 | lut.overflow_priority << 5 | lut.hybrid_priority << 6
    position = lut.linear_exp_offset & 0xFF
    info = (position if lut.method == 0 else position << 8) | (lut.linear_only_offset & 0xFF) << 16
    writes += [("S_LUT_CFG", lut.method | priorities), ("S_LUT_INFO", info)]
    for name, value in (
        ("LE_START", lut.linear_exp_start),
        ("LE_END", lut.linear_exp_end),
        ("LO_START", lut.linear_only_start),
        ("LO_END", lut.linear_only_end),
    ):
        writes += _limit(name, value, sdp)
    writes += _slopes(
        "LE", lut.linear_exp_underflow_slope, lut.linear_exp_overflow_slope, precision
    )
    writes += _slopes(
        "LO", lut.linear_only_underflow_slope, lut.linear_only_overflow_slope, precision
    )
    return writes
