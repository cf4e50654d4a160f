"""CDP, the channel data processor: local response normalisation over channels.

A value's neighbours in channel direction are squared and summed, a look-up table turns the sum
into a factor, the factor multiplies the value. fp16 uses FP17, and FP32 for the squares.
Source: nvdla/hw ``cmod/cdp/NV_NVDLA_cdp.cpp`` and ``cmod/hls/cdp_libs``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....facts.configs import HardwareConfig
from ....facts.precisions import FP16, INT16, RANGES
from ....facts.tables import LE_ENTRIES, LO_ENTRIES
from ... import floats
from ...arithmetic import rounding_shift, scaled
from ...csb import LookupTable
from ...memory import Memory
from ..lut.reference import Lookup, exponential, extrapolated, linear
from ..lut.tables import Slope
from . import cubes
from .lut import Lut
from .registers import Cdp, CdpRdma, signed

Real = NDArray[Any]


def looked_up(lut: Lut, values: Real) -> Real:
    """Look all values up."""
    p = lut.p
    distance = lut.sum(values, -lut.starts[0])
    if p.linear:
        le = linear(distance, lut.selects[0], LE_ENTRIES)
    else:
        le = exponential(distance, p.le_offset, LE_ENTRIES)
    lo = linear(lut.sum(values, -lut.starts[1]), lut.selects[1], LO_ENTRIES)
    return np.where(_choose(lut, le, lo), _value(lut, values, 1, lo), _value(lut, values, 0, le))


def _choose(lut: Lut, le: Lookup, lo: Lookup) -> NDArray[np.bool_]:
    """True where LO decides; counts each element once."""
    p, counters = lut.p, lut.counters
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


def _value(lut: Lut, values: Real, which: int, found: Lookup) -> Real:
    table = lut.tables[which]
    entry = np.clip(found.entry, 0, len(table) - 2)
    low, step = table[entry], table[entry + 1] - table[entry]
    share = np.floor(np.clip(np.nan_to_num(found.fraction), 0, 2.0**35) * 2.0**-19)
    if lut.floating:
        inside = _interpolated(low, table[entry + 1], share * 2.0**-16)
    else:
        inside = _limit(low + rounding_shift(step * share, 16))
    below, above = lut.slopes[which]
    under, over = _outside(lut, values, below, table[0]), _outside(lut, values, above, table[-1])
    return np.where(found.over, over, np.where(found.under, under, inside))


def _interpolated(low: Real, high: Real, share: Real) -> Real:
    """Value between two entries: the difference in FP32, the rest in FP17."""
    step = floats.to_fp17(floats.subtract(high, low, floats.SINGLE))
    part = floats.multiply(step, floats.rounded(share, floats.FP17), floats.FP17)
    return floats.add(part, low, floats.FP17)


def _outside(lut: Lut, values: Real, slope: Slope, end: float) -> Real:
    if lut.floating:
        return extrapolated(values, slope, end)
    step = (values - slope.origin) * slope.scale
    return _limit(rounding_shift(step, slope.shift) + end)


def _limit(values: Real) -> Real:
    return np.clip(values, *RANGES[INT16])


def _normalise_in(p: Cdp, data: Real) -> Real:
    """Input converter: sat9 or sat17 of RS((x - offset) * scale, shift)."""
    if p.precision == FP16:  # the converter only changes the format
        values = floats.widened(floats.half(data.view(np.uint16)), floats.FP17)
        return np.where(np.isnan(values), 0.0, values) if p.nan_to_zero else values
    limit = cubes.in_limit(p)
    return np.clip(
        scaled(data, cubes.in_offset(p), signed(p.in_scale, 16), p.in_shift), -limit, limit - 1
    )


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


def differs_on_chip(
    rdma: Sequence[int],
    group: Sequence[int],
    single: Sequence[int],
    table: LookupTable,
    config: HardwareConfig,
    memory: tuple[Memory, Memory],
) -> bool:
    """Whether a layer looks up other factors where the chip takes fewer bits of its settings."""
    r, p = CdpRdma.decode(rdma), Cdp.decode(group)
    source, _ = cubes.cubes(r, p, config, memory)
    values = _normalise_in(p, source.transpose(1, 2, 0, 3).reshape(r.height, r.width, -1))
    values[:, :, r.channels :] = 0
    sums = _square_sums(p, values).astype(np.float64)
    exact, taken = (looked_up(Lut(single, table, False, narrow), sums) for narrow in (False, True))
    return bool((exact != taken).any())


def run(
    rdma: Sequence[int],
    group: Sequence[int],
    single: Sequence[int],
    table: LookupTable,
    config: HardwareConfig,
    memory: tuple[Memory, Memory],
    narrow: bool = False,
) -> cubes.Result:
    """Compute one layer from memory to memory."""
    r, p = CdpRdma.decode(rdma), Cdp.decode(group)
    source, target = cubes.cubes(r, p, config, memory)
    shape = (r.channels, r.height, r.width)
    data = source.transpose(1, 2, 0, 3).reshape(r.height, r.width, -1)
    values = _normalise_in(p, data)
    values[:, :, r.channels :] = 0
    lut = Lut(single, table, p.precision == FP16, narrow)
    factor = looked_up(lut, _square_sums(p, values).astype(np.float64))
    if p.precision == FP16:
        result, saturated = _float_result(p, factor, values), 0
    else:
        result, saturated = _normalise_out(p, factor if p.mul_bypass else factor * values)
    surfaces, _, _, atom = target.shape
    part = result.reshape(r.height, r.width, surfaces, atom).transpose(2, 0, 1, 3)
    np.copyto(target, part, casting="unsafe")
    done = cubes.Result(shape, p.precision, lut.counters, saturated, bool(p.count_lut))
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
    exact = scaled(values, cubes.out_offset(p), signed(p.out_scale, 16), p.out_shift)
    limited = np.clip(exact, *RANGES[p.precision])
    return limited, int(np.count_nonzero(exact != limited))
