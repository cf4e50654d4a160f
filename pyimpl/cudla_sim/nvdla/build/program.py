"""What goes into a DLA task: operations with their graph, and the memory they refer to.

Operations run one after the other: a layer starts when the one before it is complete.
Source: nvdla software manual "Runtime"; nvdla hardware manual.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import layout
from ..descriptors import (
    CvtParam,
    DataCube,
    LutParam,
    MemoryType,
    Operation,
    OpType,
    SdpOp,
    SdpStage,
    SdpSurface,
    Surface,
)
from ..facts.configs import HardwareConfig
from ..facts.memory import PAGE
from ..facts.precisions import element_size
from .layers import (
    Image,
    Layer,
    Tensor,
)
from .places import WEIGHTS, Place
from .queue import HardwareOp, new_entry


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
        self.weight_bytes = offset + -(-len(data) // PAGE) * PAGE
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

    def append(self, op_type: OpType, operation: Operation, surface: Surface) -> HardwareOp:
        entry = new_entry(len(self.ops), op_type)
        op = HardwareOp(op_type, operation, surface, entry)
        self.ops.append(op)
        return op

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
