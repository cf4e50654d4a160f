"""The convolution buffer (CBUF), as far as it outlives a layer.

Weights take entries. CDMA stores all entries of D_WEIGHT_BYTES, CSC takes those that the kernels
fill, and both go on from there with the next layer: their pointers are cleared only when D_BANK
changes. Entries over shift the weights of all that follows.
Source: nvdla/hw ``vmod/nvdla/cdma/NV_NVDLA_CDMA_wt.v``, ``csc/NV_NVDLA_CSC_sg.v``, ``CSC_wl.v``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....errors import HardwareFault
from ....facts import cbuf
from ....facts.configs import HardwareConfig
from ...doubt import Doubt
from ...memory import Memory
from .registers import Cdma
from .weights import Entry, WeightShape, fetch_weights

Banks = tuple[int, int]


NOTHING = np.zeros(0, np.uint8)


def check_share(p: Cdma, hardware: HardwareConfig) -> None:
    """Whether the input fits into its banks, and its lines are where CSC looks for them.

    Raises HardwareFault where CSC would wait for ever, or read other lines.
    """
    banks = hardware.cbuf[0]
    if p.data_banks + p.weight_banks > cbuf.usable_banks(hardware, bool(p.compressed)):
        raise HardwareFault(
            "CDMA",
            f"{p.data_banks} data and {p.weight_banks} weight banks; the buffer of"
            f" {hardware.name} has {banks}",
        )
    if p.image or p.conv_mode:
        return
    least = cbuf.entries_per_slice(hardware, p.width, p.channels, p.proc_precision)
    if p.entries < least:
        raise HardwareFault(
            "CDMA", f"ENTRIES is {p.entries}; a line takes {least}, and lines would overlap"
        )
    taken = cbuf.data_banks(hardware, p.entries, p.height, p.batches)
    if taken > p.data_banks and not p.data_reuse:
        raise HardwareFault(
            "CSC",
            f"{p.height} lines of {p.entries} entries take {taken} data banks, and it waits"
            f" for all of them; there are {p.data_banks}",
        )
    line = p.width * hardware.memory_atom
    for packed, name, stride, wanted in (
        (p.line_packed and p.height > 1, "LINE_PACKED", p.line_stride, line),
        (
            p.surface_packed and p.channels > hardware.channels_per_atom(p.in_precision),
            "SURF_PACKED", p.surface_stride, line * p.height,
        ),
    ):  # fmt: skip
        if packed and stride != wanted:
            raise HardwareFault(
                "CDMA", f"D_DAIN_MAP has {name}, but the stride is {stride}, not {wanted}"
            )


@dataclass(slots=True)
class Kept:
    """What stays in the convolution buffer for the layers that follow.

    ``mode`` is what a layer that reuses data or weights must have in common: precision, input
    format, Winograd or not. ``weights`` is what the implementation of that mode multiplies with,
    ``entry`` where they come from.
    ``banks`` are those of data and weights, ``spare`` the bytes of weights that CSC did not take.
    """

    mode: tuple[int, ...] = ()
    data: list[NDArray[Any]] | None = None
    weights: Any = None
    entry: Entry | None = None
    shape: WeightShape | None = None
    banks: Banks = (0, 0)
    spare: NDArray[np.uint8] = field(default_factory=lambda: NOTHING)

    def share(self, banks: Banks) -> None:
        """Another layer begins; other banks clear the pointers."""
        if banks != self.banks:
            self.banks, self.spare = banks, NOTHING

    def take(
        self, p: Cdma, shape: WeightShape, config: HardwareConfig, memory: Memory, doubt: Doubt
    ) -> NDArray[np.uint8]:
        """Fetch the weights of a layer: the bytes that CSC takes for them.

        Raises HardwareFault where CSC would wait for ever, and for shifted weights if *doubt* is
        strict.
        """
        fresh = fetch_weights(p, shape, config, memory)
        if p.compressed:
            return fresh
        needed = cbuf.weight_bytes(config, shape.size)
        given = p.weight_bytes // config.memory_atom * config.memory_atom
        if given % config.cbuf[1]:
            raise HardwareFault(
                "CDMA",
                f"WEIGHT_BYTES is {p.weight_bytes}, no multiple of an entry's {config.cbuf[1]}"
                " bytes: the last one is never complete",
            )
        spare = self.spare
        over = len(spare) + given - needed
        if over < 0:
            raise HardwareFault(
                "CSC",
                f"WEIGHT_BYTES is {p.weight_bytes}; {shape.kernels} kernels take {needed}, and it"
                " waits for the rest",
            )
        room = p.weight_banks * cbuf.bank_bytes(config)
        group = cbuf.kernels_at_once(config, shape.kernels, shape.precision)
        if len(spare) + group * (shape.size // shape.kernels) > room:
            raise HardwareFault(
                "CDMA",
                f"{p.weight_banks} weight banks have {room} bytes: no room for a group of {group}"
                f" kernels of {shape.size // shape.kernels} bytes"
                + (f" beside {len(spare)} that are left of layers before" if len(spare) else ""),
            )
        if over > room:
            raise HardwareFault(
                "CDMA",
                f"WEIGHT_BYTES is {p.weight_bytes}: {over} bytes that no kernel takes do not fit"
                f" into {p.weight_banks} weight banks of {room} bytes, and it waits for room",
            )
        if not over and not len(spare):
            return fresh
        fetched = memory.read_padded("CDMA weights", p.weight_address, given, given)
        stream = np.concatenate([spare, fetched])
        self.spare = stream[needed:]
        if len(spare):
            doubt(
                "CSC",
                f"{len(spare)} bytes of weights were left in the buffer by layers before, whose"
                " WEIGHT_BYTES was more than the entries of their kernels: the weights of this one"
                " are shifted by them",
            )
        return stream[: shape.size]


@dataclass(frozen=True, slots=True)
class Left:
    """How a layer that keeps no data leaves the buffer. ``shape``: that of the weights that it
    keeps, None for none."""

    mode: tuple[int, ...]
    banks: Banks
    shape: WeightShape | None

    def kept(self, entry: Entry | None) -> Kept:
        """The buffer behind such a layer with the weights *entry*."""
        kept = Kept(mode=self.mode, banks=self.banks, spare=NOTHING)
        if self.shape is not None and entry is not None:
            kept.weights, kept.entry, kept.shape = entry.value, entry, self.shape
        return kept
