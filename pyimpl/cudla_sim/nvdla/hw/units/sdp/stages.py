"""The operand stages of SDP: X1 (BS) and X2 (BN) with ALU, MUL, ReLU; Y (EW) with MUL, ALU.

Source: nvdla/hw ``cmod/hls/sdp/sdp_x.cpp``, ``sdp_y_core.cpp``, ``sdp_y_cvt.cpp`` and
``cmod/sdp/NV_NVDLA_sdp.cpp`` (operand fetch).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....errors import HardwareFault
from ....facts.configs import HardwareConfig
from ....facts.modes import Alu
from ....facts.precisions import FP16
from ... import floats
from ...arithmetic import (
    INT32_MAX,
    INT32_MIN,
    round_half_away,
    rounding_shift,
    rounding_shift_int,
    saturate32,
)
from ...memory import Memory
from .registers import (
    OPERAND_DMA,
    EwParams,
    OperandDma,
    StageParams,
)

_USE_MUL, _USE_ALU, _USE_BOTH = 0, 1, 2

Band = NDArray[Any]


class Extent(NamedTuple):
    """Size of the processed cube; ``padded`` counts channels to the end of the last surface."""

    height: int
    width: int
    channels: int
    padded: int
    precision: int


Between = Callable[[str, int, int, int], int]
"""Bytes between surfaces, from the unit, the stride, the bytes of a pixel and the channels of an
atom."""


def _as_said(unit: str, stride: int, pixel: int, channels: int) -> int:
    return stride


class Operands:
    """Memory operands of one stage.

    ``view`` is what memory holds: [channel, component], or [surface, y, x, channel, component].
    """

    def __init__(
        self,
        dma: OperandDma,
        extent: Extent,
        config: HardwareConfig,
        memory: Memory,
        between: Between,
    ) -> None:
        parts = 2 if dma.data_use == _USE_BOTH else 1
        floating = extent.precision == FP16
        if floating and not dma.two_bytes:
            raise HardwareFault("SDP_RDMA", "fp16 operands have two bytes, one is set")
        dtype = np.dtype("<f2" if floating else "<i2" if dma.two_bytes else "i1")
        item = parts * dtype.itemsize
        self.use = dma.data_use
        self.view: NDArray[Any]
        self._padded = extent.padded
        self.per_element = bool(dma.per_element)
        if not dma.per_element:
            size = extent.padded * item
            raw = memory.read_padded("SDP_RDMA operands", dma.base, size, size, lasting=True)
            self.view = raw.view(dtype).reshape(extent.padded, parts)
            return
        atom = config.channels_per_atom(extent.precision)
        surfaces = -(-extent.channels // atom)
        if extent.height > 1 and dma.line_stride < extent.width * atom * item:
            raise HardwareFault(
                "SDP_RDMA",
                f"operand line stride {dma.line_stride} is less than"
                f" {extent.width} x {atom * item} bytes",
            )
        plane = (extent.height - 1) * dma.line_stride + extent.width * atom * item
        stride = between("SDP_RDMA operands", dma.surface_stride, atom * item, atom)
        if surfaces > 1 and stride < plane:
            raise HardwareFault("SDP_RDMA", f"operand surface stride {stride} is less than {plane}")
        self.view = memory.strided(
            "SDP_RDMA operands",
            dma.base,
            dtype,
            (surfaces, extent.height, extent.width, atom, parts),
            (stride, dma.line_stride, atom * item, item, dtype.itemsize),
        )

    @functools.cached_property
    def _data(self) -> NDArray[Any]:
        """All of them, as they are when the first ones are taken."""
        if not self.per_element:
            return self.view[None, None]
        surfaces, height, width, atom, parts = self.view.shape
        moved = self.view.transpose(1, 2, 0, 3, 4).reshape(height, width, surfaces * atom, parts)
        missing = self._padded - surfaces * atom
        return np.pad(moved, ((0, 0), (0, 0), (0, missing), (0, 0))) if missing > 0 else moved

    def component(self, wanted: int) -> int:
        """Which component the ALU (1) or MUL (0) operands are."""
        if self.use not in (wanted, _USE_BOTH):
            name = "ALU" if wanted == _USE_ALU else "MUL"
            raise HardwareFault("SDP", f"{name} operand from memory, but SDP_RDMA fetches others")
        return 1 if self.use == _USE_BOTH and wanted == _USE_MUL else 0

    def take(self, wanted: int, first: int, lines: int) -> NDArray[Any]:
        """Return the ALU (1) or MUL (0) operands of some lines, [line, x, channel]; lines may
        be 1."""
        part = self.component(wanted)
        if not self.per_element:
            return self._data[..., part]
        return self._data[first : first + lines, :, :, part]


class Stage:
    """One stage with its operands."""

    def __init__(
        self,
        params: StageParams,
        rdma: Sequence[int] | None,
        extent: Extent,
        config: HardwareConfig,
        memory: tuple[Memory, Memory],
        nan_to_zero: bool = False,
        between: Between = _as_said,
    ) -> None:
        self.p = params
        self._nan_to_zero = nan_to_zero
        self.is_y = isinstance(params, EwParams)
        self.operands: Operands | None = None
        self.equality = (
            self.is_y
            and not params.bypass
            and not params.alu_bypass
            and params.alu_algorithm == Alu.EQL
        )
        self.uses_lut = self.is_y and not params.bypass and not params.last_bypass
        if params.from_memory:
            if rdma is None:
                raise HardwareFault("SDP", "an operand comes from memory, SDP_RDMA is not enabled")
            dma = OPERAND_DMA[type(params)].decode(rdma)
            if dma.disable:
                raise HardwareFault("SDP", "an operand comes from memory, its DMA is disabled")
            self.operands = Operands(dma, extent, config, memory[dma.memory_mc], between)

    def _operand(self, wanted: int, first: int, lines: int, floating: bool) -> Any:
        """ALU or MUL operand: a number, or an array that broadcasts over the band."""
        alu = wanted == _USE_ALU
        if self.p.alu_memory if alu else self.p.mul_memory:
            assert self.operands is not None
            values = self.operands.take(wanted, first, lines)
            if floating:
                return self._half(values)
            if isinstance(self.p, EwParams):
                return self._converted(self.p, values, alu)
            return values.astype(np.float64)
        return self.number(alu, floating)

    def number(self, alu: bool, floating: bool) -> Any:
        """ALU or MUL operand of the registers; FP32 in fp16 mode."""
        number = self.p.alu_operand if alu else self.p.mul_operand
        if not floating:
            return float(number)
        if self.is_y:
            return floats.single(number & 0xFFFFFFFF)
        return self._half(np.array(number & 0xFFFF, np.uint16))

    def _half(self, bits: NDArray[Any]) -> NDArray[np.float64]:
        """Fp16 operands as FP32 numbers."""
        values = floats.widened(floats.half(bits), floats.SINGLE)
        return np.where(np.isnan(values), 0.0, values) if self._nan_to_zero else values

    @staticmethod
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

    def apply(self, band: Band, first: int, floating: bool) -> Band:
        """Run the stage on a band of lines starting at *first*; the LUT is not part of it."""
        if self.p.bypass:
            return band
        if floating:
            return self._apply_float(band, first)
        if isinstance(self.p, EwParams):
            return self._apply_y(band, first)
        return self._apply_x(band, first)

    def _apply_x(self, band: Band, first: int) -> Band:
        p = self.p
        lines = len(band)
        relu = not p.last_bypass
        if p.alu_bypass:
            values: Band = band.astype(np.float64)
        else:
            operand = self._operand(_USE_ALU, first, lines, False)
            shift = getattr(p, "alu_shift", 0)
            if shift:
                operand = np.clip(operand * 2.0**shift, INT32_MIN, INT32_MAX)
            values = alu(band, operand, p.alu_algorithm, np.dtype(np.float64))
        factor: Any = 2.0**-p.shift
        if not p.mul_bypass:
            factor = self._operand(_USE_MUL, first, lines, False) * factor
        if p.prelu and not p.mul_bypass:
            return self._prelu(values, factor, relu)
        if p.shift or not p.mul_bypass:
            values *= factor
        if p.shift and relu:  # negative results become 0 anyhow
            values += 0.5
            np.floor(values, out=values)
        elif p.shift:
            round_half_away(values)
        return np.clip(values, 0 if relu else INT32_MIN, INT32_MAX, out=values)

    @staticmethod
    def _prelu(values: Band, factor: Any, relu: bool) -> Band:
        """Multiply negative values only; others pass, cut to 32 bits by wrapping."""
        product = saturate32(round_half_away(values * factor))
        wrapped = np.where(values > INT32_MAX, values - 2.0**32, values)
        result = np.where(values < 0, product, wrapped)
        return np.maximum(result, 0.0) if relu else result

    def _apply_y(self, band: Band, first: int) -> Band:
        p = self.p
        values: Band = band.astype(np.float64)
        lines = len(values)
        if not p.mul_bypass:
            operand = np.asarray(self._operand(_USE_MUL, first, lines, False)).astype(np.int64)
            wide = rounding_shift_int(values.astype(np.int64) * operand, p.shift)
            product = np.clip(wide, INT32_MIN, INT32_MAX).astype(np.float64)
            values = np.where(values < 0, product, values) if p.prelu else product
        if not p.alu_bypass:
            operand = self._operand(_USE_ALU, first, lines, False)
            values = alu(values, operand, p.alu_algorithm, np.dtype(np.float64))
            saturate32(values)
        return values

    def _apply_float(self, band: Band, first: int) -> Band:
        """All stages in fp16 mode: FP32, no shifts."""
        p = self.p
        values, lines = band, len(band)
        order = ("mul", "alu") if self.is_y else ("alu", "mul")
        for step in order:
            if step == "alu" and not p.alu_bypass:
                operand = self._operand(_USE_ALU, first, lines, True)
                values = float_alu(values, operand, p.alu_algorithm)
            elif step == "mul" and not p.mul_bypass:
                factor = self._operand(_USE_MUL, first, lines, True)
                product = floats.multiply(values, factor, floats.SINGLE)
                values = np.where(np.signbit(values), product, values) if p.prelu else product
        if not self.is_y and not p.last_bypass:
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
