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
from ...memory import Memory
from .registers import OPERAND_DMA, EwParams, OperandDma, StageParams

USE_MUL, USE_ALU, USE_BOTH = 0, 1, 2
"""What operands of a stage are for."""


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
        parts = 2 if dma.data_use == USE_BOTH else 1
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
        if self.use not in (wanted, USE_BOTH):
            name = "ALU" if wanted == USE_ALU else "MUL"
            raise HardwareFault("SDP", f"{name} operand from memory, but SDP_RDMA fetches others")
        return 1 if self.use == USE_BOTH and wanted == USE_MUL else 0

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
        self.nan_to_zero = nan_to_zero
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

    def number(self, alu: bool, floating: bool) -> Any:
        """ALU or MUL operand of the registers; FP32 in fp16 mode."""
        number = self.p.alu_operand if alu else self.p.mul_operand
        if not floating:
            return float(number)
        if self.is_y:
            return floats.single(number & 0xFFFFFFFF)
        return self.half(np.array(number & 0xFFFF, np.uint16))

    def half(self, bits: NDArray[Any]) -> NDArray[np.float64]:
        """Fp16 operands as FP32 numbers."""
        values = floats.widened(floats.half(bits), floats.SINGLE)
        return np.where(np.isnan(values), 0.0, values) if self.nan_to_zero else values
