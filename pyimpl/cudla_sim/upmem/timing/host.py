"""What the host's side costs: bandwidth of transfers and the start of a launch.

Defaults are the machine of the PrIM paper (arXiv 2105.03814): its figures for 1 and 64 DPUs of a
rank with a power between them. Hosts differ by a factor of two or three.
Source: facts of DPU timing, section 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from ..memory import DPUS_PER_RANK


@dataclass(frozen=True)
class Host:
    """Bandwidths in GB/s (1e9 bytes), for one DPU, for 64 DPUs of one rank, and of the machine."""

    launch_ms: float = 0.16
    """Start of a launch and polling for its end."""
    push_ms: float = 0.2
    """Fixed cost of a transfer to or from several DPUs."""
    to_one: float = 0.33
    to_rank: float = 6.68
    to_all: float = 20.0
    from_one: float = 0.12
    from_rank: float = 4.74
    from_all: float = 15.0
    broadcast_rank: float = 16.88

    @classmethod
    def parse(cls, text: str) -> Host:
        """``name=number`` separated by commas, the others as in the PrIM paper.

        Raises ValueError for a name that does not exist, or no positive number.
        """
        names = [f.name for f in fields(cls)]
        values = {}
        for part in filter(None, (p.strip() for p in text.split(","))):
            name, _, number = part.partition("=")
            try:
                value = float(number)
            except ValueError:
                value = -1.0
            if name not in names or not 0 <= value < math.inf or (value == 0 and "_ms" not in name):
                raise ValueError(f"{part!r} is not one of {', '.join(names)} = a number above 0")
            values[name] = value
        return cls(**values)

    def bandwidth(self, to_dpu: bool, dpus: int, ranks: int, same: bool = False) -> float:
        """GB/s of a parallel transfer; ``same``: every DPU gets the same bytes."""
        one, rank, limit = (
            (self.to_one, self.broadcast_rank if same else self.to_rank, self.to_all)
            if to_dpu
            else (self.from_one, self.from_rank, self.from_all)
        )
        in_rank = max(1.0, dpus / ranks)
        power = math.log(rank / one) / math.log(DPUS_PER_RANK)
        return min(one * in_rank**power * ranks, max(limit, rank))

    def transfer_seconds(
        self, to_dpu: bool, size: int, dpus: int, ranks: int, same: bool = False
    ) -> float:
        """Time of one transfer of ``size`` bytes for each DPU.

        A copy to or from a single DPU has no fixed cost: the measured bandwidth includes it.
        """
        fixed = self.push_ms * 1e-3 if dpus > 1 else 0.0
        return fixed + size * dpus / (self.bandwidth(to_dpu, dpus, ranks, same) * 1e9)

    def launch_seconds(self, cycles: int, clock_mhz: int) -> float:
        """Time of a synchronous launch whose slowest DPU takes ``cycles``."""
        return self.launch_ms * 1e-3 + cycles / (clock_mhz * 1e6)
