"""Turning layers into hardware operations: descriptors, weights, memory offsets.

Each layer becomes CONV+SDP, SDP or PDP. Operations run one after the other: a layer starts when
the one before it is complete. Source: nvdla software manual "Runtime"; nvdla hardware manual.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..descriptors import (
    Activation as Act,
)
from ..descriptors import (
    CdpOp,
    CdpSurface,
    CvtParam,
    DataCube,
    LutParam,
    OpType,
    PdpOp,
    PdpSurface,
    RubikOp,
    RubikSurface,
    SdpMode,
    SdpOpType,
    SdpStage,
)
from ..errors import NvdlaError, UnsupportedOperation
from ..facts.limits import POOLING_KERNEL, POOLING_PAD, POOLING_STRIDE
from ..facts.modes import Alu, Pooling, Rubik, by_word
from ..facts.pooling import covered
from ..facts.precisions import FP16, INT16
from . import convolution, quantize, tables
from .layers import (
    Activation,
    Add,
    Contract,
    Conv,
    Curve,
    Layer,
    Normalise,
    Pool,
    Scale,
)
from .program import Program

_MID_SHIFT = 8


class Lowering(Program):
    """A program, and how each kind of layer becomes operations of it."""

    def add(self, layer: Layer) -> None:
        """Append the operations of one layer."""
        if isinstance(layer, Conv):
            convolution.add(self, layer)
        elif isinstance(layer, Pool):
            self._pool(layer)
        elif isinstance(layer, Scale):
            self._sdp(layer, *self._scale_stages(layer))
        elif isinstance(layer, Add):
            stage = SdpStage(
                enable=1,
                alu_type=Alu.SUM,
                type=SdpOpType.ADD,
                mode=SdpMode.PER_POINT,
                precision=self.precision,
            )
            self._sdp(layer, [(stage, self.cube(layer.inputs[1]))], self._converter(layer))
        elif isinstance(layer, Activation):
            self._sdp(layer, [(SdpStage(enable=1), DataCube(address=0))], CvtParam(1, 0, 1, 0))
        elif isinstance(layer, Curve):
            self._curve(layer)
        elif isinstance(layer, Contract):
            surface = RubikSurface(src=self.cube(layer.inputs[0]), dst=self.cube(layer.output))
            sy, sx = layer.stride
            self.append(OpType.RUBIK, RubikOp(Rubik.CONTRACT, self.precision, sx, sy), surface)
        elif isinstance(layer, Normalise):
            self._normalise(layer)
        else:
            raise UnsupportedOperation("builder", f"layer {layer.name} before the end")

    def _curve(self, layer: Curve) -> None:
        """Y looks every value up; the converter drops the extra bits of the table."""
        lut, shift = tables.curve(layer, self.precision)
        stage = SdpStage(enable=1, act=Act.LUT, precision=self.precision)
        cvt = CvtParam(1, shift, 1, 0)
        self.append_sdp(layer, self.cube(layer.inputs[0]), [], cvt, stage, self._lut(lut))

    def _lut(self, lut: LutParam) -> int:
        """Store a table; return its number."""
        if lut not in self.luts:
            self.luts.append(lut)
        return self.luts.index(lut)

    def _normalise(self, layer: Normalise) -> None:
        lut, unit = tables.normalise(layer, self.precision)
        cvt = CvtParam(1, 0, 1, 0)
        if self.precision != FP16:
            real = unit * layer.inputs[0].scale / layer.output.scale
            factor = quantize.factors(np.array([real]))
            cvt = CvtParam(int(factor.values[0]), factor.shift, 1, 0)
        operation = CdpOp(
            in_precision=self.precision,
            out_precision=self.precision,
            lut_index=self._lut(lut),
            in_cvt=CvtParam(1, 0, 1, 0),
            out_cvt=cvt,
            local_size=layer.size,
        )
        surface = CdpSurface(src=self.cube(layer.inputs[0]), dst=self.cube(layer.output))
        self.append(OpType.CDP, operation, surface)

    def _scale_stages(self, layer: Scale) -> tuple[list[tuple[SdpStage, DataCube]], CvtParam]:
        """X1 multiplies, X2 adds; integers keep some bits until the converter."""
        channels = layer.output.shape[0]
        mul = SdpStage(enable=1, type=SdpOpType.MUL, mode=SdpMode.PER_KERNEL)
        add = SdpStage(enable=1, alu_type=Alu.SUM, type=SdpOpType.ADD, mode=SdpMode.PER_KERNEL)
        if self.precision == FP16:
            mul.precision = add.precision = FP16
            tables: tuple[NDArray[Any], NDArray[Any]] = (
                layer.scale.astype(np.float16),
                layer.shift.astype(np.float16),
            )
            cvt = CvtParam(1, 0, 1, 0)
        else:
            step = layer.output.scale / (1 << _MID_SHIFT)
            factor = quantize.factors(layer.inputs[0].scale * layer.scale.astype(float) / step)
            shift = quantize.offsets(np.rint(layer.shift / step))
            mul.precision = add.precision = INT16
            mul.truncate, add.shift_value = factor.shift, shift.shift
            tables = (factor.values, shift.values)
            cvt = CvtParam(1, _MID_SHIFT, 1, 0)
        first, second = (self.table(channels, table) for table in tables)
        return [(mul, first), (add, second)], cvt

    def _sdp(self, layer: Layer, stages: list[tuple[SdpStage, DataCube]], cvt: CvtParam) -> None:
        """Append an SDP operation that reads from memory."""
        if layer.relu:
            stages[-1][0].act = Act.RELU
        self.append_sdp(layer, self.cube(layer.inputs[0]), stages, cvt)

    def _converter(self, layer: Layer) -> CvtParam:
        """Output converter from the scale of the inputs to that of the output."""
        if self.precision == FP16:
            return CvtParam(1, 0, 1, 0)
        factor = quantize.factors(np.array([layer.inputs[0].scale / layer.output.scale]))
        return CvtParam(int(factor.values[0]), factor.shift, 1, 0)

    def _pool(self, layer: Pool) -> None:
        top, _, left, _ = layer.pads
        for name, values, limit in (
            ("kernel", layer.kernel, POOLING_KERNEL),
            ("stride", layer.stride, POOLING_STRIDE),
            ("padding", layer.pads, POOLING_PAD),
        ):
            if max(values) > limit:
                raise NvdlaError(f"{layer.name}: pooling {name} {values} is more than {limit}")
        source = self.cube(layer.inputs[0])
        _, lines, columns = layer.output.shape
        source.height, bottom = covered(source.height, lines, layer.kernel[0], layer.stride[0], top)
        source.width, right = covered(source.width, columns, layer.kernel[1], layer.stride[1], left)
        operation = PdpOp(
            pool_mode=by_word(Pooling)[layer.mode],
            pool_width=layer.kernel[1] - 1,
            pool_height=layer.kernel[0] - 1,
            stride_x=layer.stride[1],
            stride_y=layer.stride[0],
            pad_left=left,
            pad_right=right,
            pad_top=top,
            pad_bottom=bottom,
            precision=self.precision,
        )
        surface = PdpSurface(src=source, dst=self.cube(layer.output))
        self.append(OpType.PDP, operation, surface)

    # -- dependencies -------------------------------------------------------------------------
