"""Turning layers into hardware operations: descriptors, weights, memory offsets.

Each layer becomes CONV+SDP, SDP or PDP. Operations run one after the other: a layer starts when
the one before it is complete. Source: nvdla software manual "Runtime"; nvdla hardware manual.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import layout
from ..descriptors import (
    Activation as Act,
)
from ..descriptors import (
    CdpOp,
    CdpSurface,
    CommonOpDesc,
    Consumer,
    CvtParam,
    DataCube,
    Event,
    LutParam,
    MemoryType,
    Operation,
    OpType,
    PdpOp,
    PdpSurface,
    RubikOp,
    RubikSurface,
    SdpMode,
    SdpOp,
    SdpOpType,
    SdpStage,
    SdpSurface,
    Surface,
)
from ..errors import NvdlaError, UnsupportedOperation
from ..hw.configs import FP16, INT16, HardwareConfig, element_size
from . import convolution, quantize, tables
from .layers import (
    Activation,
    Add,
    Contract,
    Conv,
    Curve,
    Image,
    Layer,
    Normalise,
    Pool,
    Scale,
    Tensor,
)
from .places import WEIGHTS, Place

_PAGE = 4096
_POOL_MODES = {"average": 0, "max": 1, "min": 2}
_MID_SHIFT = 8
_SUM = 2


@dataclass(slots=True)
class HardwareOp:
    """One operation with its graph entry."""

    op_type: OpType
    operation: Operation
    surface: Surface
    entry: CommonOpDesc


@dataclass
class Program:
    """Everything that goes into the DLA task."""

    config: HardwareConfig
    precision: int
    ops: list[HardwareOp] = field(default_factory=list)
    blobs: list[tuple[int, bytes]] = field(default_factory=list)
    weight_bytes: int = 0
    places: dict[Tensor, Place] = field(default_factory=dict)
    luts: list[LutParam] = field(default_factory=list)
    image: Image | None = None

    # -- memory -------------------------------------------------------------------------------

    def constant(self, data: NDArray[np.uint8]) -> int:
        """Store weights or operands; return their offset in the weight buffer."""
        offset = self.weight_bytes
        self.blobs.append((offset, data.tobytes()))
        self.weight_bytes = offset + -(-len(data) // _PAGE) * _PAGE
        return offset

    def strides(self, shape: tuple[int, int, int]) -> tuple[int, int, int]:
        """Return (line stride, surface stride, bytes) of a feature cube."""
        size = element_size(self.precision)
        return layout.feature_strides((1, *shape), size, self.config.memory_atom)

    def cube(self, tensor: Tensor) -> DataCube:
        """Describe a tensor in memory."""
        place = self.places[tensor]
        return self._cube(tensor.shape, MemoryType.MC, place.address, place.offset)

    def _cube(
        self, shape: tuple[int, int, int], kind: MemoryType, address: int, offset: int
    ) -> DataCube:
        channels, height, width = shape
        line, surface, size = self.strides(shape)
        return DataCube(
            type=kind,
            address=address,
            offset=offset,
            size=size,
            width=width,
            height=height,
            channel=channels,
            line_stride=line,
            surf_stride=surface,
        )

    def flying(self, shape: tuple[int, int, int]) -> DataCube:
        return self._cube(shape, MemoryType.HW, -1, 0)

    def table(self, channels: int, *columns: NDArray[Any]) -> DataCube:
        """Store per-channel operands, filled up to the end of the last surface."""
        atom = self.config.channels_per_atom(self.precision)
        missing = -channels % atom
        padded = [np.pad(column, (0, missing)) for column in columns]
        data = layout.pack_operands(*padded)
        stride = self.config.memory_atom * len(columns) * 2 // element_size(self.precision)
        return DataCube(
            type=MemoryType.MC,
            address=WEIGHTS,
            offset=self.constant(data),
            size=len(data),
            width=1,
            height=1,
            channel=channels,
            line_stride=stride,
            surf_stride=stride,
        )

    # -- operations ---------------------------------------------------------------------------

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
                alu_type=_SUM,
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
            (sy, sx), mode = layer.stride, 0
            self.append(OpType.RUBIK, RubikOp(mode, self.precision, sx, sy), surface)
        elif isinstance(layer, Normalise):
            self._normalise(layer)
        else:
            raise UnsupportedOperation("builder", f"layer {layer.name} before the end")

    def append(self, op_type: OpType, operation: Operation, surface: Surface) -> HardwareOp:
        entry = CommonOpDesc(index=len(self.ops), op_type=op_type)
        for consumer in (*entry.consumers, entry.fused_parent):
            consumer.event = Event.OP_COMPLETED
        op = HardwareOp(op_type, operation, surface, entry)
        self.ops.append(op)
        return op

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
        add = SdpStage(enable=1, alu_type=_SUM, type=SdpOpType.ADD, mode=SdpMode.PER_KERNEL)
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

    def append_sdp(
        self,
        layer: Layer,
        source: DataCube,
        stages: list[tuple[SdpStage, DataCube]],
        cvt: CvtParam,
        y: SdpStage | None = None,
        lut_index: int = -1,
    ) -> None:
        unused = (SdpStage(), DataCube(address=0))
        (x1, x1_cube), (x2, x2_cube) = [*stages, unused, unused][:2]
        operation = SdpOp(
            src_precision=self.precision,
            dst_precision=self.precision,
            lut_index=lut_index,
            out_cvt=cvt,
            x1=x1,
            x2=x2,
            y=y or SdpStage(),
        )
        surface = SdpSurface(
            src=source,
            x1=x1_cube,
            x2=x2_cube,
            y=DataCube(address=0),
            dst=self.cube(layer.output),
        )
        self.append(OpType.SDP, operation, surface)

    def _converter(self, layer: Layer) -> CvtParam:
        """Output converter from the scale of the inputs to that of the output."""
        if self.precision == FP16:
            return CvtParam(1, 0, 1, 0)
        factor = quantize.factors(np.array([layer.inputs[0].scale / layer.output.scale]))
        return CvtParam(int(factor.values[0]), factor.shift, 1, 0)

    def _pool(self, layer: Pool) -> None:
        top, bottom, left, right = layer.pads
        for name, values, limit in (
            ("kernel", layer.kernel, 8),
            ("stride", layer.stride, 8),
            ("padding", layer.pads, 7),
        ):
            if max(values) > limit:
                raise NvdlaError(f"{layer.name}: pooling {name} {values} is more than {limit}")
        operation = PdpOp(
            pool_mode=_POOL_MODES[layer.mode],
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
        surface = PdpSurface(src=self.cube(layer.inputs[0]), dst=self.cube(layer.output))
        self.append(OpType.PDP, operation, surface)

    # -- dependencies -------------------------------------------------------------------------

    def heads(self) -> list[int]:
        """First operation of each processor, -1 for none."""
        result = [-1] * len(OpType)
        for op in reversed(self.ops):
            result[op.op_type] = op.entry.index
        return result

    def connect(self) -> None:
        """Enter who waits for whom: the queue of each processor, fused pairs, layer order."""
        last: dict[OpType, HardwareOp] = {}
        previous: HardwareOp | None = None
        for number, op in enumerate(self.ops):
            if op.op_type in last:
                self._wait(op, last[op.op_type], Event.OP_PROGRAMMED)
            last[op.op_type] = op
            fused = number > 0 and self.ops[number - 1].op_type == OpType.CONV
            if fused:
                conv = self.ops[number - 1]
                self._wait(op, conv, Event.OP_PROGRAMMED)
                op.entry.fused_parent = Consumer(conv.entry.index, Event.OP_ENABLED)
                conv.entry.dependency_count += 1
            elif previous is not None:
                self._wait(op, previous, Event.OP_COMPLETED)
            if op.op_type != OpType.CONV:
                previous = op

    @staticmethod
    def _wait(op: HardwareOp, on: HardwareOp, event: Event) -> None:
        """Let *op* wait for an event of *on*; completion replaces a weaker wait."""
        slot = on.entry.consumers[op.op_type]
        if slot.index != op.entry.index:
            op.entry.dependency_count += 1
        on.entry.consumers[op.op_type] = Consumer(op.entry.index, event)
