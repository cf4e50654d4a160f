"""Registers and values of fields that a configuration does not have."""

from __future__ import annotations

import numpy as np
import pytest

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import Core, Loadable, LoadedNetwork, layout
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.check import check
from cudla_sim.nvdla.errors import HardwareFault
from cudla_sim.nvdla.facts import registers
from cudla_sim.nvdla.facts.configs import CONFIGS, config
from cudla_sim.nvdla.facts.legal_registers import RULES, has_block, illegal, interrupt_bits, largest
from cudla_sim.nvdla.hw.chip import Chip
from cudla_sim.nvdla.hw.doubt import Doubt
from cudla_sim.nvdla.hw.memory import Memory

BASE, SOURCE, TARGET = 0x1000, 0x1000, 0x3000

# Source: nvdla/hw spec/defs/*.spec (SECONDARY_MEMIF, BDMA, RUBIK), vmod/nvdla/csb_master.
MISSING = {
    "nv_full": set(),
    "nv_large": {"GEC", "BDMA", "RBK"},
    "nv_medium_1024_full": {"GEC", "BDMA", "RBK"},
    "nv_medium_512": {"GEC", "BDMA", "RBK", "CVIF"},
    "nv_small_256_full": {"GEC", "BDMA", "RBK"},
    "nv_small_256": {"GEC", "BDMA", "RBK", "CVIF"},
    "nv_small": {"GEC", "BDMA", "RBK", "CVIF"},
}
INT8_ONLY = sorted(set(CONFIGS) - {"nv_full"})


class Bench:
    """A chip with 16 KiB of memory, programmed by register name."""

    def __init__(self, name: str, strict: bool = True) -> None:
        self.config = config(name)
        self.told: list[str] = []
        self.data = np.arange(0x4000, dtype=np.uint32).astype(np.uint8)
        space = AddressSpace()
        space.map(BASE, len(self.data), name="memory", data=self.data)
        self.chip = Chip(self.config, Memory(space), doubt=Doubt(strict, self.told.append))

    def write(self, block: str, **values: int) -> None:
        layout = registers.block(self.config.line, block)
        for name, value in values.items():
            self.chip.write(layout.address(name), value & 0xFFFFFFFF)

    def read(self, block: str, name: str) -> int:
        return self.chip.read(registers.block(self.config.line, block).address(name))

    def run(self, *blocks: str) -> np.ndarray:
        """Enable blocks and run; the first bytes of the output."""
        for block in blocks:
            self.write(block, D_OP_ENABLE=1)
        while self.chip.step():
            pass
        return self.data[TARGET - BASE :][:64].view(np.int8).astype(int)

    def sdp(self, **values: int) -> np.ndarray:
        """SDP over a line of 8 pixels of one atom, with all stages off unless *values* say more."""
        atom = self.config.memory_atom
        source = {"D_SRC_BASE_ADDR_LOW": SOURCE, "D_SRC_LINE_STRIDE": 8 * atom,
                  "D_SRC_SURFACE_STRIDE": 8 * atom, "D_SRC_DMA_CFG": 1}  # fmt: skip
        rdma = {"D_FEATURE_MODE_CFG": 0, "D_BRDMA_CFG": 1, "D_NRDMA_CFG": 1, "D_ERDMA_CFG": 1}
        cube = {"D_DATA_CUBE_WIDTH": 7, "D_DATA_CUBE_HEIGHT": 0, "D_DATA_CUBE_CHANNEL": 7}
        rdma |= {name: values.pop(name) for name in list(values) if name == "D_SRC_DMA_CFG"}
        if "IN_PRECISION" in values:
            rdma["D_FEATURE_MODE_CFG"] = values.pop("IN_PRECISION") << 2
        self.write("SDP_RDMA", **cube, **{**source, **rdma})
        target = {"D_DST_BASE_ADDR_LOW": TARGET, "D_DST_LINE_STRIDE": 8 * atom,
                  "D_DST_SURFACE_STRIDE": 8 * atom, "D_DST_DMA_CFG": 1}  # fmt: skip
        stages = {"D_DP_BS_CFG": 1, "D_DP_BN_CFG": 1, "D_DP_EW_CFG": 1, "D_DATA_FORMAT": 0}
        converter = {"D_CVT_OFFSET": 0, "D_CVT_SCALE": 1, "D_CVT_SHIFT": 0}
        self.write("SDP", **cube, **{**target, **stages, **converter, **values})
        return self.run("SDP_RDMA", "SDP")

    def pdp(self, kernel: int, out: int, pads: int = 0, **values: int) -> np.ndarray:
        """A maximum over lines of 16 pixels of one atom, with windows of *kernel* columns."""
        atom = self.config.memory_atom
        cube = {"D_DATA_CUBE_IN_WIDTH": 15, "D_DATA_CUBE_IN_HEIGHT": 0}
        cube["D_DATA_CUBE_IN_CHANNEL"] = 7
        source = {"D_SRC_BASE_ADDR_LOW": SOURCE, "D_SRC_LINE_STRIDE": 16 * atom,
                  "D_SRC_SURFACE_STRIDE": 16 * atom, "D_SRC_RAM_CFG": 1}  # fmt: skip
        self.write("PDP_RDMA", **cube, **source, D_FLYING_MODE=1, D_DATA_FORMAT=0)
        target = {"D_DST_BASE_ADDR_LOW": TARGET, "D_DST_LINE_STRIDE": 16 * atom,
                  "D_DST_SURFACE_STRIDE": 16 * atom, "D_DST_RAM_CFG": 1}  # fmt: skip
        made = {"D_DATA_CUBE_OUT_WIDTH": out - 1, "D_DATA_CUBE_OUT_HEIGHT": 0}
        made["D_DATA_CUBE_OUT_CHANNEL"] = 7
        mode = {"D_OPERATION_MODE_CFG": 1 | 1 << 4, "D_POOLING_KERNEL_CFG": kernel - 1}
        mode |= {"D_POOLING_PADDING_CFG": pads, "D_DATA_FORMAT": 0}
        self.write("PDP", **cube, **target, **made, **{**mode, **values})
        return self.run("PDP_RDMA", "PDP")


# --- what exists ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(CONFIGS))
def test_missing_blocks_read_zero_and_keep_nothing(name: str) -> None:
    bench = Bench(name)
    for block in registers.blocks(bench.config.line).values():
        assert has_block(bench.config, block.name) == (block.name not in MISSING[name])
        if block.name not in MISSING[name]:
            continue
        for item in block.registers:
            for value in (0xFFFFFFFF, 1):
                bench.chip.write(block.base + item.offset, value)
                assert bench.chip.read(block.base + item.offset) == 0, item.name
    assert not bench.chip.step()


@pytest.mark.parametrize("name", sorted(CONFIGS))
def test_registers_of_blocks_that_exist_keep_their_masks(name: str) -> None:
    bench = Bench(name)
    for block in registers.blocks(bench.config.line).values():
        for item in block.registers:
            special = item.name.startswith(("S_", "D_OP_ENABLE", "CFG_OP", "CFG_LAUNCH", "STATUS"))
            if block.name in {*MISSING[name], "CFGROM"} or special or not item.write_mask:
                continue
            bench.chip.write(block.base + item.offset, 0xFFFFFFFF)
            found = bench.chip.read(block.base + item.offset)
            assert found == item.read_mask & item.write_mask | item.reset & ~item.write_mask


@pytest.mark.parametrize("name", sorted(CONFIGS))
def test_interrupts_of_missing_units_cannot_be_set(name: str) -> None:
    """S_INTR_MASK keeps their bits, as in the RTL; the line does not see them."""
    bench = Bench(name)
    bits = 0x3F03FF if name == "nv_full" else 0x3F003F
    assert interrupt_bits(bench.config) == bits
    bench.write("GLB", S_INTR_SET=0xFFFFFFFF)
    assert bench.read("GLB", "S_INTR_STATUS") == bits
    bench.write("GLB", S_INTR_STATUS=0x3F003F, S_INTR_SET=0x3C0)
    assert bench.chip.irq == (name == "nv_full")
    bench.write("GLB", S_INTR_MASK=0xFFFFFFFF)
    assert bench.read("GLB", "S_INTR_MASK") == 0x3F03FF


def test_start_of_a_missing_block_is_named_in_what_a_hang_reports() -> None:
    bench = Bench("nv_small")
    bench.write("BDMA", CFG_LAUNCH0=1)
    assert bench.chip.waiting() == ["BDMA was started, nv_small has none"]


@pytest.mark.parametrize("strict", [True, False])
def test_tables_of_sdp_on_nv_small(strict: bool) -> None:
    """The chip has none; the strict model keeps them, public traces of nv_small load some."""
    bench = Bench("nv_small", strict)
    for block, there in (("SDP", strict), ("CDP", True)):
        bench.write(block, S_LUT_ACCESS_CFG=1 << 17, S_LUT_ACCESS_DATA=0x1234)
        bench.write(block, S_LUT_ACCESS_CFG=0)
        assert bench.read(block, "S_LUT_ACCESS_DATA") == (0x1234 if there else 0)


# --- values of fields ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(CONFIGS))
def test_rules_name_fields_and_values_that_fit(name: str) -> None:
    for rule in RULES:
        block, register, field = rule.place.split(".")
        found = registers.block(config(name).line, block).by_name[register].field(field)
        legal = rule.values(config(name))
        most = (1 << found.msb - found.lsb + 1) - 1
        assert legal is None or any(value in legal.values for value in range(most + 1))
        words = registers.block(config(name).line, block).registers[-1].offset // 4 + 1
        group = [0] * words
        group[0] = 0
        assert all(item.rule.block == block for item in illegal(config(name), block, group))


@pytest.mark.parametrize("kernel", [9, 16])
def test_pooling_kernel_of_more_than_8_stops(kernel: int) -> None:
    with pytest.raises(HardwareFault, match=rf"KERNEL_WIDTH is {kernel - 1}; must be 0\.\.7"):
        Bench("nv_small").pdp(kernel, 16 - kernel + 1)


def test_pooling_kernel_of_more_than_8_takes_its_low_bits_on_the_chip() -> None:
    """A kernel of 9 is one of 1: its output has all 16 columns."""
    bench = Bench("nv_small", strict=False)
    found = bench.pdp(9, 16)
    np.testing.assert_array_equal(found, bench.data[:64].view(np.int8))
    assert any("its low 3 bits" in text for text in bench.told)


@pytest.mark.parametrize(("pads", "name"), [(2, "LEFT"), (2 << 8, "RIGHT")])
def test_pooling_pad_that_is_not_less_than_the_kernel_stops(pads: int, name: str) -> None:
    for strict in (True, False):
        with pytest.raises(HardwareFault, match=f"PAD_{name} is 2 with a kernel of 2"):
            Bench("nv_small", strict).pdp(2, 17, pads)


def test_averages_beyond_8_bits_saturate_with_a_warning_and_wrap_on_the_chip() -> None:
    """1 x 1 windows with a reciprocal of 1.5: 100 becomes 150, whose low 7 bits are 22."""
    mode = {"D_OPERATION_MODE_CFG": 0 | 1 << 4, "D_RECIP_KERNEL_WIDTH": 3 << 15}
    mode["D_RECIP_KERNEL_HEIGHT"] = 1 << 16
    for strict, wanted in ((True, 127), (False, 22)):
        bench = Bench("nv_small", strict)
        bench.data[:8] = 100
        assert bench.pdp(1, 16, **mode)[0] == wanted
        assert ["averages leave the 8 bits" in text for text in bench.told] == [True]


@pytest.mark.parametrize("stage", ["BS", "BN"])
@pytest.mark.parametrize("name", sorted(CONFIGS))
def test_alu_algorithm_3_of_an_x_stage_stops(name: str, stage: str) -> None:
    with pytest.raises(HardwareFault, match=f"{stage}_ALU_ALGO is 3; must be 0"):
        Bench(name).sdp(**{f"D_DP_{stage}_CFG": 3 << 2 | 1 << 4 | 1 << 6})


@pytest.mark.parametrize("stage", ["BS", "BN"])
def test_alu_algorithm_3_of_an_x_stage_adds_on_the_chip(stage: str) -> None:
    values = {f"D_DP_{stage}_ALU_SRC_VALUE": 5, f"D_DP_{stage}_ALU_CFG": 0}
    found, wanted = (
        Bench("nv_small", strict=False).sdp(
            **values, **{f"D_DP_{stage}_CFG": algorithm << 2 | 1 << 4 | 1 << 6}
        )
        for algorithm in (3, 2)
    )
    np.testing.assert_array_equal(found, wanted)


def test_alu_algorithm_3_of_a_stage_that_is_off_is_no_matter() -> None:
    bench = Bench("nv_small")
    np.testing.assert_array_equal(bench.sdp(D_DP_BS_CFG=3 << 2 | 1), bench.data[:64].view(np.int8))


def test_multiplier_shift_of_more_than_6_bits_stops() -> None:
    values = {"D_DP_BS_CFG": 1 << 1 | 1 << 6, "D_DP_BS_MUL_CFG": 64 << 8}
    with pytest.raises(HardwareFault, match=r"BS_MUL_SHIFT_VALUE is 64; must be 0\.\.63"):
        Bench("nv_small").sdp(**values, D_DP_BS_MUL_SRC_VALUE=1)
    bench = Bench("nv_small", strict=False)
    found = bench.sdp(**values, D_DP_BS_MUL_SRC_VALUE=1)
    np.testing.assert_array_equal(found, bench.data[:64].view(np.int8))


@pytest.mark.parametrize("name", INT8_ONLY)
def test_int16_input_of_sdp_stops_without_int16(name: str) -> None:
    with pytest.raises(HardwareFault, match=f"IN_PRECISION is 1, and {name} has no int16"):
        Bench(name).sdp(IN_PRECISION=1)


def test_int16_input_of_sdp_fills_half_an_atom_on_the_chip() -> None:
    """As the RTL: four 16-bit numbers, cut to 8 bits by the converter, then zeros; a surface that
    was fetched in excess is left for the next operation."""
    bench = Bench("nv_small", strict=False)
    found = bench.sdp(IN_PRECISION=1).reshape(8, 8)
    halves = bench.data[:64].view("<i2").reshape(8, 4)
    np.testing.assert_array_equal(found[:, :4], np.clip(halves, -128, 127))
    assert not found[:, 4:].any()
    for block in ("SDP", "SDP_RDMA"):
        bench.write(block, S_POINTER=1)
    with pytest.raises(HardwareFault, match="left data unread"):
        bench.sdp()


@pytest.mark.parametrize("name", sorted(CONFIGS))
def test_ram_type_of_the_second_memory_needs_one(name: str) -> None:
    """Without it the RTL waits for ever."""
    values = [{"D_SRC_DMA_CFG": 0}, {"D_DST_DMA_CFG": 0}]
    for value in values:
        if config(name).second_memory:
            Bench(name).sdp(**value)
            continue
        for strict in (True, False):
            with pytest.raises(HardwareFault, match=f"{name} has no second memory"):
                Bench(name, strict).sdp(**value)


@pytest.mark.parametrize("name", sorted(CONFIGS))
def test_y_stage_that_a_configuration_lacks(name: str) -> None:
    """A multiplication by 3: computed with one warning, passed by on the chip."""
    values = {"D_DP_EW_CFG": 1 << 1 | 1 << 6, "D_DP_EW_MUL_SRC_VALUE": 3}
    values |= {"D_DP_EW_MUL_CFG": 0, "D_DP_EW_TRUNCATE_VALUE": 0}
    lacks = name in ("nv_small", "nv_small_256", "nv_medium_512")
    bench = Bench(name)
    data = bench.data[:64].view(np.int8).astype(int)
    threefold = np.clip(3 * data, -128, 127)
    for _ in range(2):
        np.testing.assert_array_equal(bench.sdp(**values), threefold)
        for block in ("SDP", "SDP_RDMA"):  # the second run is in the other group
            bench.write(block, S_POINTER=1)
    assert [f"{name} has no Y stage" in text for text in bench.told] == [True] * lacks
    found = Bench(name, strict=False).sdp(**values)
    np.testing.assert_array_equal(found, data if lacks else threefold)


# --- CDP has look-up tables everywhere -----------------------------------------------------------


def lrn(name: str, size: int) -> tuple[Loadable, np.ndarray]:
    """A loadable with an LRN for a configuration, and an input for it."""
    pictures = np.random.default_rng(size).normal(size=(4, 20, 4, 5)) * 2
    net = Network(input=("x", (1, 20, 4, 5)), precision="int8", config=name)
    net.lrn(size, alpha=0.3, beta=0.75, k=1.0)
    return Loadable.parse(net.build(calibration=pictures)), net.quantize_input(pictures[:1])


def executed(name: str, loadable: Loadable, x: np.ndarray) -> np.ndarray:
    space = AddressSpace("memory")
    network = LoadedNetwork(loadable, space, name)
    source = space.allocate(loadable.inputs[0].size, name="input")
    target = space.allocate(loadable.outputs[0].size, name="output")
    raw = np.frombuffer(layout.pack_tensor(loadable.inputs[0], x).tobytes(), np.uint8)
    source.data[: len(raw)] = raw
    Core(name).run(network, [source.base], [target.base])
    return layout.unpack_tensor(loadable.outputs[0], target.data)


@pytest.mark.parametrize("size", [3, 5, 7, 9])
@pytest.mark.parametrize("name", ["nv_small", "nv_small_256", "nv_medium_512"])
def test_lrn_equals_that_of_nv_large(name: str, size: int) -> None:
    """The RTL of nv_small gave the same bytes."""
    mine, x = lrn(name, size)
    assert check(mine, name) == []
    other, y = lrn("nv_large", size)
    np.testing.assert_array_equal(x, y)
    np.testing.assert_array_equal(executed(name, mine, x), executed("nv_large", other, y))


def test_starts_of_cdp_tables_beyond_22_bits_stop_where_they_matter() -> None:
    """A table that begins at -2^22 begins at 0 for the chip."""
    bench = Bench("nv_small")
    with pytest.raises(HardwareFault, match=r"S_LUT_LO_START is -4194304; must be in -2097152"):
        cdp(bench)
    exact, chip = Bench("nv_full"), Bench("nv_small", strict=False)
    assert (cdp(exact) != cdp(chip)).any()


def cdp(bench: Bench) -> np.ndarray:
    """The factors of a table that counts: LO from -2^22 in steps of 2^15, sums not squared."""
    atom = bench.config.memory_atom
    cube = {"D_DATA_CUBE_WIDTH": 7, "D_DATA_CUBE_HEIGHT": 0, "D_DATA_CUBE_CHANNEL": 7}
    source = {"D_SRC_BASE_ADDR_LOW": SOURCE, "D_SRC_LINE_STRIDE": 8 * atom}
    source |= {"D_SRC_SURFACE_STRIDE": 8 * atom, "D_SRC_DMA_CFG": 1, "D_DATA_FORMAT": 0}
    bench.write("CDP_RDMA", **cube, **source)
    bench.write("CDP", S_LUT_ACCESS_CFG=1 << 17 | 1 << 16)
    for entry in range(257):
        bench.write("CDP", S_LUT_ACCESS_DATA=entry % 100)
    low, high = -(1 << 22) & 0xFFFFFFFF, 0x3F
    bench.write("CDP", S_LUT_LO_START_LOW=low, S_LUT_LO_START_HIGH=high, S_LUT_INFO=15 << 16)
    bench.write("CDP", S_LUT_LE_START_LOW=1 << 20, S_LUT_CFG=1 | 7 << 4)
    target = {"D_DST_BASE_ADDR_LOW": TARGET, "D_DST_LINE_STRIDE": 8 * atom}
    target |= {"D_DST_SURFACE_STRIDE": 8 * atom, "D_DST_DMA_CFG": 1, "D_DATA_FORMAT": 0}
    bench.write("CDP", **target, D_FUNC_BYPASS=3, D_DATIN_SCALE=1, D_DATOUT_SCALE=1)
    return bench.run("CDP_RDMA", "CDP")


def test_checker_knows_the_shifts_of_the_table() -> None:
    for place, most in (
        ("SDP.D_DP_BS_MUL_CFG.BS_MUL_SHIFT_VALUE", 63),
        ("SDP.D_CVT_SHIFT.CVT_SHIFT", 63),
    ):
        assert largest(config("nv_small"), place) == most
