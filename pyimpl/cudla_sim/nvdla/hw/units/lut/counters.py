"""What look-up tables count, and where that is shown."""

from __future__ import annotations

from dataclasses import dataclass

from .....native import ints
from ...launch import Site


@dataclass(slots=True)
class Counters:
    """Elements per case, as the status registers count them."""

    under: int = 0
    over: int = 0
    hybrid: int = 0
    le_hit: int = 0
    lo_hit: int = 0

    def add(self, counts: ints.LutCounts) -> None:
        """What compiled code has counted."""
        self.under += counts.under
        self.over += counts.over
        self.hybrid += counts.hybrid
        self.le_hit += counts.le_hit
        self.lo_hit += counts.lo_hit


REGISTERS = {
    "under": "D_PERF_LUT_UFLOW",
    "over": "D_PERF_LUT_OFLOW",
    "hybrid": "D_PERF_LUT_HYBRID",
    "le_hit": "D_PERF_LUT_LE_HIT",
    "lo_hit": "D_PERF_LUT_LO_HIT",
}
"""Where CDP and SDP show what they count."""


def shown(block: str, counted: bool) -> dict[tuple[str, str], str]:
    """Where the LUT counters of CDP or SDP are shown, if they were switched on."""
    return {(block, register): name for name, register in REGISTERS.items() if counted}


def latch(site: Site, block: str, counters: Counters, counted: bool) -> None:
    """Store the LUT counters of CDP or SDP if they were switched on."""
    if not counted:
        return
    site.latch(block, {register: getattr(counters, name) for name, register in REGISTERS.items()})
