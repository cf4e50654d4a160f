"""CDP, the channel data processor: local response normalisation over channels.

A value's neighbours in channel direction are squared and summed, a look-up table turns the sum
into a factor, the factor multiplies the value. fp16 uses FP17, and FP32 for the squares.
Source: nvdla/hw ``cmod/cdp/NV_NVDLA_cdp.cpp`` and ``cmod/hls/cdp_libs``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....native import ints, planes
from ....errors import HardwareFault
from ....facts.configs import HardwareConfig
from ....facts.precisions import FP16, INT8, INT16, RANGES
from ....facts.tables import LE_ENTRIES, LO_ENTRIES
from ... import floats
from ...arithmetic import rounding_shift, scaled
from ...csb import LookupTable
from ...fields import Params, address, bits
from ...memory import Memory
from ..sdp.lut import (
    Counters,
    Lookup,
    Slope,
    exponential,
    extrapolated,
    fp17_table,
    half_number,
    linear,
    single_number,
    slope_pairs,
)
from ..sdp.native import touch

Shape = tuple[int, int, int]
Real = NDArray[Any]


@dataclass(slots=True)
class CdpRdma(Params):
    """Registers of CDP_RDMA that matter for the result."""

    _block = "CDP_RDMA"

    width: int = bits("D_DATA_CUBE_WIDTH.WIDTH", plus=1)
    height: int = bits("D_DATA_CUBE_HEIGHT.HEIGHT", plus=1)
    channels: int = bits("D_DATA_CUBE_CHANNEL.CHANNEL", plus=1)
    source: int = address("D_SRC_BASE_ADDR_HIGH", "D_SRC_BASE_ADDR_LOW")
    line_stride: int = bits("D_SRC_LINE_STRIDE")
    surface_stride: int = bits("D_SRC_SURFACE_STRIDE")
    source_mc: int = bits("D_SRC_DMA_CFG.SRC_RAM_TYPE")
    precision: int = bits("D_DATA_FORMAT.INPUT_DATA")


@dataclass(slots=True)
class Cdp(Params):
    """Registers of CDP that exist in groups."""

    _block = "CDP"

    sqsum_bypass: int = bits("D_FUNC_BYPASS.SQSUM_BYPASS")
    mul_bypass: int = bits("D_FUNC_BYPASS.MUL_BYPASS")
    destination: int = address("D_DST_BASE_ADDR_HIGH", "D_DST_BASE_ADDR_LOW")
    line_stride: int = bits("D_DST_LINE_STRIDE")
    surface_stride: int = bits("D_DST_SURFACE_STRIDE")
    destination_mc: int = bits("D_DST_DMA_CFG.DST_RAM_TYPE")
    precision: int = bits("D_DATA_FORMAT.INPUT_DATA_TYPE")
    reach: int = bits("D_LRN_CFG.NORMALZ_LEN", plus=1)
    in_offset: int = bits("D_DATIN_OFFSET.DATIN_OFFSET")
    in_scale: int = bits("D_DATIN_SCALE.DATIN_SCALE")
    in_shift: int = bits("D_DATIN_SHIFTER.DATIN_SHIFTER")
    out_offset: int = bits("D_DATOUT_OFFSET.DATOUT_OFFSET")
    out_scale: int = bits("D_DATOUT_SCALE.DATOUT_SCALE")
    out_shift: int = bits("D_DATOUT_SHIFTER.DATOUT_SHIFTER")
    nan_to_zero: int = bits("D_NAN_FLUSH_TO_ZERO.NAN_TO_ZERO")
    count_lut: int = bits("D_PERF_ENABLE.LUT_EN")


@dataclass(slots=True)
class CdpLut(Params):
    """LUT registers of CDP (they exist once); 38-bit limits come in two words."""

    _block = "CDP"

    linear: int = bits("S_LUT_CFG.LUT_LE_FUNCTION")
    under_priority: int = bits("S_LUT_CFG.LUT_UFLOW_PRIORITY")
    over_priority: int = bits("S_LUT_CFG.LUT_OFLOW_PRIORITY")
    hybrid_priority: int = bits("S_LUT_CFG.LUT_HYBRID_PRIORITY")
    le_offset: int = bits("S_LUT_INFO.LUT_LE_INDEX_OFFSET", signed=True)
    le_select: int = bits("S_LUT_INFO.LUT_LE_INDEX_SELECT")
    lo_select: int = bits("S_LUT_INFO.LUT_LO_INDEX_SELECT")
    le_start: int = address("S_LUT_LE_START_HIGH", "S_LUT_LE_START_LOW")
    le_end: int = address("S_LUT_LE_END_HIGH", "S_LUT_LE_END_LOW")
    lo_start: int = address("S_LUT_LO_START_HIGH", "S_LUT_LO_START_LOW")
    lo_end: int = address("S_LUT_LO_END_HIGH", "S_LUT_LO_END_LOW")
    le_under_scale: int = bits("S_LUT_LE_SLOPE_SCALE.LUT_LE_SLOPE_UFLOW_SCALE", signed=True)
    le_over_scale: int = bits("S_LUT_LE_SLOPE_SCALE.LUT_LE_SLOPE_OFLOW_SCALE", signed=True)
    le_under_shift: int = bits("S_LUT_LE_SLOPE_SHIFT.LUT_LE_SLOPE_UFLOW_SHIFT", signed=True)
    le_over_shift: int = bits("S_LUT_LE_SLOPE_SHIFT.LUT_LE_SLOPE_OFLOW_SHIFT", signed=True)
    lo_under_scale: int = bits("S_LUT_LO_SLOPE_SCALE.LUT_LO_SLOPE_UFLOW_SCALE", signed=True)
    lo_over_scale: int = bits("S_LUT_LO_SLOPE_SCALE.LUT_LO_SLOPE_OFLOW_SCALE", signed=True)
    lo_under_shift: int = bits("S_LUT_LO_SLOPE_SHIFT.LUT_LO_SLOPE_UFLOW_SHIFT", signed=True)
    lo_over_shift: int = bits("S_LUT_LO_SLOPE_SHIFT.LUT_LO_SLOPE_OFLOW_SHIFT", signed=True)


def signed(value: int, width: int) -> int:
    """Sign-extend the low *width* bits."""
    half = 1 << (width - 1)
    return ((value & ((1 << width) - 1)) ^ half) - half


class Lut:
    """The tables of CDP: 16-bit fractions and results."""

    def __init__(self, single: Sequence[int], table: LookupTable, floating: bool) -> None:
        self.p = p = CdpLut.decode(single)
        self.floating = floating
        self.counters = Counters()
        number = single_number if floating else lambda value: float(signed(value, 38))
        scale = half_number if floating else float
        if floating:
            self._tables = [fp17_table(entries) for entries in table.tables]
        else:
            self._tables = [
                np.array(entries, np.uint16).view(np.int16).astype(np.float64)
                for entries in table.tables
            ]
        self._starts = (number(p.le_start), number(p.lo_start))
        bias = 0.0
        if not p.linear and (floating or p.le_offset >= 0):
            bias = 2.0**p.le_offset if p.le_offset > -127 else 0.0
        self._under = (
            Slope(self._sum(self._starts[0], bias), scale(p.le_under_scale), p.le_under_shift),
            Slope(self._starts[1], scale(p.lo_under_scale), p.lo_under_shift),
        )
        self._over = (
            Slope(number(p.le_end), scale(p.le_over_scale), p.le_over_shift),
            Slope(number(p.lo_end), scale(p.lo_over_scale), p.lo_over_shift),
        )

    def _sum(self, first: Any, second: Any) -> Any:
        if not self.floating:
            return first + second
        return floats.add(np.asarray(first), np.asarray(second), floats.SINGLE)

    @property
    def _select_width(self) -> int:
        return 8 if self.floating else 6

    def described(self) -> ints.Lut:
        """The tables for the compiled function."""
        p, width = self.p, self._select_width
        le, lo = zip(self._under, self._over, strict=True)
        return ints.Lut(
            True,
            bool(p.linear),
            bool(p.under_priority),
            bool(p.over_priority),
            bool(p.hybrid_priority),
            self._starts,
            (2.0 ** -signed(p.le_select, width), 2.0 ** -signed(p.lo_select, width)),
            float(p.le_offset),
            *slope_pairs((le, lo), self.floating),
            2.0**15,
            self._tables,
        )

    def apply(self, values: Real) -> Real:
        """Look all values up."""
        p = self.p
        width = self._select_width
        distance = self._sum(values, -self._starts[0])
        if p.linear:
            le = linear(distance, signed(p.le_select, width), LE_ENTRIES)
        else:
            le = exponential(distance, p.le_offset, LE_ENTRIES)
        lo = linear(self._sum(values, -self._starts[1]), signed(p.lo_select, width), LO_ENTRIES)
        return np.where(
            self._choose(le, lo), self._value(values, 1, lo), self._value(values, 0, le)
        )

    def _choose(self, le: Lookup, lo: Lookup) -> NDArray[np.bool_]:
        """True where LO decides; counts each element once."""
        p, counters = self.p, self.counters
        le_hit, lo_hit = ~(le.under | le.over), ~(lo.under | lo.over)
        under, over = le.under & lo.under, le.over & lo.over
        single = le_hit != lo_hit
        use_lo = np.where(single, lo_hit, bool(p.hybrid_priority))
        use_lo = np.where(under, bool(p.under_priority), use_lo)
        counters.under += int(under.sum())
        counters.over += int(over.sum())
        counters.le_hit += int((single & le_hit).sum())
        counters.lo_hit += int((single & lo_hit).sum())
        counters.hybrid += int((~(single | under | over)).sum())
        return np.where(over, bool(p.over_priority), use_lo)

    def _value(self, values: Real, which: int, found: Lookup) -> Real:
        table = self._tables[which]
        entry = np.clip(found.entry, 0, len(table) - 2)
        low, step = table[entry], table[entry + 1] - table[entry]
        share = np.floor(np.clip(np.nan_to_num(found.fraction), 0, 2.0**35) * 2.0**-19)
        if self.floating:
            inside = self._interpolated(low, table[entry + 1], share * 2.0**-16)
        else:
            inside = self._limit(low + rounding_shift(step * share, 16))
        under = self._outside(values, self._under[which], table[0])
        over = self._outside(values, self._over[which], table[-1])
        return np.where(found.over, over, np.where(found.under, under, inside))

    @staticmethod
    def _interpolated(low: Real, high: Real, share: Real) -> Real:
        """Value between two entries: the difference in FP32, the rest in FP17."""
        step = floats.to_fp17(floats.subtract(high, low, floats.SINGLE))
        part = floats.multiply(step, floats.rounded(share, floats.FP17), floats.FP17)
        return floats.add(part, low, floats.FP17)

    def _outside(self, values: Real, slope: Slope, end: float) -> Real:
        if self.floating:
            return extrapolated(values, slope, end)
        step = (values - slope.origin) * slope.scale
        return self._limit(rounding_shift(step, slope.shift) + end)

    @staticmethod
    def _limit(values: Real) -> Real:
        return np.clip(values, *RANGES[INT16])


@dataclass(slots=True)
class Result:
    """What a layer leaves for reports and counters."""

    input_shape: Shape
    precision: int
    counters: Counters
    saturated: int
    count_lut: bool
    nan_inputs: int = 0
    infinite_inputs: int = 0
    nan_outputs: int = 0


def about(rdma: Sequence[int], group: Sequence[int]) -> Result:
    """What is known of a layer before it is computed."""
    r, p = CdpRdma.decode(rdma), Cdp.decode(group)
    shape = (r.channels, r.height, r.width)
    return Result(shape, p.precision, Counters(), 0, bool(p.count_lut))


def _normalise_in(p: Cdp, data: Real) -> Real:
    """Input converter: sat9 or sat17 of RS((x - offset) * scale, shift)."""
    if p.precision == FP16:  # the converter only changes the format
        values = floats.widened(floats.half(data.view(np.uint16)), floats.FP17)
        return np.where(np.isnan(values), 0.0, values) if p.nan_to_zero else values
    limit = _in_limit(p)
    return np.clip(
        scaled(data, _in_offset(p), signed(p.in_scale, 16), p.in_shift), -limit, limit - 1
    )


def _in_offset(p: Cdp) -> int:
    return signed(p.in_offset, 8 if p.precision == INT8 else 16)


def _in_limit(p: Cdp) -> int:
    return 1 << (8 if p.precision == INT8 else 16)


def _out_offset(p: Cdp) -> int:
    return signed(p.out_offset, 25 if p.precision == INT8 else 32)


def _square_sums(p: Cdp, values: Real) -> Real:
    """Sums of squares over the neighbouring channels (last axis); missing ones are 0."""
    if p.sqsum_bypass:
        return values
    if p.precision == FP16:
        return _float_square_sums(p.reach, values)
    squares = values * values
    frame = np.pad(squares, ((0, 0), (0, 0), (p.reach, p.reach)))
    channels = values.shape[2]
    total = squares.copy()
    for step in range(1, p.reach + 1):
        total += frame[:, :, p.reach - step :][:, :, :channels]
        total += frame[:, :, p.reach + step :][:, :, :channels]
    return total


def _float_square_sums(reach: int, values: Real) -> Real:
    """Sums of squares in FP32: neighbours in pairs, the centre after the first pair."""
    squares = floats.multiply(values, values, floats.SINGLE)
    frame = np.pad(squares, ((0, 0), (0, 0), (reach, reach)))
    channels = values.shape[2]

    def pair(step: int) -> Real:
        left = frame[:, :, reach - step :][:, :, :channels]
        right = frame[:, :, reach + step :][:, :, :channels]
        return floats.add(left, right, floats.SINGLE)

    total = floats.add(pair(1), squares, floats.SINGLE)
    for step in range(2, reach + 1):
        total = floats.add(total, pair(step), floats.SINGLE)
    return total


def _cubes(
    r: CdpRdma, p: Cdp, config: HardwareConfig, memory: tuple[Memory, Memory]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """View input and output in memory as [surface, y, x, channel]."""
    if p.precision not in config.precisions or r.precision != p.precision:
        raise HardwareFault("CDP", f"precision {p.precision} (RDMA {r.precision})")
    shape = (r.channels, r.height, r.width)
    source = memory[r.source_mc].cube(
        "CDP_RDMA",
        r.source,
        p.precision,
        shape,
        r.line_stride,
        r.surface_stride,
        config.memory_atom,
    )
    target = memory[p.destination_mc].cube(
        "CDP output",
        p.destination,
        p.precision,
        shape,
        p.line_stride,
        p.surface_stride,
        config.memory_atom,
        write=True,
    )
    return source, target


def compiled(
    rdma: Sequence[int],
    group: Sequence[int],
    single: Sequence[int],
    table: LookupTable,
    config: HardwareConfig,
    memory: tuple[Memory, Memory],
) -> planes.CdpLayer | None:
    """The layer for the compiled function; None when numpy has to do it, because the output lies
    partly over the input."""
    r, p = CdpRdma.decode(rdma), Cdp.decode(group)
    source, target = _cubes(r, p, config, memory)
    if touch(source, target):
        return None
    described = planes.Cdp(
        r.channels,
        0 if p.sqsum_bypass else p.reach,
        not p.mul_bypass,
        (_in_offset(p), signed(p.in_scale, 16) * 2.0**-p.in_shift),
        _in_limit(p),
        (_out_offset(p), signed(p.out_scale, 16) * 2.0**-p.out_shift),
        RANGES[0 if p.precision == FP16 else p.precision],
        Lut(single, table, p.precision == FP16).described(),
        p.precision == FP16,
        bool(p.nan_to_zero),
    )
    return planes.CdpLayer(described, source, target)


def run(
    rdma: Sequence[int],
    group: Sequence[int],
    single: Sequence[int],
    table: LookupTable,
    config: HardwareConfig,
    memory: tuple[Memory, Memory],
) -> Result:
    """Compute one layer from memory to memory."""
    r, p = CdpRdma.decode(rdma), Cdp.decode(group)
    source, target = _cubes(r, p, config, memory)
    shape = (r.channels, r.height, r.width)
    data = source.transpose(1, 2, 0, 3).reshape(r.height, r.width, -1)
    values = _normalise_in(p, data)
    values[:, :, r.channels :] = 0
    lut = Lut(single, table, p.precision == FP16)
    factor = lut.apply(_square_sums(p, values).astype(np.float64))
    if p.precision == FP16:
        result, saturated = _float_result(p, factor, values), 0
    else:
        result, saturated = _normalise_out(p, factor if p.mul_bypass else factor * values)
    surfaces, _, _, atom = target.shape
    part = result.reshape(r.height, r.width, surfaces, atom).transpose(2, 0, 1, 3)
    np.copyto(target, part, casting="unsafe")
    done = Result(shape, p.precision, lut.counters, saturated, bool(p.count_lut))
    if p.precision == FP16:
        inputs, outputs = data.view(np.uint16), result.view(np.uint16)
        done.nan_inputs = int(floats.is_nan_half(inputs).sum())
        done.infinite_inputs = int(floats.is_infinite_half(inputs).sum())
        done.nan_outputs = int(floats.is_nan_half(outputs).sum())
    return done


def _float_result(p: Cdp, factor: Real, values: Real) -> NDArray[np.float16]:
    """Multiply in FP17 and convert to fp16; a NaN input passes even without multiplication."""
    if p.mul_bypass:
        result = np.where(np.isnan(values), values, factor)
    else:
        result = floats.multiply(values, factor, floats.FP17)
    return floats.half_bits(result).view(np.float16)


def _normalise_out(p: Cdp, values: Real) -> tuple[Real, int]:
    """Output converter, and how many elements it cut."""
    exact = scaled(values, _out_offset(p), signed(p.out_scale, 16), p.out_shift)
    limited = np.clip(exact, *RANGES[p.precision])
    return limited, int(np.count_nonzero(exact != limited))
