"""The convolution pipeline CDMA, CSC, CMAC, CACC.

``Convolution`` reads its parameters once and delivers the accumulator values in bands of output
lines, ready for SDP: float64 or float32 arrays with exact integers, or float32 for fp16.
Source: nvdla/hw ``cmod/csc``, ``cmod/cmac``, ``cmod/cacc``; nvdla hardware manual "Convolution".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.errors import HardwareFault, UnsupportedOperation
from cudla_sim.nvdla.hw.arithmetic import rounding_shift, saturate32
from cudla_sim.nvdla.hw.configs import FP16, INT8, INT16, HardwareConfig
from cudla_sim.nvdla.hw.fields import Params, bits
from cudla_sim.nvdla.hw.memory import Memory
from cudla_sim.nvdla.hw.units import gemm
from cudla_sim.nvdla.hw.units.cdma import (
    Cdma,
    WeightCache,
    WeightShape,
    fetch_feature,
    fetch_image,
    fetch_weights,
    unpack_weights,
)

MAX_OVERHANG = 256
"""Pixels that a window may reach past the input; registers allow pads of 31."""

BAND_ELEMENTS = 1 << 22
"""Size of the patch matrix that is built at a time."""


@dataclass(slots=True)
class Csc(Params):
    """Registers of CSC that matter for the result."""

    _block = "CSC"

    proc_precision: int = bits("D_MISC_CFG.PROC_PRECISION")
    conv_mode: int = bits("D_MISC_CFG.CONV_MODE")
    data_reuse: int = bits("D_MISC_CFG.DATA_REUSE")
    weight_reuse: int = bits("D_MISC_CFG.WEIGHT_REUSE")
    image: int = bits("D_DATAIN_FORMAT.DATAIN_FORMAT")
    batches: int = bits("D_BATCH_NUMBER.BATCHES", plus=1)
    y_extension: int = bits("D_POST_Y_EXTENSION.Y_EXTENSION")
    compressed: int = bits("D_WEIGHT_FORMAT.WEIGHT_FORMAT")
    columns: int = bits("D_WEIGHT_SIZE_EXT_0.WEIGHT_WIDTH_EXT", plus=1)
    rows: int = bits("D_WEIGHT_SIZE_EXT_0.WEIGHT_HEIGHT_EXT", plus=1)
    channels: int = bits("D_WEIGHT_SIZE_EXT_1.WEIGHT_CHANNEL_EXT", plus=1)
    kernels: int = bits("D_WEIGHT_SIZE_EXT_1.WEIGHT_KERNEL", plus=1)
    out_width: int = bits("D_DATAOUT_SIZE_0.DATAOUT_WIDTH", plus=1)
    out_height: int = bits("D_DATAOUT_SIZE_0.DATAOUT_HEIGHT", plus=1)
    stride_x: int = bits("D_CONV_STRIDE_EXT.CONV_X_STRIDE_EXT", plus=1)
    stride_y: int = bits("D_CONV_STRIDE_EXT.CONV_Y_STRIDE_EXT", plus=1)
    dilation_x: int = bits("D_DILATION_EXT.X_DILATION_EXT", plus=1)
    dilation_y: int = bits("D_DILATION_EXT.Y_DILATION_EXT", plus=1)
    pad_left: int = bits("D_ZERO_PADDING.PAD_LEFT")
    pad_top: int = bits("D_ZERO_PADDING.PAD_TOP")
    pad_value: int = bits("D_ZERO_PADDING_VALUE.PAD_VALUE", signed=True)


@dataclass(slots=True)
class Cacc(Params):
    """Registers of CACC that matter for the result."""

    _block = "CACC"

    truncate: int = bits("D_CLIP_CFG.CLIP_TRUNCATE")


@dataclass(slots=True)
class Kept:
    """What stays in the convolution buffer for a layer that reuses it."""

    data: list[NDArray[Any]] | None = None
    weights: gemm.Matrix | None = None


@dataclass(slots=True)
class Window:
    """Geometry of the sliding window in the padded input."""

    rows: int
    columns: int
    stride_y: int
    stride_x: int
    dilation_y: int
    dilation_x: int
    out_height: int
    out_width: int

    def extent(self) -> tuple[int, int]:
        """Height and width of the padded input that the windows touch."""
        return (
            (self.out_height - 1) * self.stride_y + (self.rows - 1) * self.dilation_y + 1,
            (self.out_width - 1) * self.stride_x + (self.columns - 1) * self.dilation_x + 1,
        )


class Convolution:
    """One launched convolution layer."""

    def __init__(
        self,
        groups: Mapping[str, Sequence[int]],
        config: HardwareConfig,
        memory: tuple[Memory, Memory],
        cache: WeightCache,
        kept: Kept,
    ) -> None:
        self.cdma = Cdma.decode(groups["CDMA"])
        self.csc = Csc.decode(groups["CSC"])
        self.truncate = Cacc.decode(groups["CACC"]).truncate
        self.config = config
        self.saturated = 0
        self._memory = memory
        self._check()
        self._matrix = self._weights(cache, kept)
        self._data = self._inputs(kept)

    def _check(self) -> None:
        p, s = self.cdma, self.csc
        precision = p.proc_precision
        if precision not in self.config.precisions:
            name = ("int8", "int16", "fp16", "precision 3")[precision]
            raise HardwareFault("CMAC", f"{self.config.name} has no {name}")
        if p.conv_mode or s.conv_mode:
            raise UnsupportedOperation("CSC", "Winograd convolution")
        for label, ours, theirs in (
            ("processing precision", p.proc_precision, s.proc_precision),
            ("input format", p.image, s.image),
            ("batch number", p.batches, s.batches),
            ("weight format", p.compressed, s.compressed),
        ):
            if ours != theirs:
                raise HardwareFault("CSC", f"{label} {theirs} differs from {ours} in CDMA")
        if p.batches > 1 and (p.image or not self.config.batch):
            raise HardwareFault("CDMA", "batches need feature input and a configuration with batch")

    @property
    def precision(self) -> int:
        """Processing precision."""
        return self.cdma.proc_precision

    @property
    def batches(self) -> int:
        """Inputs that share the weights."""
        return self.cdma.batches

    @property
    def shape(self) -> tuple[int, int, int]:
        """Output size: kernels, height, width."""
        return self.csc.kernels, self.csc.out_height, self.csc.out_width

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the layer."""
        s = self.csc
        taps = s.kernels * s.rows * s.columns * s.channels
        return taps * s.out_height * s.out_width * self.batches

    def _weights(self, cache: WeightCache, kept: Kept) -> gemm.Matrix:
        s = self.csc
        if self.cdma.weight_reuse:
            if kept.weights is None or len(kept.weights.weights) != s.kernels:
                raise HardwareFault("CDMA", "weight reuse, but no such weights were left in CBUF")
            return kept.weights
        lines = 1 << s.y_extension if self.cdma.image else 1
        if lines > 4 or (
            lines > 1 and (s.columns > 1 or s.channels * lines > self.config.atomic_c)
        ):
            raise HardwareFault(
                "CSC", f"post-extension {s.y_extension} with {s.columns} x {s.channels} weights"
            )
        shape = WeightShape(s.kernels, s.rows, s.columns, s.channels, self.precision, lines)
        memory = self._memory[self.cdma.weight_mc]
        raw = fetch_weights(self.cdma, shape, self.config, memory)
        key = (self.cdma.weight_address, shape)
        matrix: gemm.Matrix | None = cache.find(key, raw)
        if matrix is None:
            dtype = np.dtype(np.float64 if self.precision == INT16 else np.float32)
            unpacked = unpack_weights(raw, shape, self.config, dtype)
            matrix = gemm.prepare(unpacked.reshape(s.kernels, -1))
            cache.store(key, raw, matrix, matrix.nbytes)
        kept.weights = matrix
        return matrix

    def _inputs(self, kept: Kept) -> list[NDArray[Any]]:
        """Fetch and convert the input: [surface, y, x, channel], or [y, x, channel] (image)."""
        if self.cdma.data_reuse:
            if kept.data is None:
                raise HardwareFault("CDMA", "data reuse, but no data were left in CBUF")
            return kept.data
        memory = self._memory[self.cdma.data_mc]
        if self.cdma.image:
            data = [fetch_image(self.cdma, memory)]
        else:
            data = [
                fetch_feature(self.cdma, self.config, memory, batch)
                for batch in range(self.batches)
            ]
        kept.data = data
        return data

    def _plan(self) -> tuple[Window, int]:
        """Return the window geometry in (y, x, channel) space, and the channels of a pixel.

        For an image the kernel columns are folded into the weight channels (pre-extension), so
        one tap covers ``channels`` consecutive values of a line.
        """
        s = self.csc
        columns, channels = s.columns, s.channels
        if self.cdma.image:
            pixel = self._data[0].shape[-1]
            if s.columns != 1 or s.channels % pixel:
                raise HardwareFault(
                    "CSC",
                    f"image weights of {s.columns} x {s.channels}: width 1 and a multiple"
                    f" of {pixel} channels expected",
                )
            columns, channels = s.channels // pixel, pixel
        window = Window(
            s.rows, columns, s.stride_y, s.stride_x,
            s.dilation_y, 1 if self.cdma.image else s.dilation_x, s.out_height, s.out_width,
        )  # fmt: skip
        return window, channels

    def _padded(self, window: Window, channels: int, batch: int) -> NDArray[Any]:
        """Return the input with its frame of pad values, [y, x, channel] in BLAS precision."""
        data = self._data[batch]
        surfaces, pixels = (data, None) if data.ndim == 4 else (None, data)
        height, width = data.shape[-3], data.shape[-2]
        left = self.cdma.pad_left if self.cdma.image else self.csc.pad_left
        top = self.csc.pad_top
        need_y, need_x = window.extent()
        if need_y - top - height > MAX_OVERHANG or need_x - left - width > MAX_OVERHANG:
            raise HardwareFault(
                "CSC", f"an output of {window.out_width} x {window.out_height} does not belong to"
                f" an input of {width} x {height}"
            )  # fmt: skip
        if surfaces is not None and channels > surfaces.shape[0] * surfaces.shape[3]:
            raise HardwareFault(
                "CSC", f"{channels} weight channels, the input has {self.cdma.channels}"
            )
        full_y, full_x = max(need_y, top + height), max(need_x, left + width)
        dtype = self._matrix.weights.dtype
        frame = (full_y, full_x, channels)
        if (full_y, full_x) == (height, width):
            result = np.empty(frame, dtype)
        else:
            pad = self._pad_value()
            result = np.full(frame, pad, dtype) if pad else np.zeros(frame, dtype)
        target = result[top : top + height, left : left + width]
        if pixels is not None:
            target[...] = pixels[:, :, :channels]
            return result
        assert surfaces is not None
        atom = surfaces.shape[3]
        whole = channels // atom
        if whole:
            inner = target[:, :, : whole * atom].reshape(height, width, whole, atom, copy=False)
            inner[...] = surfaces[:whole].transpose(1, 2, 0, 3)
        if channels > whole * atom:
            target[:, :, whole * atom :] = surfaces[whole, :, :, : channels - whole * atom]
        return result

    def _pad_value(self) -> float:
        value = self.csc.pad_value
        if self.precision == FP16:
            return float(np.array(value & 0xFFFF, np.uint16).view(np.float16))
        if self.precision == INT8:
            return float(((value & 0xFF) ^ 0x80) - 0x80)
        return float(value)

    def bands(self, batch: int) -> Iterator[tuple[int, NDArray[np.floating[Any]]]]:
        """Yield (first line, values [line, x, kernel]) of one output until it is complete."""
        window, channels = self._plan()
        padded = self._padded(window, channels, batch)
        matrix = self._matrix
        parts = [(0, matrix.weights.shape[1])]
        bound = float("inf")
        if self.precision != FP16:
            largest = 128.0 if self.precision == INT8 else 32768.0
            if matrix.total * largest > float(1 << 24):
                largest = float(max(padded.max(), -padded.min()))
            bound = matrix.total * largest
            parts = gemm.chunks(matrix, largest)
        products = window.rows * window.columns * channels
        if products != matrix.weights.shape[1]:
            raise HardwareFault("CSC", "the reused weights have another shape")
        lines = max(1, BAND_ELEMENTS // (products * window.out_width))
        sy, sx, sc = padded.strides
        patches = np.lib.stride_tricks.as_strided(
            padded,
            (window.out_height, window.out_width, window.rows, window.columns, channels),
            (
                sy * window.stride_y,
                sx * window.stride_x,
                sy * window.dilation_y,
                sx * window.dilation_x,
                sc,
            ),
            writeable=False,
        )
        for first in range(0, window.out_height, lines):
            band = patches[first : first + lines]
            rows = band.shape[0] * band.shape[1]
            values = gemm.multiply(band.reshape(rows, products), matrix, parts)
            shape = (band.shape[0], band.shape[1], values.shape[1])
            yield first, self._accumulate(values, bound).reshape(shape)

    def _accumulate(
        self, values: NDArray[np.floating[Any]], bound: float
    ) -> NDArray[np.floating[Any]]:
        """CACC: truncate with rounding and saturate to 32 bits."""
        if self.precision == FP16 or (self.truncate == 0 and bound < float(1 << 31)):
            return values
        exact = values.astype(np.float64)
        rounding_shift(exact, self.truncate)
        if bound * 2.0**-self.truncate >= float((1 << 31) - 1):
            before = exact.copy()
            saturate32(exact)
            self.saturated += int(np.count_nonzero(before != exact))
        return exact
