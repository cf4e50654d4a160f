"""The Python host API of the UPMEM SDK, over the simulated host library of this process::

    from dpu import DpuSet

    with DpuSet(nr_dpus=4, binary="./kernel", log=sys.stdout) as dpus:
        dpus.copy("input", bytearray(64))
        dpus.exec()
        print(dpus.result.uint32())

C programs and ``cudla_sim.upmem`` see the same sets and memories.
"""

from __future__ import annotations

from .context import DpuContext, DpuThreadContext
from .driver import ALLOCATE_ALL, DpuSet
from .error import DpuError
from .program import DpuProgram, DpuSymbol
from .variable import DpuVariable

__all__ = [
    "ALLOCATE_ALL",
    "DpuContext",
    "DpuError",
    "DpuProgram",
    "DpuSet",
    "DpuSymbol",
    "DpuThreadContext",
    "DpuVariable",
]
