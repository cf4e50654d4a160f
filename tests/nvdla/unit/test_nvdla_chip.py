"""Register file and launch rules: groups, pointers, events."""

from __future__ import annotations

import numpy as np
import pytest

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import HardwareFault, MemoryAccessError
from cudla_sim.nvdla.again.layers import Layers
from cudla_sim.nvdla.facts import registers
from cudla_sim.nvdla.facts.configs import CONFIGS, config
from cudla_sim.nvdla.hw.chip import Chip
from cudla_sim.nvdla.hw.memory import Memory

BASE = 0x1_0000_0000


class Bench:
    """A chip with 64 KiB of memory."""

    def __init__(self, name: str = "nv_small") -> None:
        self.data = np.zeros(1 << 16, np.uint8)
        space = AddressSpace()
        space.map(BASE, len(self.data), name="memory", data=self.data)
        self.chip = Chip(config(name), Memory(space))
        Layers(self.chip)
        self.line = self.chip.config.line

    def write(self, block: str, register: str, value: int) -> None:
        self.chip.write(registers.block(self.line, block).address(register), value)

    def read(self, block: str, register: str) -> int:
        return self.chip.read(registers.block(self.line, block).address(register))

    def pooling(self, source: int = BASE, channels: int = 8) -> None:
        """Program a 1x1 pooling (a copy) of one pixel and enable it."""
        self.write("PDP_RDMA", "D_SRC_BASE_ADDR_LOW", source & 0xFFFFFFFF)
        self.write("PDP_RDMA", "D_SRC_BASE_ADDR_HIGH", source >> 32)
        self.write("PDP_RDMA", "D_SRC_RAM_CFG", 1)
        for block in ("PDP_RDMA", "PDP"):
            self.write(block, "D_DATA_CUBE_IN_CHANNEL", channels - 1)
        self.write("PDP", "D_DATA_CUBE_OUT_CHANNEL", channels - 1)
        self.write("PDP", "D_OPERATION_MODE_CFG", 1 | 1 << 4)
        self.write("PDP", "D_DST_BASE_ADDR_LOW", 0x1000)
        self.write("PDP", "D_DST_BASE_ADDR_HIGH", BASE >> 32)
        self.write("PDP", "D_DST_RAM_CFG", 1)
        self.write("PDP_RDMA", "D_OP_ENABLE", 1)
        self.write("PDP", "D_OP_ENABLE", 1)


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.mark.parametrize("name", list(CONFIGS))
def test_version_register(name: str) -> None:
    assert Bench(name).read("GLB", "S_NVDLA_HW_VERSION") == 0x00303031


def test_producer_selects_the_group_that_is_written_and_read(bench: Bench) -> None:
    bench.write("SDP", "D_DATA_CUBE_WIDTH", 5)
    bench.write("SDP", "S_POINTER", 1)
    assert bench.read("SDP", "D_DATA_CUBE_WIDTH") == 0
    bench.write("SDP", "D_DATA_CUBE_WIDTH", 7)
    bench.write("SDP", "S_POINTER", 0)
    assert bench.read("SDP", "D_DATA_CUBE_WIDTH") == 5


def test_only_defined_bits_are_kept(bench: Bench) -> None:
    bench.write("SDP", "D_DATA_CUBE_WIDTH", 0xFFFFFFFF)
    assert bench.read("SDP", "D_DATA_CUBE_WIDTH") == 0x1FFF
    full = Bench("nv_full")
    full.write("PDP", "D_DST_LINE_STRIDE", 0x47)
    assert full.read("PDP", "D_DST_LINE_STRIDE") == 0x40


def test_writes_to_an_enabled_group_are_dropped_and_recorded(bench: Bench) -> None:
    bench.write("SDP", "D_OP_ENABLE", 1)
    bench.write("SDP", "D_DATA_CUBE_WIDTH", 9)
    assert bench.read("SDP", "D_DATA_CUBE_WIDTH") == 0
    assert bench.read("SDP", "D_OP_ENABLE") == 1
    bench.write("SDP", "D_OP_ENABLE", 0)
    assert bench.read("SDP", "D_OP_ENABLE") == 1
    assert "enabled" in bench.chip.csb.rejected[0].reason


def test_status_tells_running_from_pending(bench: Bench) -> None:
    for group in (0, 1):
        bench.write("SDP", "S_POINTER", group)
        bench.write("SDP", "D_OP_ENABLE", 1)
    assert bench.read("SDP", "S_STATUS") == 1 | 2 << 16


def test_read_only_and_unknown_addresses_are_harmless(bench: Bench) -> None:
    bench.write("SDP", "S_STATUS", 3)
    bench.write("CFGROM", "HW_VERSION", 0)
    bench.chip.write(0xFFFFFF, 1)
    assert bench.chip.read(0xFFFFFF) == 0
    assert bench.read("CFGROM", "HW_VERSION") == 0x10001
    assert len(bench.chip.csb.rejected) == 4


def test_interrupts_mask_set_clear(bench: Bench) -> None:
    bench.write("GLB", "S_INTR_SET", 0x10001)
    assert bench.read("GLB", "S_INTR_STATUS") == 0x10001
    assert bench.chip.irq
    bench.write("GLB", "S_INTR_MASK", 0x3F03FF)
    assert not bench.chip.irq
    bench.write("GLB", "S_INTR_STATUS", 0x10000)
    assert bench.read("GLB", "S_INTR_STATUS") == 1


@pytest.mark.parametrize(("written", "kept"), [(0, 0), (0xFFFF_FFFF, 0x003F_03FF), (5, 5)])
def test_the_interrupt_mask_has_the_bits_of_the_units(
    bench: Bench, written: int, kept: int
) -> None:
    """Two each of SDP, CDP, PDP, BDMA and RUBIK, of CDMA's data and weights, and of CACC."""
    bench.write("GLB", "S_INTR_MASK", written)
    assert bench.read("GLB", "S_INTR_MASK") == kept


def test_lut_access_counts_up_and_stops_at_the_end(bench: Bench) -> None:
    bench.write("SDP", "S_LUT_ACCESS_CFG", 1 << 17 | 63)
    for value in (11, -12 & 0xFFFF, 13):
        bench.write("SDP", "S_LUT_ACCESS_DATA", value)
    lut = bench.chip.csb.blocks["SDP"].lut
    assert lut is not None
    assert lut.tables[0][63:] == [11, 13]
    bench.write("SDP", "S_LUT_ACCESS_CFG", 63)
    assert [bench.read("SDP", "S_LUT_ACCESS_DATA") for _ in range(3)] == [11, 13, 13]


def test_done_is_an_event_and_not_part_of_the_enabling_write(bench: Bench) -> None:
    bench.data[:8] = range(8)
    bench.pooling()
    assert bench.read("PDP", "D_OP_ENABLE") == 1
    assert bench.read("GLB", "S_INTR_STATUS") == 0
    assert bench.chip.step()
    assert bench.read("PDP", "D_OP_ENABLE") == 0
    assert bench.read("GLB", "S_INTR_STATUS") == 1 << 4
    assert bench.read("PDP", "S_POINTER") == 1 << 16
    assert bench.data[0x1000:0x1008].tolist() == list(range(8))
    assert not bench.chip.step()


def test_groups_alternate_strictly(bench: Bench) -> None:
    bench.pooling()
    assert bench.chip.step()
    bench.pooling()  # group 0 again, but the unit now waits for group 1
    assert not bench.chip.step()
    assert bench.read("PDP", "S_STATUS") == 2
    for block in ("PDP_RDMA", "PDP"):
        bench.write(block, "S_POINTER", 1)
    bench.pooling()
    assert bench.chip.step()
    assert bench.chip.step()
    assert bench.read("GLB", "S_INTR_STATUS") == 3 << 4


def test_incomplete_chain_says_what_is_missing(bench: Bench) -> None:
    bench.write("CDMA", "D_OP_ENABLE", 1)
    bench.write("CACC", "D_OP_ENABLE", 1)
    assert not bench.chip.step()
    assert "not enabled: CSC, CMAC_A, CMAC_B" in bench.chip.waiting()[0]


def test_feature_data_outside_memory_is_an_error_with_neighbours(bench: Bench) -> None:
    bench.pooling(source=BASE + (1 << 16) - 4)
    with pytest.raises(MemoryAccessError) as caught:
        bench.chip.step()
    assert "PDP_RDMA reads 8 bytes" in str(caught.value)
    assert "memory" in str(caught.value)


def test_overlapping_surfaces_are_refused(bench: Bench) -> None:
    bench.pooling(channels=20)
    with pytest.raises(HardwareFault, match="surface stride"):
        bench.chip.step()


def test_idle_read_dma_finishes_alone(bench: Bench) -> None:
    bench.write("SDP_RDMA", "D_FEATURE_MODE_CFG", 1)
    bench.write("SDP_RDMA", "D_OP_ENABLE", 1)
    assert bench.chip.step()
    assert bench.read("SDP_RDMA", "S_POINTER") == 1 << 16
    assert bench.read("GLB", "S_INTR_STATUS") == 0


def test_bdma_copies_lines_between_memories() -> None:
    bench = Bench("nv_full")
    bench.data[:64] = range(64)
    for register, value in (
        ("CFG_SRC_ADDR_LOW", 0),
        ("CFG_SRC_ADDR_HIGH", BASE >> 32),
        ("CFG_DST_ADDR_LOW", 0x2000),
        ("CFG_DST_ADDR_HIGH", BASE >> 32),
        ("CFG_LINE", 0),
        ("CFG_CMD", 3),
        ("CFG_LINE_REPEAT", 1),
        ("CFG_SRC_LINE", 32),
        ("CFG_DST_LINE", 64),
        ("CFG_SURF_REPEAT", 0),
        ("CFG_SRC_SURF", 64),
        ("CFG_DST_SURF", 128),
        ("CFG_OP", 1),
    ):
        bench.write("BDMA", register, value)
    assert bench.read("BDMA", "STATUS") == 19 | 1 << 8
    bench.write("BDMA", "CFG_LAUNCH1", 1)
    assert bench.read("BDMA", "STATUS") == 19 | 1 << 10
    assert bench.chip.step()
    assert bench.read("BDMA", "STATUS") == 20 | 1 << 8
    assert bench.read("GLB", "S_INTR_STATUS") == 1 << 7
    assert bench.data[0x2000:0x2020].tolist() == list(range(32))
    assert bench.data[0x2040:0x2060].tolist() == list(range(32, 64))
