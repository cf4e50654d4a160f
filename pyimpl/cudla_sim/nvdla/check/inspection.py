"""Helpers for the rules of the units: ranges, fields, alignment, cubes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..descriptors import DataCube, MemoryType
from ..facts import legal_registers, limits, precisions
from ..facts.configs import HardwareConfig
from ..facts.precisions import element_size
from ..loadable import Loadable, MemoryDomain, TaskEntry
from ..target import LayerDesc
from .extent import Extent
from .violation import Violation


@dataclass
class Inspection:
    """One operation, and what is found wrong with it."""

    loadable: Loadable
    task: TaskEntry
    layer: LayerDesc
    config: HardwareConfig
    found: list[Violation] = field(default_factory=list)

    @property
    def unit(self) -> str:
        return self.layer.op_type.name

    def bad(self, where: str, message: str) -> None:
        """Note a violation."""
        self.found.append(Violation(self.layer.task, self.layer.index, self.unit, where, message))

    def require(self, condition: bool, where: str, message: str) -> bool:
        """Note a violation unless *condition* holds; returns the condition."""
        if not condition:
            self.bad(where, message)
        return condition

    # -- numbers ------------------------------------------------------------------------------

    def between(self, where: str, value: int, least: int, most: int) -> bool:
        """The value must be in a range."""
        return self.require(least <= value <= most, where, f"{value}, {least} to {most} possible")

    def stored(self, where: str, value: int, place: str, minus: int = 0) -> bool:
        """The value (minus *minus*) must be one that the register field *place* can have."""
        most = legal_registers.largest(self.config, place)
        return self.between(where, value, minus, most + minus)

    def signed(self, where: str, value: int, bits: int) -> bool:
        """The value must fit into a signed field."""
        return self.between(where, value, -(1 << (bits - 1)), (1 << (bits - 1)) - 1)

    def aligned(self, where: str, value: int, unit: int = 0) -> bool:
        """The value must be a multiple (of the memory atom)."""
        step = unit or self.config.memory_atom
        return self.require(value % step == 0, where, f"{value} is no multiple of {step}")

    def precision(self, where: str, value: int) -> bool:
        """The configuration must compute in this precision."""
        return self.require(
            value in self.config.precisions,
            where,
            f"{self.config.name} has no {precisions.name(value)}",
        )

    # -- memory -------------------------------------------------------------------------------

    def place(self, where: str, address: int, offset: int) -> tuple[int, int] | None:
        """Memory and offset behind an index of the task's address list; None and a violation."""
        if not 0 <= address < len(self.task.address_list):
            count = len(self.task.address_list)
            self.bad(f"{where}.address", f"{address}: the task has {count} addresses")
            return None
        entry = self.loadable.addresses[self.task.address_list[address]]
        return entry.mem_id, entry.offset + offset

    def at(self, where: str, cube: DataCube) -> tuple[int, int] | None:
        """Memory and offset of a cube, which must be aligned and in a memory of its kind."""
        place = self.place(where, cube.address, cube.offset)
        if place is None:
            return None
        self.aligned(f"{where}.offset", place[1])
        if cube.type == MemoryType.CV:
            self.require(
                self.config.second_memory,
                f"{where}.type",
                f"{self.config.name} has no second memory",
            )
        sram = self.loadable.memories[place[0]].domain == MemoryDomain.SRAM
        if sram != (cube.type == MemoryType.CV):
            kinds = ("SRAM", "DRAM") if sram else ("DRAM", "SRAM")
            self.bad(f"{where}.type", f"the memory is {kinds[0]}, the cube says {kinds[1]}")
        return place

    def cube(self, where: str, cube: DataCube, precision: int) -> None:
        """A feature cube: sizes, strides, place."""
        for name in ("width", "height", "channel"):
            self.between(f"{where}.{name}", getattr(cube, name), 1, limits.LARGEST)
        if cube.type == MemoryType.HW:
            return
        if cube.type not in (MemoryType.MC, MemoryType.CV):
            self.bad(f"{where}.type", f"memory type {cube.type}: 0 (DRAM), 1 (SRAM), 2 (none)")
            return
        for name in ("line_stride", "surf_stride"):
            self.aligned(f"{where}.{name}", getattr(cube, name))
        place = self.at(where, cube)
        if place is None or 0 in (cube.width, cube.height, cube.channel):
            return
        extent = self.feature(where, cube, precision)
        if extent is not None and extent.overlaps_itself:
            self.bad(
                f"{where}.line_stride",
                f"lines ({cube.line_stride} bytes for {cube.width} pixels) or surfaces"
                f" ({cube.surf_stride} bytes for {cube.height} lines) lie on each other",
            )

    def feature(
        self,
        where: str,
        cube: DataCube,
        precision: int,
        *,
        batch: int = 1,
        batch_stride: int = 0,
        factor: int = 1,
    ) -> Extent | None:
        """The bytes of a feature cube, None if it is in no memory.

        *factor* widens its atoms (operands of SDP with one or two components).
        """
        if cube.type not in (MemoryType.MC, MemoryType.CV):
            return None
        if not 0 <= cube.address < len(self.task.address_list):
            return None
        entry = self.loadable.addresses[self.task.address_list[cube.address]]
        surfaces = -(-cube.channel * element_size(precision) // self.config.memory_atom)
        run = cube.width * self.config.memory_atom * factor
        return Extent(
            entry.mem_id,
            entry.offset + cube.offset,
            run,
            ((cube.height, cube.line_stride), (surfaces, cube.surf_stride), (batch, batch_stride)),
        )

    def surface(self, cube: DataCube, size: int) -> Extent | None:
        """*size* bytes in a row from where a cube begins."""
        if not 0 <= cube.address < len(self.task.address_list):
            return None
        entry = self.loadable.addresses[self.task.address_list[cube.address]]
        return Extent(entry.mem_id, entry.offset + cube.offset, size)


@dataclass(frozen=True, slots=True)
class Accesses:
    """What an operation reads and writes; *source* reads end when CDMA has its data."""

    reads: tuple[tuple[str, Extent], ...] = ()
    writes: tuple[tuple[str, Extent], ...] = ()

    def all(self) -> Iterator[tuple[str, Extent, bool]]:
        """(name, bytes, is a write)."""
        for name, extent in self.reads:
            yield name, extent, False
        for name, extent in self.writes:
            yield name, extent, True


def accesses(
    reads: list[tuple[str, Extent | None]], writes: list[tuple[str, Extent | None]]
) -> Accesses:
    """Leave out what is in no memory."""
    return Accesses(
        tuple((name, item) for name, item in reads if item is not None),
        tuple((name, item) for name, item in writes if item is not None),
    )
