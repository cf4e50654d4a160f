"""CDMA: fetches feature or image data and converts them.

Source: nvdla/hw ``cmod/cdma/NV_NVDLA_cdma.cpp``; nvdla hardware manual "Convolution DMA" and
"In-memory data formats" (pixel formats).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....constants.native_types import sim_converter
from .....native.steps import COUNTED
from ....errors import HardwareFault
from ....facts.configs import HardwareConfig
from ....facts.precisions import FP16, INT16, RANGES
from ... import floats
from ...arithmetic import scaled
from ...memory import DTYPES, Memory
from . import pixels
from .registers import Cdma


@dataclass(slots=True)
class Odd:
    """NaN and infinite elements that were fetched."""

    nan: int = 0
    infinite: int = 0

    def count(self, bits: NDArray[np.uint16]) -> bool:
        """Count among fp16 patterns; True if there are NaNs."""
        size = bits & 0x7FFF
        if not (size >= 0x7C00).any():
            return False
        nan = int(np.count_nonzero(size > 0x7C00))
        self.nan += nan
        self.infinite += int(np.count_nonzero(size == 0x7C00))
        return nan > 0


def _checked(p: Cdma, data: NDArray[Any], odd: Odd) -> NDArray[Any]:
    """Count the NaNs of fp16 data; replace them by zeros if that is set."""
    bits = data.view(np.uint16)
    if not odd.count(bits) or not p.nan_to_zero:
        return data
    return np.where((bits & 0x7FFF) > 0x7C00, np.uint16(0), bits).view(np.float16)


def convert(p: Cdma, data: NDArray[Any], offset: Any) -> NDArray[Any]:
    """Apply the input converter: sat17(RS((x - offset) * scale, truncate)), then saturate.

    Data that it would leave as they are are returned themselves.
    """
    unchanged = (p.scale, p.truncate) == (1, 0) and not np.any(offset)
    if unchanged and data.dtype == DTYPES[p.proc_precision]:
        return data
    values = scaled(data, offset, p.scale, p.truncate)
    if p.proc_precision == FP16:
        return floats.integers_to_half(np.clip(values, -(1 << 16), (1 << 16) - 1))
    low, high = RANGES[p.proc_precision]
    return np.clip(values, low, high, out=values).astype(DTYPES[p.proc_precision])


@dataclass(frozen=True, slots=True)
class Conversion:
    """What the converter of features does, for compiled code that reads the data as they are in
    memory: by a table for bytes, by the formula for 16 bits."""

    table: NDArray[np.int16] | None = None
    formula: sim_converter | None = None


def conversion(p: Cdma) -> Conversion | None:
    """How features have to be converted; None if they are left alone, or :func:`fetch_feature` has
    to do it, or to refuse it."""
    if p.image or p.conv_mode or not p.convert or FP16 in (p.in_precision, p.proc_precision):
        return None
    if p.in_precision == INT16:
        if (p.offset, p.scale, p.truncate, p.proc_precision) == (0, 1, 0, INT16):
            return None
        factor = p.scale * 2.0**-p.truncate
        low, high = RANGES[p.proc_precision]
        formula = sim_converter(used=1, offset=p.offset, factor=factor, low=low, high=high)
        return Conversion(formula=formula)
    every = np.arange(256, dtype=np.uint8).view(np.int8)
    table = convert(p, every, p.offset)
    return None if table is every else Conversion(table.astype(np.int16))


def fetch_feature(
    p: Cdma, config: HardwareConfig, memory: Memory, batch: int, odd: Odd, raw: bool = False
) -> NDArray[Any]:
    """Return input *batch* as [surface, y, x, channel] in the processing precision; with *raw*
    before the converter."""
    cube = memory.cube(
        "CDMA data",
        p.data_address + batch * p.batch_stride,
        p.in_precision,
        (p.channels, p.height, p.width),
        p.line_stride,
        p.surface_stride,
        config.memory_atom,
    )
    if raw:
        return cube
    if p.in_precision == FP16:
        if p.proc_precision != FP16:
            raise HardwareFault("CDMA", "fp16 input cannot be converted to integers")
        return _checked(p, cube, odd)
    if p.convert and not p.conv_mode:  # Winograd data pass by the converter
        return convert(p, cube, p.offset)
    if p.in_precision != p.proc_precision:
        raise HardwareFault("CDMA", "another precision needs the converter, which is off")
    return cube


def fetch_image(p: Cdma, memory: Memory, odd: Odd) -> NDArray[Any]:
    """Return the picture as [y, x, channel] in R, G, B, A order and processing precision."""
    data, floating = pixels.unpack(p, memory)
    if floating:
        if p.proc_precision != FP16:
            raise HardwareFault("CDMA", "a floating-point image needs fp16 processing")
        return _checked(p, np.ascontiguousarray(data), odd)
    if not p.convert:
        return data.astype(DTYPES[p.proc_precision])
    offset: Any = p.offset
    if p.mean_enable:
        offset = np.array([p.mean_ry, p.mean_gu, p.mean_bv, p.mean_ax])[: data.shape[-1]]
    return convert(p, data, offset)


class Picture:
    """A converted picture of integers, ``data``, that can be fetched again."""

    counted = (0,) * len(COUNTED)

    def __init__(self, p: Cdma, memory: Memory, data: NDArray[Any]) -> None:
        self._p = p
        self._memory = memory
        self.data = np.array(data, order="C")

    def run(self) -> None:
        """Fetch and convert it as it now is."""
        self.data[...] = fetch_image(self._p, self._memory, Odd())
