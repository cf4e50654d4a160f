"""SDP, the single data point processor: stages X1 (BS), X2 (BN), Y (EW) and the converter.

Values travel in bands [line, x, channel] of float64: exact integers, or in fp16 mode FP32 numbers.
All channels up to the end of the last surface are processed and written, padding included.
Source: nvdla/hw ``cmod/hls/sdp/*.cpp`` and ``cmod/sdp/NV_NVDLA_sdp.cpp``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....native.ints import IntegerLayer, Ints
from ....errors import HardwareFault
from ....facts import precisions
from ....facts.configs import HardwareConfig
from ....facts.precisions import FP16, RANGES
from ... import floats
from ...arithmetic import round_half_away
from ...csb import LookupTable
from ...doubt import Doubt
from ...fields import Params, address, bits
from ...memory import DTYPES, Memory
from ..conv.layer import Convolution
from . import native as int_layer
from . import stages
from .lut import Lut
from .registers import STAGES

Band = NDArray[Any]

BAND_ELEMENTS = 1 << 16
"""Elements that are processed at a time when the input comes from memory."""


@dataclass(slots=True)
class Sdp(Params):
    """Registers of SDP outside its stages."""

    _block = "SDP"

    width: int = bits("D_DATA_CUBE_WIDTH.WIDTH", plus=1)
    height: int = bits("D_DATA_CUBE_HEIGHT.HEIGHT", plus=1)
    channels: int = bits("D_DATA_CUBE_CHANNEL.CHANNEL", plus=1)
    destination: int = address("D_DST_BASE_ADDR_HIGH", "D_DST_BASE_ADDR_LOW")
    line_stride: int = bits("D_DST_LINE_STRIDE")
    surface_stride: int = bits("D_DST_SURFACE_STRIDE")
    batch_stride: int = bits("D_DST_BATCH_STRIDE")
    flying: int = bits("D_FEATURE_MODE_CFG.FLYING_MODE")
    to_pdp: int = bits("D_FEATURE_MODE_CFG.OUTPUT_DST")
    winograd: int = bits("D_FEATURE_MODE_CFG.WINOGRAD")
    nan_to_zero: int = bits("D_FEATURE_MODE_CFG.NAN_TO_ZERO")
    batches: int = bits("D_FEATURE_MODE_CFG.BATCH_NUMBER", plus=1)
    destination_mc: int = bits("D_DST_DMA_CFG.DST_RAM_TYPE")
    proc_precision: int = bits("D_DATA_FORMAT.PROC_PRECISION")
    out_precision: int = bits("D_DATA_FORMAT.OUT_PRECISION")
    offset: int = bits("D_CVT_OFFSET.CVT_OFFSET", signed=True)
    scale: int = bits("D_CVT_SCALE.CVT_SCALE", signed=True)
    shift: int = bits("D_CVT_SHIFT.CVT_SHIFT")
    count_saturation: int = bits("D_PERF_ENABLE.PERF_SAT_EN")
    count_lut: int = bits("D_PERF_ENABLE.PERF_LUT_EN")
    count_nan: int = bits("D_PERF_ENABLE.PERF_NAN_INF_COUNT_EN")


@dataclass(slots=True)
class SdpRdma(Params):
    """Registers of SDP_RDMA for the main input."""

    _block = "SDP_RDMA"

    width: int = bits("D_DATA_CUBE_WIDTH.WIDTH", plus=1)
    height: int = bits("D_DATA_CUBE_HEIGHT.HEIGHT", plus=1)
    channels: int = bits("D_DATA_CUBE_CHANNEL.CHANNEL", plus=1)
    source: int = address("D_SRC_BASE_ADDR_HIGH", "D_SRC_BASE_ADDR_LOW")
    line_stride: int = bits("D_SRC_LINE_STRIDE")
    surface_stride: int = bits("D_SRC_SURFACE_STRIDE")
    flying: int = bits("D_FEATURE_MODE_CFG.FLYING_MODE")
    in_precision: int = bits("D_FEATURE_MODE_CFG.IN_PRECISION")
    source_mc: int = bits("D_SRC_DMA_CFG.SRC_RAM_TYPE")
    count_nan: int = bits("D_PERF_ENABLE.PERF_NAN_INF_COUNT_EN")


def needs_rdma(group: Sequence[int]) -> bool:
    """True if the enabled SDP group takes its input or an operand from memory."""
    p = Sdp.decode(group)
    return not p.flying or any(stage.decode(group).from_memory for stage in STAGES)


class Processor:
    """One launched SDP layer."""

    def __init__(
        self,
        groups: Mapping[str, Sequence[int]],
        single: Sequence[int],
        table: LookupTable,
        config: HardwareConfig,
        memory: tuple[Memory, Memory],
        ints: Ints | None = None,
        doubt: Doubt | None = None,
    ) -> None:
        self._ints = ints
        self._doubt = doubt or Doubt()
        self.p = p = Sdp.decode(groups["SDP"])
        self.config = config
        self.clipped = 0
        self.saturated = 0
        self.unequal = False
        self.nan_inputs = self.infinite_inputs = self.nan_outputs = 0
        self._memory = memory
        self.floating = p.proc_precision == FP16
        self._check()
        rdma = groups.get("SDP_RDMA")
        self.rdma = SdpRdma.decode(rdma) if rdma is not None else None
        self._stages = [
            stages.Stage(
                decode.decode(groups["SDP"]),
                rdma,
                self.operand_shape(),
                config,
                memory,
                self.floating and bool(p.nan_to_zero),
                self._surfaces,
            )
            for decode in STAGES
        ]
        self.equality = self._stages[2].equality
        self.lut: Lut | None = None
        if self._stages[2].uses_lut:
            self.lut = Lut(single, table, self.floating)

    def _surfaces(self, unit: str, stride: int, pixel: int, channels: int) -> int:
        """Bytes between surfaces: those of 1 x 1 cubes are packed, whatever the stride says.

        *pixel* is what *channels* channels of an atom take.
        Source: nvdla/hw ``vmod/nvdla/sdp`` (MRDMA_ig, RDMA_ig, WDMA_cmd: mode_1x1_pack).
        """
        p = self.p
        if (p.width, p.height, p.batches) != (1, 1, 1) or p.channels <= channels:
            return stride
        if stride != pixel:
            self._doubt(
                unit,
                f"surface stride {stride}: SDP takes the surfaces of 1 x 1 cubes as packed,"
                f" {pixel} bytes apart",
            )
        return pixel

    def _check(self) -> None:
        p = self.p
        for name, precision in (("processing", p.proc_precision), ("output", p.out_precision)):
            if precision not in self.config.precisions:
                label = precisions.name(precision)
                raise HardwareFault("SDP", f"{self.config.name} has no {name} precision {label}")
        if p.batches > 1 and not (p.flying and self.config.batch):
            raise HardwareFault("SDP", "batches need a convolution that delivers them")

    @property
    def padded_channels(self) -> int:
        """Channels up to the end of the last surface, of input and output."""
        atom = max(
            self.config.channels_per_atom(self.p.proc_precision),
            self.config.channels_per_atom(self.p.out_precision),
        )
        return -(-self.p.channels // atom) * atom

    def operand_shape(self) -> stages.Extent:
        """Size of operand cubes."""
        p = self.p
        return stages.Extent(p.height, p.width, p.channels, self.padded_channels, p.proc_precision)

    def source(self) -> NDArray[Any]:
        """View the input cube in memory as [surface, y, x, channel]."""
        r = self.rdma
        if r is None:
            raise HardwareFault("SDP", "the input comes from memory but SDP_RDMA is not enabled")
        if (r.width, r.height, r.channels) != (self.p.width, self.p.height, self.p.channels):
            raise HardwareFault("SDP_RDMA", "the cube size differs from that in SDP")
        if (r.in_precision == FP16) != self.floating:
            raise HardwareFault("SDP_RDMA", "fp16 input with integer processing or the reverse")
        return self._memory[r.source_mc].cube(
            "SDP_RDMA",
            r.source,
            r.in_precision,
            (r.channels, r.height, r.width),
            r.line_stride,
            self._surfaces(
                "SDP_RDMA",
                r.surface_stride,
                self.config.memory_atom,
                self.config.channels_per_atom(r.in_precision),
            ),
            self.config.memory_atom,
        )

    def load(self, source: NDArray[Any], first: int, last: int) -> Band:
        """Return lines of the input cube as a band, padding channels included."""
        part = source[:, first:last]
        lines, width = part.shape[1], part.shape[2]
        channels = part.shape[0] * part.shape[3]
        if self.floating:
            patterns = part.view(np.uint16)
            if self.rdma is not None and self.rdma.count_nan:
                self.nan_inputs += int(floats.is_nan_half(patterns).sum())
                self.infinite_inputs += int(floats.is_infinite_half(patterns).sum())
            part = floats.widened(floats.half(patterns), floats.SINGLE)
        band = np.zeros((lines, width, max(channels, self.padded_channels)))
        # one axis is split, which always is a view
        target = band[:, :, :channels].reshape(lines, width, *part.shape[::3])
        target[...] = part.transpose(1, 2, 0, 3)
        return band[:, :, : self.padded_channels]

    def widen(self, band: Band) -> Band:
        """Add the padding channels (0) to values that come from the convolution."""
        missing = self.padded_channels - band.shape[2]
        if missing < 0:
            raise HardwareFault("SDP", f"{band.shape[2]} kernels, but a cube of {self.p.channels}")
        if missing == 0:
            return band
        result = np.zeros((*band.shape[:2], self.padded_channels), band.dtype)
        result[:, :, : band.shape[2]] = band
        return result

    def process(self, band: Band, first: int) -> NDArray[Any]:
        """Run all stages on lines from *first*; return them in output precision.

        Halves are returned as float16, whose patterns (also of NaNs) are final.
        """
        if self.floating and self.p.nan_to_zero and np.isnan(band).any():
            band = np.where(np.isnan(band), 0.0, band)
        for stage in self._stages:
            band = stage.apply(band, first, self.floating)
        if self.equality:
            self.unequal = self.unequal or bool(np.any(band))
            return band
        if self.lut is not None:
            band = self.lut.apply(band)
        return self._convert_float(band) if self.floating else self._convert(band)

    def _convert(self, band: Band) -> NDArray[Any]:
        """C: sat17(RS((x - offset) * scale, shift)), then saturate to the output precision."""
        p = self.p
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
            self.saturated += int(np.count_nonzero(np.abs(floor - limited) > 1))
        if p.shift:
            round_half_away(values)
        if p.out_precision == FP16:
            return floats.integers_to_half(np.clip(values, -(1 << 16), (1 << 16) - 1))
        low, high = RANGES[p.out_precision]
        limited = np.clip(values, low, high)
        self.clipped += int(np.count_nonzero(limited != values))
        return limited

    def _convert_float(self, band: Band) -> NDArray[Any]:
        """C in fp16 mode: round to fp16; int16 output rounds that half away from zero."""
        patterns = floats.half_bits(band)
        if self.p.out_precision == FP16:
            if self.p.count_nan:
                self.nan_outputs += int(floats.is_nan_half(patterns).sum())
            if self.p.count_saturation:
                self.saturated += int(((patterns & 0x7FFF) == 0x7BFF).sum())
            return patterns.view(np.float16)
        return np.clip(floats.half_to_int16(patterns), *RANGES[self.p.out_precision])

    def output(self, batch: int) -> NDArray[Any]:
        """View the output cube in memory as [surface, y, x, channel]."""
        p = self.p
        return self._memory[p.destination_mc].cube(
            "SDP output",
            p.destination + batch * p.batch_stride,
            p.out_precision,
            (p.channels, p.height, p.width),
            p.line_stride,
            self._surfaces(
                "SDP",
                p.surface_stride,
                self.config.memory_atom,
                self.config.channels_per_atom(p.out_precision),
            ),
            self.config.memory_atom,
            write=True,
        )

    def store(self, target: NDArray[Any], values: NDArray[Any], first: int) -> None:
        """Write lines from *first* to the output cube."""
        surfaces, _, width, atom = target.shape
        lines = values.shape[0]
        part = values[:, :, : surfaces * atom].reshape(lines, width, surfaces, atom)
        np.copyto(target[:, first : first + lines], part.transpose(2, 0, 1, 3), casting="unsafe")

    def at_once(
        self, convolution: Convolution | None, batch: int, target: NDArray[Any]
    ) -> IntegerLayer | None:
        """Return the layer for the compiled function, None when it has to go in bands.

        *target* is [surface, y, x, channel], or [y, x, channel].
        """
        if self._ints is None:
            return None
        if convolution is not None:
            if self.floating:
                return None
            if convolution.shape[0] > self.padded_channels:
                return None  # refused with the first band
            sdp = int_layer.describe(self, self._stages, target, None)
            return convolution.with_sdp(batch, sdp)
        source = self.source()
        sdp = int_layer.describe(self, self._stages, target, source)
        return None if sdp is None else self._ints.pointwise(source, sdp)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type of the output."""
        return DTYPES[self.p.out_precision]


def run(
    processor: Processor, convolution: Convolution | None, jobs: list[IntegerLayer] | None = None
) -> NDArray[Any] | None:
    """Run a layer band by band; return the cube [y, x, channel] if PDP receives it.

    What is done by compiled functions is added to *jobs*, for each batch.
    """
    p = processor.p
    if convolution is not None:
        _, height, width = convolution.shape
        if (height, width) != (p.height, p.width) or convolution.batches != p.batches:
            raise HardwareFault(
                "SDP",
                f"a cube of {p.width} x {p.height} (batch {p.batches}) is set, the convolution"
                f" delivers {width} x {height} (batch {convolution.batches})",
            )
    cube = None
    if p.to_pdp:
        cube = np.empty((p.height, p.width, processor.padded_channels), processor.dtype)
    for batch in range(p.batches):
        target = None if p.to_pdp or processor.equality else processor.output(batch)
        into = cube if target is None else target
        layer = None if into is None else processor.at_once(convolution, batch, into)
        if layer is not None:
            layer.run()
            processor.clipped += layer.clipped
            processor.saturated += layer.saturated
            if convolution is not None:
                convolution.saturated += layer.overflowed
            if processor.lut is not None:
                processor.lut.counters.add(layer.looked_up)
            nan_inputs, infinite_inputs, nan_outputs = layer.odd
            processor.nan_inputs += nan_inputs
            processor.infinite_inputs += infinite_inputs
            processor.nan_outputs += nan_outputs
            if jobs is not None:
                jobs.append(layer)
            continue
        for first, band in _bands(processor, convolution, batch):
            values = processor.process(band, first)
            if target is not None:
                processor.store(target, values, first)
            elif cube is not None:
                cube[first : first + len(values)] = values
    return cube


def _bands(
    processor: Processor, convolution: Convolution | None, batch: int
) -> Iterator[tuple[int, Band]]:
    """Deliver the input of SDP in bands of lines."""
    if convolution is not None:
        for first, band in convolution.bands(batch):
            yield first, processor.widen(band)
        return
    source = processor.source()
    p = processor.p
    lines = max(1, BAND_ELEMENTS // (p.width * processor.padded_channels))
    for first in range(0, p.height, lines):
        yield first, processor.load(source, first, first + lines)
