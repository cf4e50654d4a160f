"""SDP, the single data point processor: stages X1 (BS), X2 (BN), Y (EW) and the converter.

Values travel in bands [line, x, channel] of float64: exact integers, or in fp16 mode FP32 numbers.
All channels up to the end of the last surface are processed and written, padding included.
Source: nvdla/hw ``cmod/hls/sdp/*.cpp`` and ``cmod/sdp/NV_NVDLA_sdp.cpp``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....native.ints import IntegerLayer, Ints
from ....errors import HardwareFault
from ....facts import precisions
from ....facts.configs import HardwareConfig
from ....facts.precisions import FP16, INT8, INT16
from ...csb import LookupTable
from ...doubt import Doubt
from ...memory import DTYPES, Memory
from ..conv import exact
from ..conv.layer import Convolution
from . import native, stages
from .lut import Lut
from .registers import STAGES, Sdp, SdpRdma


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
        self.stages = [
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
        self.equality = self.stages[2].equality
        self.lut: Lut | None = None
        if self.stages[2].uses_lut:
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
        if self._halved_input:
            return self._half_atoms(r)
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

    @property
    def _halved_input(self) -> bool:
        """Whether a configuration that computes int8 only is to read int16."""
        r = self.rdma
        return r is not None and r.in_precision == INT16 not in self.config.precisions

    @property
    def unread(self) -> str:
        """Why a chip leaves input in SDP_RDMA that nobody takes, "" if it does not: it fetches a
        surface for each half atom of channels."""
        atom = self.config.memory_atom
        if not self._halved_input or -(-2 * self.p.channels // atom) == -(-self.p.channels // atom):
            return ""
        return f"an input of {self.p.channels} channels with IN_PRECISION int16 left data unread"

    def _half_atoms(self, r: SdpRdma) -> NDArray[Any]:
        """The input as such a chip takes it: half as many numbers in each atom, then zeros.

        It was found by running the RTL of nv_small.
        """
        atom = self.config.memory_atom
        cube = self._memory[r.source_mc].cube(
            "SDP_RDMA",
            r.source,
            INT8,
            (r.channels, r.height, r.width),
            r.line_stride,
            self._surfaces("SDP_RDMA", r.surface_stride, atom, atom),
            atom,
        )
        result = np.zeros(cube.shape, np.int16)
        result[..., : atom // 2] = np.ascontiguousarray(cube).view("<i2")
        return result

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

    def at_once(
        self, convolution: Convolution | None, batch: int, target: NDArray[Any]
    ) -> IntegerLayer | None:
        """Return the layer for the compiled function, None when it has to go in bands.

        *target* is [surface, y, x, channel], or [y, x, channel].
        """
        if self._ints is None or (convolution is None and self._halved_input):
            return None
        if convolution is not None:
            if convolution.shape[0] > self.padded_channels:
                return None  # refused with the first band
            sdp = native.describe(self, self.stages, target, None)
            if not self.floating:
                return convolution.with_sdp(batch, sdp)
            sums = None if sdp is None else exact.patterns(convolution, batch)
            if sdp is None or sums is None:
                return None
            layer = self._ints.pointwise(sums, sdp)
            layer.held.append(sums)
            return layer
        source = self.source()
        sdp = native.describe(self, self.stages, target, source)
        return None if sdp is None else self._ints.pointwise(source, sdp)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type of the output."""
        return DTYPES[self.p.out_precision]
