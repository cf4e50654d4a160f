"""The operations of a DLA task while they are made: descriptors, constants, who touches what."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla import layout
from cudla_sim.nvdla.build.queue import HardwareOp, new_entry
from cudla_sim.nvdla.descriptors import (
    ConvOp,
    DataCube,
    LutParam,
    MemoryType,
    Operation,
    OpType,
    Surface,
)
from cudla_sim.nvdla.facts.configs import HardwareConfig

from .cubes import Buffer, Cube, cube_bytes, packed

WEIGHT_ALIGN = 256


@dataclass(eq=False, slots=True)
class LabelledOp(HardwareOp):
    """An operation, the nodes it computes, and the buffers it reads and writes."""

    label: str
    reads: set[Buffer]
    writes: set[Buffer]


@dataclass(eq=False)
class Task:
    """Collects operations in the order of their execution."""

    config: HardwareConfig
    without: tuple[str, ...] = ()
    """Optimisations that are left out."""
    ops: list[LabelledOp] = field(default_factory=list)
    luts: list[LutParam] = field(default_factory=list)
    weights: Buffer = field(default_factory=lambda: Buffer("weights", 0))
    blobs: list[tuple[int, bytes]] = field(default_factory=list)
    scratch: list[Buffer] = field(default_factory=list)
    label: str = ""
    curves: dict[str, float] = field(default_factory=dict)
    """How good the tables of the curves are, by label: 10 log10 (signal / noise)."""
    _cubes: list[tuple[DataCube, Buffer, int]] = field(default_factory=list)
    _constants: dict[bytes, int] = field(default_factory=dict)
    _placed: dict[int, tuple[Buffer, int]] = field(default_factory=dict)

    # -- memory -------------------------------------------------------------------------------

    def constant(self, data: NDArray[np.uint8]) -> int:
        """Store weights or operands once; return their offset in the weight buffer."""
        raw = data.tobytes()
        key = hashlib.blake2b(raw).digest()
        if key in self._constants:
            return self._constants[key]
        offset = self.weights.size
        self.blobs.append((offset, raw))
        self.weights.size = offset + -(-len(raw) // WEIGHT_ALIGN) * WEIGHT_ALIGN
        self._constants[key] = offset
        return offset

    def at(self, cube: DataCube, buffer: Buffer, offset: int) -> DataCube:
        """Note where a descriptor's cube lies."""
        self._cubes.append((cube, buffer, offset))
        self._placed[id(cube)] = buffer, offset
        return cube

    def placed(self, cube: DataCube) -> tuple[Buffer, int] | None:
        """Buffer and offset of a descriptor's cube; None for one that is in no memory."""
        return self._placed.get(id(cube))

    def cube(self, cube: Cube) -> DataCube:
        """Describe a cube."""
        return self.at(cube.describe(), cube.buffer, cube.offset)

    def packed(self, cube: Cube) -> Cube:
        """A place of its own for the contents of a cube, without gaps."""
        shape = (cube.channels, cube.height, cube.width)
        buffer = Buffer(
            f"{cube.buffer.name} packed", cube_bytes(cube.config, cube.precision, shape)
        )
        self.scratch.append(buffer)
        made = packed(buffer, cube.config, cube.precision, shape, cube.positions, cube.scale)
        return replace(made, zero=cube.zero)

    def flying(self, kernels: int, height: int, width: int) -> DataCube:
        """What CACC hands to SDP, or SDP to PDP."""
        atom = self.config.memory_atom
        return DataCube(
            type=MemoryType.HW,
            address=-1,
            width=width,
            height=height,
            channel=kernels,
            line_stride=width * atom,
            surf_stride=width * height * atom,
        )

    def table(self, precision: int, *columns: NDArray[Any]) -> DataCube:
        """Store operands of every channel (ALU, MUL), filled up to the end of the last surface."""
        count = len(columns[0])
        missing = -count % self.config.channels_per_atom(precision)
        data = layout.pack_operands(*[np.pad(column, (0, missing)) for column in columns])
        atoms = self.config.channels_per_atom(precision) * columns[0].itemsize * len(columns)
        cube = DataCube(
            type=MemoryType.MC,
            size=len(data),
            width=1,
            height=1,
            channel=count,
            line_stride=atoms,
            surf_stride=atoms,
        )
        return self.at(cube, self.weights, self.constant(data))

    # -- operations ---------------------------------------------------------------------------

    def append(
        self,
        op_type: OpType,
        operation: Operation,
        surface: Surface,
        reads: Iterable[Buffer],
        writes: Iterable[Buffer] = (),
    ) -> LabelledOp:
        """Add an operation behind those there are."""
        entry = new_entry(len(self.ops), op_type)
        op = LabelledOp(op_type, operation, surface, entry, self.label, set(reads), set(writes))
        self.ops.append(op)
        return op

    def reuse_weights(self) -> None:
        """Let the last convolution take the weights that the one before it leaves in the buffer."""
        found = (op.operation for op in reversed(self.ops) if op.op_type == OpType.CONV)
        last, before = next(found), next(found)
        assert isinstance(before, ConvOp)
        assert isinstance(last, ConvOp)
        before.skip_weight_rls = last.weight_reuse = 1

    def lut(self, lut: LutParam) -> int:
        """Store a table once; return its number."""
        if lut not in self.luts:
            self.luts.append(lut)
        return self.luts.index(lut)

    def place(self) -> None:
        """Enter the addresses of all buffers into the descriptors."""
        for cube, buffer, offset in self._cubes:
            cube.address = buffer.entry
            cube.offset = buffer.offset + offset
            cube.type = MemoryType.CV if buffer.second else MemoryType.MC

    def traffic(self) -> dict[Buffer, int]:
        """Bytes that operations read from and write to each buffer."""
        moved: dict[Buffer, int] = {}
        for cube, buffer, _ in self._cubes:
            surfaces = cube.size // cube.surf_stride if cube.surf_stride else 1
            size = min(cube.line_stride * cube.height * surfaces, cube.size)
            moved[buffer] = moved.get(buffer, 0) + size
        return moved
