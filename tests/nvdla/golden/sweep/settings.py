"""Random register settings of one operation each, legal and illegal, for nv_small.

``draw(unit, seed)`` gives the registers of one operation by block and name. The shapes are small,
the places in memory fixed: every unit reads and writes within ``SIZE`` bytes from ``BASE``. Memory
holds the bytes of ``noise`` before the operation.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

BASE, SIZE = 0x80000000, 0x20000
SOURCE, OPERANDS, WEIGHTS, TARGET = (BASE + at for at in (0, 0x8000, 0x10000, 0x18000))
ATOM = 8

Registers = dict[tuple[str, str], int]
"""By block and name, in the order in which they are written."""

ENABLED = {
    "PDP": ("PDP_RDMA", "PDP"),
    "SDP": ("SDP_RDMA", "SDP"),
    "CDP": ("CDP_RDMA", "CDP"),
    "CONV": ("SDP", "CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA"),
}
"""Blocks that take part in an operation of a unit, in the order in which they are enabled."""

DONE = {"PDP": 1 << 4, "SDP": 1 << 0, "CDP": 1 << 2, "CONV": 1 << 0 | 1 << 16 | 1 << 18 | 1 << 20}
"""Interrupt bits of a unit's operation that is done (register group 0)."""


def noise(seed: int, size: int) -> NDArray[np.uint8]:
    """Bytes that follow from *seed* (SplitMix64, the highest byte of each number)."""
    start = seed * 0xD1342543DE82EF95 % (1 << 64)
    state = np.arange(1, size + 1, dtype=np.uint64) + np.uint64(start)
    state *= np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((state ^ (state >> np.uint64(31))) >> np.uint64(56)).astype(np.uint8)


def tables(seed: int) -> tuple[list[int], list[int]]:
    """Contents of the look-up tables LE and LO of a setting."""
    values = noise(seed ^ 0x5EED, 2 * (65 + 257)).view("<u2")
    return values[:65].tolist(), values[65:].tolist()


class Dice:
    """Random numbers of one setting; ``odd`` is true where it should be illegal somewhere."""

    def __init__(self, seed: int, odd: bool) -> None:
        self._random = random.Random(seed)
        self.odd = odd

    def number(self, low: int, high: int) -> int:
        return low + self._random.getrandbits(32) % (high - low + 1)

    def one(self, *values: int) -> int:
        return values[self.number(0, len(values) - 1)]

    def often(self, part: int = 2) -> bool:
        """True once in *part* times."""
        return self.number(1, part) == 1

    def rarely(self, usual: int, *others: int, part: int = 12) -> int:
        """*usual*; in odd settings one of *others* once in *part* times."""
        return self.one(*others) if self.odd and self.often(part) else usual

    def bits(self, width: int) -> int:
        """A number of *width* bits; small ones are as likely as large ones."""
        value = self._random.getrandbits(self.number(0, width)) if width else 0
        return value ^ ((1 << width) - 1) if self.often() else value


def _strides(dice: Dice, width: int, height: int) -> tuple[int, int]:
    line = (width + (dice.number(0, 2) if dice.often(3) else 0)) * ATOM
    return line, line * height + (dice.number(0, 3) * ATOM if dice.often(4) else 0)


def _at(block: str, place: str, address: int, line: int, surface: int) -> Registers:
    return {
        (block, f"D_{place}_BASE_ADDR_LOW"): address,
        (block, f"D_{place}_BASE_ADDR_HIGH"): 0,
        (block, f"D_{place}_LINE_STRIDE"): line,
        (block, f"D_{place}_SURFACE_STRIDE"): surface,
    }


def _axis(dice: Dice) -> tuple[int, int, int, int, int, int]:
    """Size, kernel, stride, pads before and behind, and outputs of a pooling."""
    kernel = dice.number(1, 8)
    if dice.odd and dice.often(4):
        kernel = dice.number(9, 16)
    stride = dice.number(1, 4) if dice.often() else dice.number(1, 8)
    stride = dice.rarely(stride, *range(9, 17))
    before = dice.number(0, min(kernel - 1, 7)) if dice.often() else 0
    behind = dice.number(0, min(kernel - 1, 7)) if dice.often() else 0
    before = dice.rarely(before, *range(8), part=5)
    behind = dice.rarely(behind, *range(8), part=5)
    size = dice.number(1, 12)
    size = max(size, kernel - before - behind) if dice.often(8) else max(size, kernel - before)
    outputs = max((size + before + behind - kernel) // stride + 1, 1)
    if not dice.odd:  # as drivers set it: the pad behind is what the last window takes
        before = min(before, stride - 1)
        size = max(size, kernel)
        outputs = max((size + before - kernel + min(behind, stride - 1)) // stride + 1, 1)
        behind = min(max((outputs - 1) * stride + kernel - before - size, 0), 7)
    outputs = dice.rarely(outputs, outputs + 1, max(outputs - 1, 1), part=10)
    return size, kernel, stride, before, behind, outputs


def pdp(dice: Dice) -> Registers:
    height, kernel_y, stride_y, top, bottom, lines = _axis(dice)
    width, kernel_x, stride_x, left, right, columns = _axis(dice)
    channels = dice.number(1, 20)
    precision = dice.rarely(0, 1, 2, 3)
    splits = dice.rarely(0, 1, 2)
    line, surface = _strides(dice, width, height)
    out_line, out_surface = _strides(dice, columns, lines)
    method = dice.rarely(dice.number(0, 2), 3)
    usual = not dice.odd or dice.often()
    reciprocal = [65536 // k if usual else dice.bits(17) for k in (kernel_x, kernel_y)]
    pad = dice.number(-128, 127)
    settings: Registers = {
        ("PDP_RDMA", "D_DATA_CUBE_IN_WIDTH"): width - 1,
        ("PDP_RDMA", "D_DATA_CUBE_IN_HEIGHT"): height - 1,
        ("PDP_RDMA", "D_DATA_CUBE_IN_CHANNEL"): channels - 1,
        ("PDP_RDMA", "D_FLYING_MODE"): 1,
        **_at("PDP_RDMA", "SRC", SOURCE, line, surface),
        ("PDP_RDMA", "D_SRC_RAM_CFG"): dice.rarely(1, 0),
        ("PDP_RDMA", "D_DATA_FORMAT"): dice.rarely(precision, 0, 1, 2),
        ("PDP_RDMA", "D_OPERATION_MODE_CFG"): splits,
        ("PDP_RDMA", "D_POOLING_KERNEL_CFG"): kernel_x - 1 | stride_x - 1 << 4,
        ("PDP_RDMA", "D_POOLING_PADDING_CFG"): left,
        ("PDP_RDMA", "D_PARTIAL_WIDTH_IN"): 0,
        ("PDP", "D_DATA_CUBE_IN_WIDTH"): width - 1,
        ("PDP", "D_DATA_CUBE_IN_HEIGHT"): height - 1,
        ("PDP", "D_DATA_CUBE_IN_CHANNEL"): channels - 1,
        ("PDP", "D_DATA_CUBE_OUT_WIDTH"): columns - 1,
        ("PDP", "D_DATA_CUBE_OUT_HEIGHT"): lines - 1,
        ("PDP", "D_DATA_CUBE_OUT_CHANNEL"): channels - 1,
        ("PDP", "D_OPERATION_MODE_CFG"): method | 1 << 4 | splits << 8,
        ("PDP", "D_NAN_FLUSH_TO_ZERO"): dice.number(0, 1),
        ("PDP", "D_PARTIAL_WIDTH_IN"): 0,
        ("PDP", "D_PARTIAL_WIDTH_OUT"): 0,
        ("PDP", "D_POOLING_KERNEL_CFG"): (
            kernel_x - 1 | kernel_y - 1 << 8 | stride_x - 1 << 16 | stride_y - 1 << 20
        ),
        ("PDP", "D_RECIP_KERNEL_WIDTH"): reciprocal[0],
        ("PDP", "D_RECIP_KERNEL_HEIGHT"): reciprocal[1],
        ("PDP", "D_POOLING_PADDING_CFG"): left | top << 4 | right << 8 | bottom << 12,
    }
    for count in range(1, 8):
        value = pad * count & 0x7FFFF if usual else dice.bits(19)
        settings["PDP", f"D_POOLING_PADDING_VALUE_{count}_CFG"] = value
    settings |= _at("PDP", "SRC", SOURCE, line, surface)
    settings |= _at("PDP", "DST", TARGET, out_line, out_surface)
    settings["PDP", "D_DST_RAM_CFG"] = dice.rarely(1, 0)
    settings["PDP", "D_DATA_FORMAT"] = precision
    return settings


def _stage(dice: Dice, name: str, dma: str, at: int) -> tuple[Registers, Registers]:
    """An X stage of SDP and its operand DMA."""
    bypass = dice.number(0, 1)
    alu_bypass, mul_bypass = dice.number(0, 1), dice.number(0, 1)
    algorithm = dice.rarely(dice.number(0, 2), 3, part=4)
    prelu = int(dice.often(4))
    config = (
        bypass | alu_bypass << 1 | algorithm << 2 | mul_bypass << 4 | prelu << 5
        | dice.number(0, 1) << 6
    )  # fmt: skip
    memory_alu, memory_mul = dice.number(0, 1), dice.number(0, 1)
    alu_used = not bypass and not alu_bypass and memory_alu
    mul_used = not bypass and not mul_bypass and memory_mul
    use = 2 if alu_used and mul_used else 1 if alu_used else 0
    disable = int(not (alu_used or mul_used))
    two_bytes, per_element = dice.number(0, 1), dice.number(0, 1)
    settings: Registers = {
        ("SDP", f"D_DP_{name}_CFG"): config,
        ("SDP", f"D_DP_{name}_ALU_CFG"): memory_alu | dice.bits(6) << 8,
        ("SDP", f"D_DP_{name}_ALU_SRC_VALUE"): dice.bits(16),
        ("SDP", f"D_DP_{name}_MUL_CFG"): (
            memory_mul
            | (dice.bits(8 if dice.odd else 6) if dice.often(4) else dice.number(0, 16)) << 8
        ),
        ("SDP", f"D_DP_{name}_MUL_SRC_VALUE"): dice.bits(16),
    }
    fetch: Registers = {
        ("SDP_RDMA", f"D_{dma}_CFG"): (
            disable | use << 1 | two_bytes << 3 | per_element << 4 | dice.rarely(1, 0) << 5
        ),
        ("SDP_RDMA", f"D_{name}_BASE_ADDR_LOW"): at,
        ("SDP_RDMA", f"D_{name}_BASE_ADDR_HIGH"): 0,
    }
    return settings, fetch


def _operands(fetch: Registers, width: int, height: int) -> Registers:
    """Strides of operand cubes, for the largest atoms that an operand can have."""
    result: Registers = {}
    for name, dma in (("BS", "BRDMA"), ("BN", "NRDMA"), ("EW", "ERDMA")):
        config = fetch["SDP_RDMA", f"D_{dma}_CFG"]
        item = (1 + (config >> 3 & 1)) * (2 if config >> 1 & 3 == 2 else 1)
        line = width * ATOM * item
        result["SDP_RDMA", f"D_{name}_LINE_STRIDE"] = line
        result["SDP_RDMA", f"D_{name}_SURFACE_STRIDE"] = line * height
        result["SDP_RDMA", f"D_{name}_BATCH_STRIDE"] = 0
    return result


def _converter(dice: Dice) -> Registers:
    plain = dice.often()
    return {
        ("SDP", "D_CVT_OFFSET"): 0 if plain else dice.bits(32),
        ("SDP", "D_CVT_SCALE"): 1 if plain else dice.bits(16),
        ("SDP", "D_CVT_SHIFT"): dice.number(0, 24) if plain else dice.bits(6),
    }


def sdp(dice: Dice) -> Registers:
    width, height, channels = dice.number(1, 8), dice.number(1, 5), dice.number(1, 24)
    proc, out = dice.rarely(0, 1, 2, 3, part=10), dice.rarely(0, 1, 2, 3, part=10)
    into = dice.rarely(proc, 0, 1, 2, 3, part=5)
    winograd, batch = dice.rarely(0, 1), dice.rarely(0, 1, 3)
    bs, bs_fetch = _stage(dice, "BS", "BRDMA", OPERANDS)
    bn, bn_fetch = _stage(dice, "BN", "NRDMA", OPERANDS + 0x4000)
    ew_on = dice.rarely(0, 1, part=3)
    ew_use, ew_memory = dice.number(0, 2), dice.number(0, 1)
    ew_fetch: Registers = {
        ("SDP_RDMA", "D_ERDMA_CFG"): (
            int(not (ew_on and ew_memory)) | ew_use << 1 | dice.number(0, 3) << 3 | 1 << 5
        ),
        ("SDP_RDMA", "D_EW_BASE_ADDR_LOW"): OPERANDS,
        ("SDP_RDMA", "D_EW_BASE_ADDR_HIGH"): 0,
    }
    line, surface = _strides(dice, width, height)
    out_line, out_surface = _strides(dice, width, height)
    if (width, height) == (1, 1):
        surface = out_surface = ATOM
    settings: Registers = {
        ("SDP_RDMA", "D_DATA_CUBE_WIDTH"): width - 1,
        ("SDP_RDMA", "D_DATA_CUBE_HEIGHT"): height - 1,
        ("SDP_RDMA", "D_DATA_CUBE_CHANNEL"): channels - 1,
        **_at("SDP_RDMA", "SRC", SOURCE, line, surface),
        **bs_fetch,
        **bn_fetch,
        **ew_fetch,
        ("SDP_RDMA", "D_FEATURE_MODE_CFG"): (
            winograd << 1 | into << 2 | proc << 4 | out << 6 | batch << 8
        ),
        ("SDP_RDMA", "D_SRC_DMA_CFG"): dice.rarely(1, 0),
        ("SDP", "D_DATA_CUBE_WIDTH"): width - 1,
        ("SDP", "D_DATA_CUBE_HEIGHT"): height - 1,
        ("SDP", "D_DATA_CUBE_CHANNEL"): channels - 1,
        **_at("SDP", "DST", TARGET, out_line, out_surface),
        **bs,
        **bn,
        ("SDP", "D_DP_EW_CFG"): (
            int(not ew_on) | dice.number(0, 1) << 1 | dice.number(0, 3) << 2
            | dice.number(0, 1) << 4 | dice.number(0, 1) << 5 | dice.number(0, 1) << 6
        ),
        ("SDP", "D_DP_EW_ALU_CFG"): ew_memory | dice.number(0, 1) << 1,
        ("SDP", "D_DP_EW_ALU_SRC_VALUE"): dice.bits(32),
        ("SDP", "D_DP_EW_MUL_CFG"): ew_memory | dice.number(0, 1) << 1,
        ("SDP", "D_DP_EW_MUL_SRC_VALUE"): dice.bits(32),
        ("SDP", "D_DP_EW_TRUNCATE_VALUE"): dice.bits(10),
        ("SDP", "D_FEATURE_MODE_CFG"): winograd << 2 | dice.number(0, 1) << 3 | batch << 8,
        ("SDP", "D_DST_DMA_CFG"): dice.rarely(1, 0),
        ("SDP", "D_DST_BATCH_STRIDE"): out_surface * 4,
        ("SDP", "D_DATA_FORMAT"): proc | out << 2,
        **_converter(dice),
    }  # fmt: skip
    return settings | _operands(settings, width, height)


def cdp(dice: Dice) -> Registers:
    width, height, channels = dice.number(1, 8), dice.number(1, 4), dice.number(1, 24)
    precision = dice.rarely(0, 1, 2, 3)
    line, surface = _strides(dice, width, height)
    out_line, out_surface = _strides(dice, width, height)
    bypass = dice.number(0, 3)
    select = [dice.number(0, 12) if dice.often() else dice.bits(8) for _ in range(2)]
    offset = dice.number(0, 12) if dice.often() else dice.bits(8)
    wide = 38 if dice.odd and dice.often() else 21
    start = [dice.bits(8) if dice.often() else dice.bits(wide) for _ in range(2)]
    start = [value | (~0xFF & (1 << 38) - 1 if value >> 7 & 1 else 0) if value < 256 else value
             for value in start]  # fmt: skip
    end = [start[0] + (64 << min(select[0] & 63, 12)), start[1] + (256 << min(select[1] & 63, 12))]
    if not dice.odd and select[1] & 63 == 32:
        select[1] = 33
    end = [value if dice.often() else dice.bits(38) for value in end]
    settings: Registers = {
        ("CDP_RDMA", "D_DATA_CUBE_WIDTH"): width - 1,
        ("CDP_RDMA", "D_DATA_CUBE_HEIGHT"): height - 1,
        ("CDP_RDMA", "D_DATA_CUBE_CHANNEL"): channels - 1,
        **_at("CDP_RDMA", "SRC", SOURCE, line, surface),
        ("CDP_RDMA", "D_SRC_DMA_CFG"): dice.rarely(1, 0),
        ("CDP_RDMA", "D_DATA_FORMAT"): dice.rarely(precision, 0, 1, 2),
        ("CDP", "S_LUT_CFG"): dice.number(0, 1) | dice.number(0, 7) << 4,
        ("CDP", "S_LUT_INFO"): offset | select[0] << 8 | select[1] << 16,
    }
    for at, name in enumerate(("LE", "LO")):
        for what, value in (("START", start[at]), ("END", end[at])):
            settings["CDP", f"S_LUT_{name}_{what}_LOW"] = value & 0xFFFFFFFF
            settings["CDP", f"S_LUT_{name}_{what}_HIGH"] = value >> 32 & 0x3F
        settings["CDP", f"S_LUT_{name}_SLOPE_SCALE"] = dice.bits(32)
        settings["CDP", f"S_LUT_{name}_SLOPE_SHIFT"] = dice.bits(10)
    plain_in, plain_out = dice.often(), dice.often()
    settings |= {
        ("CDP", "D_FUNC_BYPASS"): bypass,
        **_at("CDP", "DST", TARGET, out_line, out_surface),
        ("CDP", "D_DST_DMA_CFG"): dice.rarely(1, 0),
        ("CDP", "D_DATA_FORMAT"): precision,
        ("CDP", "D_NAN_FLUSH_TO_ZERO"): dice.number(0, 1),
        ("CDP", "D_LRN_CFG"): dice.number(0, 3),
        ("CDP", "D_DATIN_OFFSET"): 0 if plain_in else dice.bits(16),
        ("CDP", "D_DATIN_SCALE"): 1 if plain_in else dice.bits(16),
        ("CDP", "D_DATIN_SHIFTER"): 0 if plain_in else dice.bits(5),
        ("CDP", "D_DATOUT_OFFSET"): 0 if plain_out else dice.bits(32),
        ("CDP", "D_DATOUT_SCALE"): 1 if plain_out else dice.bits(16),
        ("CDP", "D_DATOUT_SHIFTER"): dice.number(0, 16) if plain_out else dice.bits(6),
    }
    return settings


def convolution(dice: Dice) -> Registers:
    kernels, channels = dice.number(1, 20), dice.number(1, 20)
    rows, columns = dice.number(1, 3), dice.number(1, 3)
    stride = dice.number(1, 3), dice.number(1, 3)
    dilation = (dice.number(1, 2), dice.number(1, 2)) if dice.often(3) else (1, 1)
    pads = [dice.number(0, 2) if dice.often() else 0 for _ in range(4)]  # left, right, top, bottom
    extent = (rows - 1) * dilation[0] + 1, (columns - 1) * dilation[1] + 1
    height = max(dice.number(1, 7), extent[0] - pads[2] - pads[3])
    width = max(dice.number(1, 7), extent[1] - pads[0] - pads[1])
    lines = (height + pads[2] + pads[3] - extent[0]) // stride[0] + 1
    wide = (width + pads[0] + pads[1] - extent[1]) // stride[1] + 1
    atoms = -(-channels // ATOM)
    entries = atoms * width
    data_banks = -(-entries * height // 512)
    size = -(-kernels * rows * columns * channels // 8) * 8
    line, surface = _strides(dice, width, height)
    out_line, out_surface = _strides(dice, wide, lines)
    if (lines, wide) == (1, 1):
        out_surface = ATOM
    mode = dice.rarely(0, 1)
    into, proc = dice.rarely(0, 1, 2, 3), dice.rarely(0, 1, 2, 3)
    batch, compressed = dice.rarely(0, 1, 3), dice.rarely(0, 1)
    reuse = dice.rarely(0, 1, 2, 3)
    release = dice.number(0, 3) if dice.often(6) else 0
    misc = mode | into << 8 | proc << 12 | (reuse & 1) << 16 | (reuse >> 1) << 20
    misc |= (release & 1) << 24 | (release >> 1) << 28
    convert = dice.often(3)
    value = dice.bits(8)
    pad_value = value | (0xFF00 if value & 0x80 else 0)
    pad_value = dice.rarely(pad_value, dice.bits(16))
    settings: Registers = {
        ("CDMA", "D_MISC_CFG"): misc,
        ("CDMA", "D_DATAIN_FORMAT"): 12 << 8,
        ("CDMA", "D_DATAIN_SIZE_0"): width - 1 | height - 1 << 16,
        ("CDMA", "D_DATAIN_SIZE_1"): channels - 1,
        ("CDMA", "D_DATAIN_SIZE_EXT_0"): width - 1 | height - 1 << 16,
        ("CDMA", "D_PIXEL_OFFSET"): dice.rarely(0, 1, 7),
        ("CDMA", "D_DAIN_RAM_TYPE"): dice.rarely(1, 0),
        ("CDMA", "D_DAIN_ADDR_HIGH_0"): 0,
        ("CDMA", "D_DAIN_ADDR_LOW_0"): SOURCE,
        ("CDMA", "D_LINE_STRIDE"): line,
        ("CDMA", "D_SURF_STRIDE"): surface,
        ("CDMA", "D_DAIN_MAP"): int(line == width * ATOM)
        | int(line == width * ATOM and surface == line * height) << 16,
        ("CDMA", "D_BATCH_NUMBER"): batch,
        ("CDMA", "D_BATCH_STRIDE"): 0x800,
        ("CDMA", "D_ENTRY_PER_SLICE"): entries - 1,
        ("CDMA", "D_FETCH_GRAIN"): dice.number(0, 2),
        ("CDMA", "D_WEIGHT_FORMAT"): compressed,
        ("CDMA", "D_WEIGHT_SIZE_0"): rows * columns * channels - 1,
        ("CDMA", "D_WEIGHT_SIZE_1"): kernels - 1,
        ("CDMA", "D_WEIGHT_RAM_TYPE"): dice.rarely(1, 0),
        ("CDMA", "D_WEIGHT_ADDR_HIGH"): 0,
        ("CDMA", "D_WEIGHT_ADDR_LOW"): WEIGHTS,
        ("CDMA", "D_WEIGHT_BYTES"): size,
        ("CDMA", "D_WGS_ADDR_HIGH"): 0,
        ("CDMA", "D_WGS_ADDR_LOW"): WEIGHTS + 0x4000,
        ("CDMA", "D_WMB_ADDR_HIGH"): 0,
        ("CDMA", "D_WMB_ADDR_LOW"): WEIGHTS + 0x6000,
        ("CDMA", "D_WMB_BYTES"): 128,
        ("CDMA", "D_MEAN_FORMAT"): dice.rarely(0, 1),
        ("CDMA", "D_CVT_CFG"): int(convert) | (dice.bits(6) if dice.often(4) else 0) << 4,
        ("CDMA", "D_CVT_OFFSET"): dice.bits(16) if convert else 0,
        ("CDMA", "D_CVT_SCALE"): dice.bits(16) if convert else 1,
        ("CDMA", "D_CONV_STRIDE"): stride[1] - 1 | stride[0] - 1 << 16,
        ("CDMA", "D_ZERO_PADDING"): pads[0] | pads[1] << 8 | pads[2] << 16 | pads[3] << 24,
        ("CDMA", "D_ZERO_PADDING_VALUE"): pad_value,
        ("CDMA", "D_BANK"): data_banks - 1 | 15 << 16,
        ("CDMA", "D_NAN_FLUSH_TO_ZERO"): dice.number(0, 1),
        ("CSC", "D_MISC_CFG"): dice.rarely(misc, misc ^ 0x1000, misc ^ 1, part=20),
        ("CSC", "D_DATAIN_FORMAT"): 0,
        ("CSC", "D_DATAIN_SIZE_EXT_0"): width - 1 | height - 1 << 16,
        ("CSC", "D_DATAIN_SIZE_EXT_1"): channels - 1,
        ("CSC", "D_BATCH_NUMBER"): dice.rarely(batch, 1, part=20),
        ("CSC", "D_POST_Y_EXTENSION"): dice.rarely(0, 1, 2, 3),
        ("CSC", "D_ENTRY_PER_SLICE"): entries - 1,
        ("CSC", "D_WEIGHT_FORMAT"): compressed,
        ("CSC", "D_WEIGHT_SIZE_EXT_0"): columns - 1 | rows - 1 << 16,
        ("CSC", "D_WEIGHT_SIZE_EXT_1"): channels - 1 | kernels - 1 << 16,
        ("CSC", "D_WEIGHT_BYTES"): size,
        ("CSC", "D_WMB_BYTES"): 128,
        ("CSC", "D_DATAOUT_SIZE_0"): wide - 1 | lines - 1 << 16,
        ("CSC", "D_DATAOUT_SIZE_1"): kernels - 1,
        ("CSC", "D_ATOMICS"): wide * lines - 1,
        ("CSC", "D_RELEASE"): height - 1,
        ("CSC", "D_CONV_STRIDE_EXT"): stride[1] - 1 | stride[0] - 1 << 16,
        ("CSC", "D_DILATION_EXT"): dilation[1] - 1 | dilation[0] - 1 << 16,
        ("CSC", "D_ZERO_PADDING"): pads[0] | pads[2] << 16,
        ("CSC", "D_ZERO_PADDING_VALUE"): pad_value,
        ("CSC", "D_BANK"): data_banks - 1 | 15 << 16,
        ("CSC", "D_PRA_CFG"): dice.number(0, 2),
        ("CMAC_A", "D_MISC_CFG"): dice.rarely(mode | proc << 12, 1, 1 << 12, part=20),
        ("CMAC_B", "D_MISC_CFG"): dice.rarely(mode | proc << 12, 1, 1 << 12, part=20),
        ("CACC", "D_MISC_CFG"): dice.rarely(mode | proc << 12, 1, 1 << 12, part=20),
        ("CACC", "D_DATAOUT_SIZE_0"): wide - 1 | lines - 1 << 16,
        ("CACC", "D_DATAOUT_SIZE_1"): kernels - 1,
        ("CACC", "D_DATAOUT_ADDR"): TARGET,
        ("CACC", "D_BATCH_NUMBER"): batch,
        ("CACC", "D_LINE_STRIDE"): out_line,
        ("CACC", "D_SURF_STRIDE"): out_surface,
        ("CACC", "D_DATAOUT_MAP"): int((lines, wide) == (1, 1)) * 0x10001,
        ("CACC", "D_CLIP_CFG"): dice.number(0, 31) if dice.often(3) else dice.number(0, 8),
        ("SDP", "D_DATA_CUBE_WIDTH"): wide - 1,
        ("SDP", "D_DATA_CUBE_HEIGHT"): lines - 1,
        ("SDP", "D_DATA_CUBE_CHANNEL"): kernels - 1,
        **_at("SDP", "DST", TARGET, out_line, out_surface),
        ("SDP", "D_DP_BS_CFG"): 1,
        ("SDP", "D_DP_BN_CFG"): 1,
        ("SDP", "D_DP_EW_CFG"): 1,
        ("SDP", "D_FEATURE_MODE_CFG"): 1 | mode << 2 | batch << 8,
        ("SDP", "D_DST_DMA_CFG"): 1,
        ("SDP", "D_DST_BATCH_STRIDE"): 0x800,
        ("SDP", "D_DATA_FORMAT"): 0,
        **_converter(dice),
    }
    return settings


DRAW: dict[str, Callable[[Dice], Registers]] = {
    "PDP": pdp,
    "SDP": sdp,
    "CDP": cdp,
    "CONV": convolution,
}


def draw(unit: str, seed: int) -> Registers:
    """The registers of setting *seed* of a unit; every third one is legal everywhere."""
    return DRAW[unit](Dice(seed, odd=seed % 3 != 0))
