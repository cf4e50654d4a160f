"""The stages of SDP on bands [line, x, channel] of float64: exact integers, or FP32 numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....facts.modes import Alu
from .... import floats
from ....arithmetic import (
    INT32_MAX,
    INT32_MIN,
    round_half_away,
    rounding_shift,
    rounding_shift_int,
    saturate32,
)
from ..registers import EwParams
from ..stages import USE_ALU, USE_MUL, Stage

Band = NDArray[Any]


def _operand(stage: Stage, wanted: int, first: int, lines: int, floating: bool) -> Any:
    """ALU or MUL operand: a number, or an array that broadcasts over the band."""
    alu = wanted == USE_ALU
    if stage.p.alu_memory if alu else stage.p.mul_memory:
        assert stage.operands is not None
        values = stage.operands.take(wanted, first, lines)
        if floating:
            return stage.half(values)
        if isinstance(stage.p, EwParams):
            return _converted(stage.p, values, alu)
        return values.astype(np.float64)
    return stage.number(alu, floating)


def _converted(p: EwParams, values: NDArray[Any], alu: bool) -> NDArray[np.float64]:
    """Operand converter of Y: sat32(RS((v - offset) * scale, truncate))."""
    bypass, offset, scale, truncate = (
        (p.alu_cvt_bypass, p.alu_offset, p.alu_scale, p.alu_truncate)
        if alu
        else (p.mul_cvt_bypass, p.mul_offset, p.mul_scale, p.mul_truncate)
    )
    result = values.astype(np.float64)
    if bypass:
        return result
    result -= offset
    result *= scale
    return saturate32(rounding_shift(result, truncate))


def apply(stage: Stage, band: Band, first: int, floating: bool) -> Band:
    """Run the stage on a band of lines starting at *first*; the LUT is not part of it."""
    if stage.p.bypass:
        return band
    if floating:
        return _apply_float(stage, band, first)
    if isinstance(stage.p, EwParams):
        return _apply_y(stage, band, first)
    return _apply_x(stage, band, first)


def _apply_x(stage: Stage, band: Band, first: int) -> Band:
    p = stage.p
    lines = len(band)
    relu = not p.last_bypass
    if p.alu_bypass:
        values: Band = band.astype(np.float64)
    else:
        operand = _operand(stage, USE_ALU, first, lines, False)
        shift = getattr(p, "alu_shift", 0)
        if shift:
            operand = np.clip(operand * 2.0**shift, INT32_MIN, INT32_MAX)
        values = alu(band, operand, p.alu_algorithm, np.dtype(np.float64))
    factor: Any = 2.0**-p.shift
    if not p.mul_bypass:
        factor = _operand(stage, USE_MUL, first, lines, False) * factor
    if p.prelu and not p.mul_bypass:
        return _prelu(values, factor, relu)
    if p.shift or not p.mul_bypass:
        values *= factor
    if p.shift and relu:  # negative results become 0 anyhow
        values += 0.5
        np.floor(values, out=values)
    elif p.shift:
        round_half_away(values)
    return np.clip(values, 0 if relu else INT32_MIN, INT32_MAX, out=values)


def _prelu(values: Band, factor: Any, relu: bool) -> Band:
    """Multiply negative values only; others pass, cut to 32 bits by wrapping."""
    product = saturate32(round_half_away(values * factor))
    wrapped = np.where(values > INT32_MAX, values - 2.0**32, values)
    result = np.where(values < 0, product, wrapped)
    return np.maximum(result, 0.0) if relu else result


def _apply_y(stage: Stage, band: Band, first: int) -> Band:
    p = stage.p
    values: Band = band.astype(np.float64)
    lines = len(values)
    if not p.mul_bypass:
        operand = np.asarray(_operand(stage, USE_MUL, first, lines, False)).astype(np.int64)
        wide = rounding_shift_int(values.astype(np.int64) * operand, p.shift)
        product = np.clip(wide, INT32_MIN, INT32_MAX).astype(np.float64)
        values = np.where(values < 0, product, values) if p.prelu else product
    if not p.alu_bypass:
        operand = _operand(stage, USE_ALU, first, lines, False)
        values = alu(values, operand, p.alu_algorithm, np.dtype(np.float64))
        saturate32(values)
    return values


def _apply_float(stage: Stage, band: Band, first: int) -> Band:
    """All stages in fp16 mode: FP32, no shifts."""
    p = stage.p
    values, lines = band, len(band)
    order = ("mul", "alu") if stage.is_y else ("alu", "mul")
    for step in order:
        if step == "alu" and not p.alu_bypass:
            operand = _operand(stage, USE_ALU, first, lines, True)
            values = float_alu(values, operand, p.alu_algorithm)
        elif step == "mul" and not p.mul_bypass:
            factor = _operand(stage, USE_MUL, first, lines, True)
            product = floats.multiply(values, factor, floats.SINGLE)
            values = np.where(np.signbit(values), product, values) if p.prelu else product
    if not stage.is_y and not p.last_bypass:
        values = np.where(np.signbit(values) & ~np.isnan(values), 0.0, values)
    return values


def _differ(values: Band, operand: Any, dtype: np.dtype[Any]) -> Band:
    return np.not_equal(values, operand).astype(dtype)


def _differ_float(values: Band, operand: Any) -> Band:
    """Compares the patterns."""
    patterns = np.broadcast_to(operand, values.shape).copy().view(np.int64)
    return np.where(values.view(np.int64) == patterns, 0.0, 1.0)


def _add_float(values: Band, operand: Any) -> Band:
    return floats.add(values, operand, floats.SINGLE)


ALU: dict[int, tuple[Callable[..., Band], Callable[[Band, Any], Band]]] = {
    Alu.MAX: (np.maximum, floats.larger),
    Alu.MIN: (np.minimum, floats.smaller),
    Alu.SUM: (np.add, _add_float),
    Alu.EQL: (_differ, _differ_float),
}
"""What an ALU computes of integers (to a type) and of FP32 values."""


def float_alu(values: Band, operand: Any, algorithm: int) -> Band:
    """Combine FP32 values with operands."""
    return ALU[algorithm][1](values, operand)


def alu(values: Band, operand: Any, algorithm: int, dtype: np.dtype[Any]) -> Band:
    """Combine values with operands: maximum, minimum, sum, or 1 where they differ."""
    return ALU[algorithm][0](values, operand, dtype=dtype)
