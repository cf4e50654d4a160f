"""What register programming may look at besides the descriptors of the operation."""

from __future__ import annotations

from dataclasses import dataclass

from ..descriptors import DataCube, LutParam, MemoryType, NetworkDesc, Roi, RoiArray
from .port import Destination, Port, invalid

Writes = list[tuple[str, int]]
"""Register writes of one block in order: (register name, value)."""

Program = list[tuple[str, Writes]]
"""Register writes of several blocks in order: (block name, writes)."""


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """What the firmware knows about the hardware (its ``config_data``)."""

    atom_size: int
    bdma_enable: bool
    rubik_enable: bool
    weight_compress_support: bool


@dataclass(slots=True)
class Context:
    """Surroundings of one operation. ``lut`` is set if the operation uses a table."""

    port: Port
    config: EngineConfig
    network: NetworkDesc
    roi_array_handle: int
    surface_address: int
    op_index: int = 0
    roi_index: int = 0
    lut: LutParam | None = None

    def cube_address(self, what: str, cube: DataCube) -> int:
        """Bus address of a data cube that names an entry of the address list."""
        if cube.address < 0:
            raise invalid(f"{what} of operation {self.op_index} has address index {cube.address}")
        return self.port.dma_address(cube.address, Destination.DMA) + cube.offset

    def optional_address(self, what: str, cube: DataCube, otherwise: int = 0) -> int:
        """Bus address of a data cube, or *otherwise* if its address index is -1."""
        return otherwise if cube.address == -1 else self.cube_address(what, cube)

    def input_address(self, what: str, cube: DataCube, bytes_per_pixel: int) -> int:
        """Bus address of an input; 0 if another unit hands it over; honours dynamic ROIs."""
        if cube.type == MemoryType.HW:
            return 0
        network = self.network
        dynamic = bool(network.dynamic_roi) and network.input_layer == self.op_index
        if cube.address != -1:
            if dynamic:
                raise invalid(f"{what}: a dynamic-ROI input must not have an address index")
            return self.cube_address(what, cube)
        if not dynamic or not self.surface_address:
            raise invalid(f"{what} of operation {self.op_index} has no address")
        raw = self.port.data_read(
            self.roi_array_handle,
            Roi.byte_size(),
            RoiArray.byte_size() + self.roi_index * Roi.byte_size(),
        )
        roi = Roi.decode(raw)
        return self.surface_address + roi.top * cube.line_stride + bytes_per_pixel * roi.left

    def ram_type(self, what: str, cube: DataCube) -> int:
        """Register code of the memory behind a cube: 1 DRAM, 0 SRAM."""
        if cube.type not in (MemoryType.MC, MemoryType.CV):
            raise invalid(f"{what} of operation {self.op_index} has memory type {cube.type}")
        return 1 if cube.type == MemoryType.MC else 0


def high_low(address: int) -> tuple[int, int]:
    """Split a bus address into its register halves."""
    return address >> 32 & 0xFFFFFFFF, address & 0xFFFFFFFF
