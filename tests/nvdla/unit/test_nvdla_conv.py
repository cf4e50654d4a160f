"""Convolution details that recorded data do not pin down: pixels, reuse, batch, limits."""

from __future__ import annotations

import numpy as np
import pytest

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import HardwareFault, MemoryAccessError
from cudla_sim.nvdla.facts import registers
from cudla_sim.nvdla.facts.configs import config
from cudla_sim.nvdla.facts.maps.enums import ENUMS
from cudla_sim.nvdla.hw.chip import Chip
from cudla_sim.nvdla.hw.memory import Memory
from cudla_sim.nvdla.hw.units import gemm, pixels
from cudla_sim.nvdla.hw.units.cdma import Cdma, Odd

BASE = 0x2_0000_0000
CHAIN = ("SDP", "CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA")
FORMATS = ENUMS["pixel_format"]


class Bench:
    """A chip with memory, programmed by name."""

    def __init__(self, name: str = "nv_full") -> None:
        self.data = np.zeros(1 << 15, np.uint8)
        space = AddressSpace()
        space.map(BASE, len(self.data), name="memory", data=self.data)
        self.memory = Memory(space)
        self.chip = Chip(config(name), self.memory)
        self.line = self.chip.config.line

    def write(self, block: str, **values: int) -> None:
        layout = registers.block(self.line, block)
        for name, value in values.items():
            self.chip.write(layout.address(name), value & 0xFFFFFFFF)

    def convolution(self, group: int = 0, **cdma: int) -> None:
        """A 1x1 convolution of 32 channels, 1 kernel, int8; *cdma* adds registers."""
        for block in (*CHAIN, "SDP_RDMA"):
            self.write(block, S_POINTER=group)
        high = BASE >> 32
        misc = cdma.pop("D_MISC_CFG", 0)
        batch = cdma.get("D_BATCH_NUMBER", 0)
        self.write("CSC", D_MISC_CFG=misc, D_WEIGHT_SIZE_EXT_1=31, D_BATCH_NUMBER=batch)
        self.write(
            "CDMA",
            D_MISC_CFG=misc,
            D_DATAIN_SIZE_1=31,
            D_DAIN_ADDR_HIGH_0=high,
            D_WEIGHT_ADDR_HIGH=high,
            D_WEIGHT_ADDR_LOW=0x1000,
            **{"D_WEIGHT_BYTES": 128, **cdma},
        )
        self.write(
            "SDP",
            D_DP_BS_CFG=1,
            D_DP_BN_CFG=1,
            D_DP_EW_CFG=1,
            D_FEATURE_MODE_CFG=1 | batch << 8,
            D_DST_BASE_ADDR_HIGH=high,
            D_DST_BASE_ADDR_LOW=0x2000 + 0x20 * group,
            D_DST_BATCH_STRIDE=0x100,
            D_CVT_SCALE=1,
        )
        for block in CHAIN:
            self.write(block, D_OP_ENABLE=1)

    def run(self) -> None:
        while self.chip.step():
            pass


def picture(bench: Bench, name: str, *, sign: int = 0, offset: int = 0, convert: int = 1):
    """Unpack a 2x2 picture at the start of memory."""
    bench.write(
        "CDMA",
        D_DATAIN_FORMAT=1 | FORMATS["T_" + name] << 8 | sign << 20,
        D_DATAIN_SIZE_0=1 | 1 << 16,
        D_DATAIN_SIZE_1=pixels.channel_count(name) - 1,
        D_PIXEL_OFFSET=offset,
        D_DAIN_ADDR_HIGH_0=BASE >> 32,
        D_DAIN_ADDR_HIGH_1=BASE >> 32,
        D_DAIN_ADDR_LOW_1=0x100,
        D_LINE_STRIDE=32,
        D_LINE_UV_STRIDE=32,
        D_CVT_CFG=convert,
    )
    params = Cdma.decode(bench.chip.csb.blocks["CDMA"].groups[0])
    return pixels.unpack(params, bench.memory)[0]


@pytest.mark.parametrize(
    ("name", "positions"),
    [
        ("A8B8G8R8", [0, 1, 2, 3]),
        ("X8R8G8B8", [2, 1, 0, 3]),
        ("A8Y8U8V8", [2, 1, 0, 3]),
        ("V8U8Y8A8", [1, 2, 3, 0]),
        ("B8G8R8X8", [1, 2, 3, 0]),
        ("R8G8B8A8", [3, 2, 1, 0]),
    ],
)
def test_channel_order(name: str, positions: list[int]) -> None:
    bench = Bench()
    bench.data[:8] = [10, 11, 12, 13, 20, 21, 22, 23]
    assert picture(bench, name)[0].tolist() == [
        [10 + place for place in positions],
        [20 + place for place in positions],
    ]


@pytest.mark.parametrize(
    ("name", "shifts"),
    [
        ("A2B10G10R10", (0, 10, 20, 30)),
        ("A2R10G10B10", (20, 10, 0, 30)),
        ("B10G10R10A2", (2, 12, 22, 0)),
        ("R10G10B10A2", (22, 12, 2, 0)),
    ],
)
def test_packed_ten_bit(name: str, shifts: tuple[int, ...]) -> None:
    bench = Bench()
    values = (0x155, 0x2AA, 0x3FF, 2)
    word = sum(value << shift for value, shift in zip(values, shifts, strict=True))
    bench.data[:4] = np.array([word], np.uint32).view(np.uint8)
    assert picture(bench, name)[0, 0].tolist() == [0x155 << 6, 0x2AA << 6, 0x3FF << 6, 2 << 14]


@pytest.mark.parametrize(
    ("name", "order"), [("Y8___U8V8_N444", [1, 0]), ("Y8___V8U8_N444", [0, 1])]
)
def test_two_planes(name: str, order: list[int]) -> None:
    bench = Bench()
    bench.data[:2] = [1, 2]
    bench.data[0x100:0x104] = [30, 31, 40, 41]
    assert picture(bench, name)[0].tolist() == [
        [1, 30 + order[0], 30 + order[1]],
        [2, 40 + order[0], 40 + order[1]],
    ]


def test_numbers_that_are_none_are_counted() -> None:
    """fp16 patterns: two infinities, one NaN, the largest number, zeros."""
    odd = Odd()
    assert not odd.count(np.array([0x7C00, 0xFC00, 0x7BFF, 0, 0x8000], np.uint16))
    assert odd.count(np.array([0x7C01], np.uint16))
    assert (odd.infinite, odd.nan) == (2, 1)


def test_sign_and_offset() -> None:
    bench = Bench()
    bench.data[:4] = [1, 200, 3, 4]
    assert picture(bench, "R8", offset=1)[0, :, 0].tolist() == [200, 3]
    assert picture(bench, "R8", sign=1)[0, :, 0].tolist() == [1, -56]
    assert picture(bench, "R8", convert=0)[0, :, 0].tolist() == [1, -56]


def test_weights_and_data_can_be_reused() -> None:
    bench = Bench()
    bench.data[:32] = 1
    bench.data[0x1000:0x1020] = 2
    keep = 1 << 24 | 1 << 28
    bench.convolution(0, D_MISC_CFG=keep)
    bench.run()
    bench.data[:32] = 77
    bench.data[0x1000:0x1020] = 77
    bench.convolution(1, D_MISC_CFG=1 << 20)
    bench.run()
    assert bench.data[0x2000] == 64
    assert bench.data[0x2020] == 127


def test_reuse_of_nothing_is_an_error() -> None:
    bench = Bench()
    bench.convolution(0, D_MISC_CFG=1 << 16)
    with pytest.raises(HardwareFault, match="data reuse"):
        bench.run()


def test_batch_shares_weights() -> None:
    bench = Bench()
    bench.data[0x1000:0x1020] = 1
    for number in range(3):
        bench.data[0x40 * number : 0x40 * number + 32] = number + 1
    bench.convolution(0, D_BATCH_NUMBER=2, D_BATCH_STRIDE=0x40)
    bench.run()
    assert [bench.data[0x2000 + 0x100 * number] for number in range(3)] == [32, 64, 96]


def test_weights_may_end_before_their_padding_but_must_exist() -> None:
    where = registers.block("v1", "CDMA").by_name["D_WEIGHT_ADDR_LOW"].offset // 4
    bench = Bench()
    bench.data[:32] = 1
    bench.data[-16:] = 1
    bench.convolution(0)
    bench.chip.csb.blocks["CDMA"].groups[0][where] = len(bench.data) - 16
    bench.run()
    assert bench.data[0x2000] == 16
    bench = Bench()
    bench.convolution(0)
    bench.chip.csb.blocks["CDMA"].groups[0][where] = 0x7000_0000
    with pytest.raises(MemoryAccessError, match="CDMA weights"):
        bench.run()


def test_incomplete_winograd_and_compression_are_named() -> None:
    for registers_, text in (
        ({"D_MISC_CFG": 1}, "Winograd weights of 1 x 1 x 32"),
        ({"D_WEIGHT_FORMAT": 1}, "WMB_BYTES is 0"),
    ):
        bench = Bench()
        bench.write("CSC", D_WEIGHT_FORMAT=registers_.get("D_WEIGHT_FORMAT", 0))
        bench.convolution(0, **registers_)
        with pytest.raises(HardwareFault, match=text):
            bench.run()


def test_precision_that_the_configuration_lacks() -> None:
    bench = Bench("nv_small")
    bench.convolution(0, D_MISC_CFG=1 << 8 | 1 << 12)
    with pytest.raises(HardwareFault, match="nv_small has no int16"):
        bench.run()


@pytest.mark.parametrize(("limit", "dtype"), [(127, np.float32), (32767, np.float64)])
def test_matrix_products_are_exact(limit: int, dtype: type) -> None:
    rng = np.random.default_rng(0)
    weights = rng.choice([-limit - 1, limit], (5, 3000)).astype(dtype)
    inputs = rng.choice([-limit - 1, limit], (4, 3000)).astype(dtype)
    matrix = gemm.prepare(weights)
    parts = gemm.chunks(matrix, float(limit + 1))
    result = gemm.multiply(inputs, matrix, parts)
    exact = inputs.astype(object) @ weights.astype(object).T
    assert (result.astype(object) == exact).all()
    assert parts[0][0] == 0
    assert parts[-1][1] == 3000
