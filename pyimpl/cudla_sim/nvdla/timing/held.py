"""What a convolution leaves no room for: the next one loads while it computes, as far as the
convolution buffer has space.

CDMA begins to load for another share of the banks only when CSC has come to that convolution. With
the same share it goes on line by line while entries are free; those of the convolution before
become free at its end, its weights group by group.
Source: nvdla/hw ``cdma/NV_NVDLA_CDMA_dc.v`` (need_pending, is_free_entries_enough),
``NV_NVDLA_CDMA_wt.v``, ``csc/NV_NVDLA_CSC_sg.v``; measured on the nv_small RTL.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..facts.configs import HardwareConfig
from ..hw.units.conv.registers import Cdma


@dataclass(frozen=True, slots=True)
class Held:
    """The buffer while a convolution computes: its banks (data, weights), entries of its data,
    bytes of its last weights, and the cycle in which it gives them back."""

    banks: tuple[int, int]
    entries: int
    weights: float
    until: float

    def loaded(self, begin: float, load: int, room: float) -> float:
        """When the next convolution has loaded for *load* cycles from *begin* on, if there is room
        for this share of it by now."""
        if room <= 0:
            return max(begin, self.until) + load
        return max(begin + load, self.until + load * (1 - min(room, 1)))

    def room(self, config: HardwareConfig, source: Cdma, first: float) -> float:
        """Share of the next convolution's load that there is room for; *first*: bytes of its
        first weights."""
        _, width, depth = config.cbuf
        if self.banks != (source.data_banks, source.weight_banks):
            return 0
        shares = []
        if not source.data_reuse:
            free = source.data_banks * depth - self.entries
            shares.append(free / (source.entries * source.height * source.batches))
        if first:
            shares.append((source.weight_banks * depth * width - self.weights) / first)
        return max(min(shares, default=1.0), 0.0)
