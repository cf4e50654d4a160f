"""The convolution pipeline CDMA, CSC, CMAC, CACC.

``Convolution`` reads its parameters once, fetches weights and input, and describes the whole layer
for the compiled function (:mod:`native`) with SDP behind it, where it knows all stages. What is
left goes in bands (:mod:`reference.bands`): fp16 as the hardware does (:mod:`fp16`), or on request
in float32.
Source: nvdla/hw ``cmod/csc``, ``cmod/cmac``, ``cmod/cacc``; nvdla hardware manual "Convolution".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....native.fp16 import Fp16Mac
from .....native.ints import Frame, IntegerLayer, Ints, Sdp
from ....errors import HardwareFault
from ....facts import precisions
from ....facts.configs import HardwareConfig
from ....facts.precisions import FP16, INT8, INT16
from ...doubt import Doubt
from ...memory import DTYPES, Memory
from . import fp16, native
from .buffer import Banks, Kept, check_share
from .fetch import Conversion, Odd, Picture, conversion, fetch_feature, fetch_image
from .reference import gemm, winograd
from .registers import Cacc, Cdma, Csc, Window
from .weights import Arranged, Entry, WeightShape, unpack_weights

MAX_OVERHANG = 256
"""Pixels that a window may reach past the input; registers allow pads of 31."""


_NOTHING_LEFT = (
    "but no such {} were left in CBUF: the layer before must have the same mode, and skip their"
    " release; the chip fetches them"
)

Multipliers = gemm.Matrix | native.Weights | fp16.Weights | winograd.Weights
"""Weights as one of the implementations wants them."""


class Convolution:
    """One launched convolution layer. *fp16*: the exact kernel; None: float32 instead. *ints*: the
    compiled functions for integers; None: numpy."""

    def __init__(
        self,
        groups: Mapping[str, Sequence[int]],
        config: HardwareConfig,
        memory: tuple[Memory, Memory],
        arranged: Arranged,
        kept: Kept,
        fp16: Fp16Mac | None,
        ints: Ints | None = None,
        doubt: Doubt | None = None,
    ) -> None:
        self._doubt = doubt or Doubt()
        self.cdma = Cdma.decode(groups["CDMA"])
        self.csc = Csc.decode(groups["CSC"])
        self.truncate = Cacc.decode(groups["CACC"]).truncate
        self.config = config
        self.saturated = 0
        self.odd_data = Odd()
        self.odd_weights = Odd()
        self.fp16 = fp16 if self.precision == FP16 else None
        self._entry: Entry | None = None
        self._raw: NDArray[np.uint8] | None = None
        self._conversion: Conversion | None = None
        self._picture: Picture | None = None
        self._memory = memory
        self.ints = None
        if native.usable_weights(self.precision, self.cdma.conv_mode, ints):
            self.ints = ints
        self._check()
        check_share(self.cdma, config)
        kept.share(self.banks)
        self.matrix = self._weights(arranged, kept)
        self.data = self._inputs(kept)
        kept.mode = self.mode

    def _check(self) -> None:
        p, s = self.cdma, self.csc
        precision = p.proc_precision
        if precision not in self.config.precisions or p.in_precision not in self.config.precisions:
            bad = p.in_precision if precision in self.config.precisions else precision
            name = precisions.name(bad)
            raise HardwareFault("CMAC", f"{self.config.name} has no {name}")
        for label, ours, theirs in (
            ("convolution mode", p.conv_mode, s.conv_mode),
            ("processing precision", p.proc_precision, s.proc_precision),
            ("input format", p.image, s.image),
            ("batch number", p.batches, s.batches),
            ("weight format", p.compressed, s.compressed),
            ("entries of a slice", p.entries, s.entries),
            ("number of data banks", p.data_banks, s.data_banks),
            ("number of weight banks", p.weight_banks, s.weight_banks),
        ):
            if ours != theirs:
                raise HardwareFault("CSC", f"{label} {theirs} differs from {ours} in CDMA")
        if p.batches > 1 and (p.image or not self.config.batch):
            raise HardwareFault("CDMA", "batches need feature input and a configuration with batch")
        if p.compressed and not self.config.compression:
            raise HardwareFault("CDMA", f"{self.config.name} has no weight compression")
        if p.conv_mode and (p.image or p.batches > 1 or not self.config.winograd):
            raise HardwareFault(
                "CSC", "Winograd needs feature input, no batch and a configuration that has it"
            )

    @property
    def banks(self) -> Banks:
        """Banks of data and of weights."""
        return self.cdma.data_banks, self.cdma.weight_banks

    @property
    def mode(self) -> tuple[int, ...]:
        """What a layer must have in common with the one before to reuse its data or weights."""
        return (self.precision, self.cdma.image, self.cdma.conv_mode)

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
        return self.csc.products * self.batches

    @property
    def weight_shape(self) -> WeightShape:
        """Size and order of the weights in memory."""
        s = self.csc
        lines = 1 << s.y_extension if self.cdma.image else 1
        if lines > 4 or (
            lines > 1 and (s.columns > 1 or s.channels * lines > self.config.atomic_c)
        ):
            raise HardwareFault(
                "CSC", f"post-extension {s.y_extension} with {s.columns} x {s.channels} weights"
            )
        return WeightShape(s.kernels, s.rows, s.columns, s.channels, self.precision, lines)

    def _weights(self, arranged: Arranged, kept: Kept) -> Multipliers:
        shape = self.weight_shape
        reuse = self.cdma.weight_reuse
        if reuse and kept.weights is None:
            self._doubt("CDMA", f"weight reuse, {_NOTHING_LEFT.format('weights')}")
            reuse = 0
        if reuse:
            if kept.weights is None or kept.shape != shape or kept.mode != self.mode:
                raise HardwareFault(
                    "CDMA",
                    "weight reuse, but no such weights were left in CBUF: the layer before must"
                    " have the same mode and weight size, and SKIP_WEIGHT_RLS",
                )
            matrix = kept.weights
            self._entry = kept.entry
        else:
            memory = self._memory[self.cdma.weight_mc]
            raw = kept.take(self.cdma, shape, self.config, memory, self._doubt)
            if self.precision == FP16:
                self.odd_weights.count(raw.view(np.uint16))
            key: Any = (shape, self.cdma.conv_mode, self.fp16 is not None)
            if self.ints is not None:
                kinds = (self.ints.kind.name, self.ints.wide.name)
                key = (*key, *kinds, self.csc.dilation_x == 1, self.cdma.image)
            entry = arranged.find(key, raw)
            if entry is None:
                prepared = self._prepared(raw, shape)
                entry = arranged.store(key, raw, prepared, prepared.nbytes)
            matrix = entry.value
            self._entry = entry
            self._raw = raw
        kept.weights, kept.entry, kept.shape = None, None, None
        if self.csc.skip_weight_release:
            kept.weights, kept.entry, kept.shape = matrix, self._entry, shape
        return matrix

    def _prepared(self, raw: NDArray[np.uint8], shape: WeightShape) -> Multipliers:
        """Arrange raw weights for the implementation that will multiply them."""
        if self.cdma.conv_mode:
            return winograd.unpack(raw, shape, self.config)
        if self.fp16 is not None:
            halves = unpack_weights(raw, shape, self.config, np.dtype(np.uint16))
            order, starts = fp16.product_order(shape, self.config.atomic_c)
            return fp16.prepare(halves.reshape(shape.kernels, -1).T[order], starts)
        if self.ints is not None:
            integers = unpack_weights(raw, shape, self.config, DTYPES[self.precision])
            flat = integers.reshape(shape.kernels, -1)
            return native.prepare_weights(self.ints, flat, self._window(), not self.cdma.image)
        dtype = np.dtype(np.float64 if self.precision == INT16 else np.float32)
        unpacked = unpack_weights(raw, shape, self.config, dtype)
        return gemm.prepare(unpacked.reshape(shape.kernels, -1))

    def _inputs(self, kept: Kept) -> list[NDArray[Any]]:
        """Fetch and convert the input: [surface, y, x, channel], or [y, x, channel] (image)."""
        reuse = self.cdma.data_reuse
        if reuse and kept.data is None:
            self._doubt("CDMA", f"data reuse, {_NOTHING_LEFT.format('data')}")
            reuse = 0
        if reuse:
            if kept.data is None or kept.mode != self.mode:
                raise HardwareFault(
                    "CDMA",
                    "data reuse, but no such data were left in CBUF: the layer before must have"
                    " the same mode, and SKIP_DATA_RLS",
                )
            data = kept.data
        else:
            memory = self._memory[self.cdma.data_mc]
            if self.cdma.image:
                data = [fetch_image(self.cdma, memory, self.odd_data)]
                if self.ints is not None:
                    self._picture = Picture(self.cdma, memory, data[0])
                    data = [self._picture.data]
            else:
                if isinstance(self.matrix, native.Weights) and not self.csc.skip_data_release:
                    self._conversion = conversion(self.cdma)
                raw = self._conversion is not None
                data = [
                    fetch_feature(self.cdma, self.config, memory, batch, self.odd_data, raw)
                    for batch in range(self.batches)
                ]
            if self.csc.skip_data_release:
                data = [item.copy() for item in data]  # memory may change before the reuse
        kept.data = data if self.csc.skip_data_release else None
        return data

    def _window(self) -> Window:
        """Return the window over lines and columns as the registers have it."""
        s = self.csc
        return Window(
            s.rows, s.columns, s.stride_y, s.stride_x,
            s.dilation_y, 1 if self.cdma.image else s.dilation_x, s.out_height, s.out_width,
        )  # fmt: skip

    def plan(self) -> tuple[Window, int]:
        """Return the window geometry in (y, x, channel) space, and the channels of a pixel.

        For an image the kernel columns are folded into the weight channels (pre-extension), so
        one tap covers ``channels`` consecutive values of a line.
        """
        s, window = self.csc, self._window()
        if not self.cdma.image:
            return window, s.channels
        pixel = self.data[0].shape[-1]
        if s.columns != 1 or s.channels % pixel:
            raise HardwareFault(
                "CSC",
                f"image weights of {s.columns} x {s.channels}: width 1 and a multiple"
                f" of {pixel} channels expected",
            )
        return replace(window, columns=s.channels // pixel), pixel

    def check_extent(self, window: Window, channels: int, batch: int) -> tuple[int, int]:
        """Return the pads on the left and on top; the window must belong to the input."""
        data = self.data[batch]
        height, width = data.shape[-3], data.shape[-2]
        left = self.cdma.pad_left if self.cdma.image else self.csc.pad_left
        top = self.csc.pad_top
        need_y, need_x = window.extent()
        if need_y - top - height > MAX_OVERHANG or need_x - left - width > MAX_OVERHANG:
            raise HardwareFault(
                "CSC", f"an output of {window.out_width} x {window.out_height} does not belong to"
                f" an input of {width} x {height}"
            )  # fmt: skip
        if data.ndim == 4 and channels > data.shape[0] * data.shape[3]:
            raise HardwareFault(
                "CSC", f"{channels} weight channels, the input has {self.cdma.channels}"
            )
        return left, top

    def repeatable(self) -> tuple[NDArray[np.uint8] | None, Entry] | None:
        """Return the raw weights (None: they are in CBUF) and what was made of them, if the input
        is what memory holds and is not kept, and integers: NaNs of fp16 are counted in Python."""
        if self.precision == FP16:
            return None
        kept = self.csc.skip_data_release or self.cdma.data_reuse
        if kept or self.cdma.compressed or self._entry is None:
            return None
        if self._picture is None and any(data.flags.owndata for data in self.data):
            return None
        return self._raw, self._entry

    def fetching(self) -> list[Picture]:
        """What has to be done before the layer is computed again."""
        return [] if self._picture is None else [self._picture]

    def frame(self, batch: int) -> Frame:
        """Return the geometry for the compiled function."""
        window, channels = self.plan()
        left, top = self.check_extent(window, channels, batch)
        pad = int(self.pad_value())
        how = self._conversion or Conversion()
        return native.frame(
            window, channels, top, left, pad, self.truncate, how.table, how.formula,
            isinstance(self.matrix, native.Weights) and self.matrix.kind.diagonal,
        )  # fmt: skip

    def with_sdp(self, batch: int, sdp: Sdp | None) -> IntegerLayer | None:
        """Return the whole layer for the compiled function, None when it has to go in bands."""
        if sdp is None or self.ints is None or not isinstance(self.matrix, native.Weights):
            return None
        frame = self.frame(batch)
        return self.ints.convolution(frame, self.matrix, self.data[batch], sdp)

    def pad_value(self) -> float:
        """What stands for elements outside of the input, as the implementation wants it."""
        value = self.csc.pad_value
        if self.fp16 is not None:
            return value & 0xFFFF
        if self.precision == FP16:
            return float(np.array(value & 0xFFFF, np.uint16).view(np.float16))
        if self.precision == INT8:
            return float(((value & 0xFF) ^ 0x80) - 0x80)
        return float(value)
