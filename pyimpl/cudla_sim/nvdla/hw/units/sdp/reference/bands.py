"""SDP band by band."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....errors import HardwareFault
from .....facts.precisions import FP16, RANGES
from .... import floats
from ....arithmetic import round_half_away
from ...conv.layer import Convolution
from ...conv.reference import bands as convolved
from ..processor import Processor
from .lut import looked_up
from .stages import apply

Band = NDArray[Any]


BAND_ELEMENTS = 1 << 16
"""Elements that are processed at a time when the input comes from memory."""


def compute(
    processor: Processor,
    convolution: Convolution | None,
    batch: int,
    target: NDArray[Any] | None,
    cube: NDArray[Any] | None,
) -> None:
    """Compute one batch band by band, into *target* or *cube* if there is one."""
    for first, band in _bands(processor, convolution, batch):
        values = process(processor, band, first)
        if target is not None:
            _store(target, values, first)
        elif cube is not None:
            cube[first : first + len(values)] = values


def _load(processor: Processor, source: NDArray[Any], first: int, last: int) -> Band:
    """Return lines of the input cube as a band, padding channels included."""
    part = source[:, first:last]
    lines, width = part.shape[1], part.shape[2]
    channels = part.shape[0] * part.shape[3]
    if processor.floating:
        patterns = part.view(np.uint16)
        if processor.rdma is not None and processor.rdma.count_nan:
            processor.nan_inputs += int(floats.is_nan_half(patterns).sum())
            processor.infinite_inputs += int(floats.is_infinite_half(patterns).sum())
        part = floats.widened(floats.half(patterns), floats.SINGLE)
    band = np.zeros((lines, width, max(channels, processor.padded_channels)))
    # one axis is split, which always is a view
    target = band[:, :, :channels].reshape(lines, width, *part.shape[::3])
    target[...] = part.transpose(1, 2, 0, 3)
    return band[:, :, : processor.padded_channels]


def _widen(processor: Processor, band: Band) -> Band:
    """Add the padding channels (0) to values that come from the convolution."""
    missing = processor.padded_channels - band.shape[2]
    if missing < 0:
        raise HardwareFault("SDP", f"{band.shape[2]} kernels, but a cube of {processor.p.channels}")
    if missing == 0:
        return band
    result = np.zeros((*band.shape[:2], processor.padded_channels), band.dtype)
    result[:, :, : band.shape[2]] = band
    return result


def process(processor: Processor, band: Band, first: int) -> NDArray[Any]:
    """Run all stages on lines from *first*; return them in output precision.

    Halves are returned as float16, whose patterns (also of NaNs) are final.
    """
    if processor.floating and processor.p.nan_to_zero and np.isnan(band).any():
        band = np.where(np.isnan(band), 0.0, band)
    for stage in processor.stages:
        band = apply(stage, band, first, processor.floating)
    if processor.equality:
        processor.unequal = processor.unequal or bool(np.any(band))
        return band
    if processor.lut is not None:
        band = looked_up(processor.lut, band)
    return _convert_float(processor, band) if processor.floating else _convert(processor, band)


def _convert(processor: Processor, band: Band) -> NDArray[Any]:
    """C: sat17(RS((x - offset) * scale, shift)), then saturate to the output precision."""
    p = processor.p
    if p.offset == 0 and p.scale == 1 and p.shift == 0 and p.out_precision != FP16:
        values = band
    elif p.offset:
        values = np.subtract(band, float(p.offset), dtype=np.float64)
        values *= p.scale * 2.0**-p.shift
    else:
        values = np.multiply(band, p.scale * 2.0**-p.shift, dtype=np.float64)
    if p.count_saturation:
        floor = np.floor(values)
        limited = np.clip(values, -(1 << 16), (1 << 16) - 1)
        processor.saturated += int(np.count_nonzero(np.abs(floor - limited) > 1))
    if p.shift:
        round_half_away(values)
    if p.out_precision == FP16:
        return floats.integers_to_half(np.clip(values, -(1 << 16), (1 << 16) - 1))
    low, high = RANGES[p.out_precision]
    limited = np.clip(values, low, high)
    processor.clipped += int(np.count_nonzero(limited != values))
    return limited


def _convert_float(processor: Processor, band: Band) -> NDArray[Any]:
    """C in fp16 mode: round to fp16; int16 output rounds that half away from zero."""
    patterns = floats.half_bits(band)
    if processor.p.out_precision == FP16:
        if processor.p.count_nan:
            processor.nan_outputs += int(floats.is_nan_half(patterns).sum())
        if processor.p.count_saturation:
            processor.saturated += int(((patterns & 0x7FFF) == 0x7BFF).sum())
        return patterns.view(np.float16)
    return np.clip(floats.half_to_int16(patterns), *RANGES[processor.p.out_precision])


def _store(target: NDArray[Any], values: NDArray[Any], first: int) -> None:
    """Write lines from *first* to the output cube."""
    surfaces, _, width, atom = target.shape
    lines = values.shape[0]
    part = values[:, :, : surfaces * atom].reshape(lines, width, surfaces, atom)
    np.copyto(target[:, first : first + lines], part.transpose(2, 0, 1, 3), casting="unsafe")


def _bands(
    processor: Processor, convolution: Convolution | None, batch: int
) -> Iterator[tuple[int, Band]]:
    """Deliver the input of SDP in bands of lines."""
    if convolution is not None:
        for first, band in convolved.bands(convolution, batch):
            yield first, _widen(processor, band)
        return
    source = processor.source()
    p = processor.p
    lines = max(1, BAND_ELEMENTS // (p.width * processor.padded_channels))
    for first in range(0, p.height, lines):
        yield first, _load(processor, source, first, first + lines)
