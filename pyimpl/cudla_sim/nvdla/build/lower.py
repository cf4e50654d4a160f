"""Turning layers into hardware operations: descriptors, weights, memory offsets.

Each layer becomes CONV+SDP, SDP or PDP. Operations run one after the other: a layer starts when
the one before it is complete. Source: nvdla software manual "Runtime"; nvdla hardware manual.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla import layout
from cudla_sim.nvdla.build import quantize
from cudla_sim.nvdla.build.layers import Activation, Add, Conv, Layer, Pool, Scale, Tensor
from cudla_sim.nvdla.descriptors import (
    Activation as Act,
)
from cudla_sim.nvdla.descriptors import (
    CommonOpDesc,
    Consumer,
    ConvOp,
    ConvSurface,
    CvtParam,
    DataCube,
    Event,
    MemoryType,
    Operation,
    OpType,
    PdpOp,
    PdpSurface,
    SdpMode,
    SdpOp,
    SdpOpType,
    SdpStage,
    SdpSurface,
    Surface,
)
from cudla_sim.nvdla.errors import NvdlaError, UnsupportedOperation
from cudla_sim.nvdla.hw.configs import FP16, INT8, INT16, HardwareConfig, element_size
from cudla_sim.nvdla.target import entries_per_slice

_PAGE = 4096
_MID_SHIFT = 8
_SUM = 2

WEIGHTS, ACTIVATIONS, INPUT, OUTPUT = 1, 2, 3, 4
"""Address list indices of the buffers that operations refer to."""


@dataclass(slots=True)
class HardwareOp:
    """One operation with its graph entry."""

    op_type: OpType
    operation: Operation
    surface: Surface
    entry: CommonOpDesc


@dataclass(slots=True)
class Place:
    """Where a tensor lies: address list index and offset in that buffer."""

    address: int
    offset: int = 0


@dataclass
class Program:
    """Everything that goes into the DLA task."""

    config: HardwareConfig
    precision: int
    ops: list[HardwareOp] = field(default_factory=list)
    blobs: list[tuple[int, bytes]] = field(default_factory=list)
    weight_bytes: int = 0
    places: dict[Tensor, Place] = field(default_factory=dict)

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

    def _flying(self, shape: tuple[int, int, int]) -> DataCube:
        return self._cube(shape, MemoryType.HW, -1, 0)

    def _table(self, channels: int, *columns: NDArray[Any]) -> DataCube:
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
            self._conv(layer)
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
        else:
            raise UnsupportedOperation("builder", f"layer {layer.name} before the end")

    def _append(self, op_type: OpType, operation: Operation, surface: Surface) -> HardwareOp:
        entry = CommonOpDesc(index=len(self.ops), op_type=op_type)
        for consumer in (*entry.consumers, entry.fused_parent):
            consumer.event = Event.OP_COMPLETED
        op = HardwareOp(op_type, operation, surface, entry)
        self.ops.append(op)
        return op

    def _conv(self, layer: Conv) -> None:
        source = layer.inputs[0]
        channels, height, width = source.shape
        _, _, rows, columns = layer.weights.shape
        out_shape = layer.output.shape
        stage, table, packed = self._conv_numbers(layer)
        weight = DataCube(
            type=MemoryType.MC,
            address=WEIGHTS,
            offset=self.constant(packed),
            size=len(packed),
            width=columns,
            height=rows,
            channel=channels,
        )
        top, bottom, left, right = layer.pads
        entries = entries_per_slice(self.config, width, channels, self.precision)
        banks, _, depth = self.config.cbuf
        data_bank = min(max(-(-entries * height // depth), 1), banks - 1)
        bank_bytes = self.config.cbuf[1] * depth
        weight_bank = min(max(-(-len(packed) // bank_bytes), 1), banks - data_bank)
        operation = ConvOp(
            entry_per_slice=entries,
            data_format=layout.FEATURE,
            fetch_grain=1,
            data_bank=data_bank,
            weight_bank=weight_bank,
            pixel_override=1,
            release=height,
            input_width_csc=width,
            input_height_csc=height,
            input_channel_csc=channels,
            kernel_width_csc=columns,
            kernel_height_csc=rows,
            kernel_channel_csc=channels,
            input_width_cmac=out_shape[2],
            input_height_cmac=out_shape[1],
            bytes_per_kernel=rows * columns * channels * element_size(self.precision),
            conv_stride_x=layer.stride[1],
            conv_stride_y=layer.stride[0],
            pad_x_left=left,
            pad_x_right=right,
            pad_y_top=top,
            pad_y_bottom=bottom,
            dilation_x=layer.dilation[1],
            dilation_y=layer.dilation[0],
            in_precision=self.precision,
            out_precision=self.precision,
            in_cvt=CvtParam(1, 0, int(self.precision == INT8), 0),
            out_cvt=CvtParam(1, 0, 1, 0),
        )
        surface = ConvSurface(
            weight=weight,
            wmb=DataCube(address=0),
            wgs=DataCube(address=0),
            src=self.cube(source),
            dst=self._flying(out_shape),
        )
        self._append(OpType.CONV, operation, surface)
        self._append_sdp(layer, self._flying(out_shape), [(stage, table)], CvtParam(1, 0, 1, 0))

    def _conv_numbers(self, layer: Conv) -> tuple[SdpStage, DataCube, NDArray[np.uint8]]:
        """Return the X1 stage, its operand table and the packed weights."""
        kernels = len(layer.weights)
        act = Act.RELU if layer.relu else Act.NONE
        if self.precision == FP16:
            packed = layout.pack_weights(layer.weights, self.config, FP16)
            stage = SdpStage(
                enable=1,
                alu_type=_SUM,
                type=SdpOpType.ADD,
                mode=SdpMode.PER_KERNEL,
                act=act,
                precision=FP16,
            )
            return stage, self._table(kernels, layer.bias.astype(np.float16)), packed
        integers, scale = quantize.weights(layer.weights)
        step = layer.inputs[0].scale * scale
        factor = quantize.factors(step / layer.output.scale)
        bias = quantize.offsets(np.rint(layer.bias / step))
        stage = SdpStage(
            enable=1,
            alu_type=_SUM,
            type=SdpOpType.BOTH,
            mode=SdpMode.PER_KERNEL,
            act=act,
            shift_value=bias.shift,
            truncate=factor.shift,
            precision=INT16,
        )
        packed = layout.pack_weights(integers, self.config, INT8)
        return stage, self._table(kernels, bias.values, factor.values), packed

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
        first, second = (self._table(channels, table) for table in tables)
        return [(mul, first), (add, second)], cvt

    def _sdp(self, layer: Layer, stages: list[tuple[SdpStage, DataCube]], cvt: CvtParam) -> None:
        """Append an SDP operation that reads from memory."""
        if layer.relu:
            stages[-1][0].act = Act.RELU
        self._append_sdp(layer, self.cube(layer.inputs[0]), stages, cvt)

    def _append_sdp(
        self,
        layer: Layer,
        source: DataCube,
        stages: list[tuple[SdpStage, DataCube]],
        cvt: CvtParam,
    ) -> None:
        unused = (SdpStage(), DataCube(address=0))
        (x1, x1_cube), (x2, x2_cube) = [*stages, unused][:2]
        operation = SdpOp(
            src_precision=self.precision, dst_precision=self.precision, out_cvt=cvt, x1=x1, x2=x2
        )
        surface = SdpSurface(
            src=source,
            x1=x1_cube,
            x2=x2_cube,
            y=DataCube(address=0),
            dst=self.cube(layer.output),
        )
        self._append(OpType.SDP, operation, surface)

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
            pool_mode=0 if layer.average else 1,
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
        self._append(OpType.PDP, operation, surface)

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
