"""UPMEM's DPUs: what C programs allocated, loaded and launched, seen from Python.

The objects are those the C library works with, in the same process::

    from cudla_sim import upmem
    dpu = upmem.sets[0].dpus[3]
    dpu.symbols["result"].view("uint32")     # the variable itself, not a copy
    dpu.mram, dpu.wram                       # 64 MiB and 64 KiB, uint8
    dpu.log                                  # what its last launch printed
    upmem.launches[-1].seconds
    upmem.hardware.seconds                   # what hardware would take, with upmem_timing=model
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections import deque

    from .machine import DpuSet
    from .rank import Rank
    from .system import LaunchRecord
    from .timing.ledger import Ledger

    sets: list[DpuSet]
    """The allocated sets, oldest first."""
    ranks: list[Rank]
    """The ranks that belong to a set."""
    launches: deque[LaunchRecord]
    """The last 1000 launches, newest last."""
    hardware: Ledger
    """What hardware would take for the launches and transfers."""

__all__ = ["hardware", "launches", "ranks", "sets"]


def __getattr__(name: str) -> Any:
    """Live views of the current process: ``sets``, ``ranks``, ``launches``, ``hardware``."""
    if name in __all__:
        from .machine import machine

        return getattr(machine(), name)
    raise AttributeError(f"module 'cudla_sim.upmem' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
