"""The compiled functions that models use, as one object.

They lie in an ordinary extension of the package (``shim/native/native.h`` declares them), so every
process that imports cudla_sim has them: a C program, the command line and plain Python compute
with the same code. ``core.process.Process`` holds the object and models take it from there. Besides
``abi/`` only this package imports cffi.
"""

from __future__ import annotations

import functools
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .calls import Calls as Calls
    from .dpu_memory import DpuCopies as DpuCopies
    from .fp16 import Fp16Mac as Fp16Mac
    from .ints import Ints as Ints
    from .pva_dma import PvaDma as PvaDma


class Native:
    """What is compiled, by subject. Each is imported when a model first needs it."""

    def limit(self, isa: str) -> bool:
        """Compiled functions use at most the instructions of that level from now on. Whether this
        machine has all of them."""
        from .compiled import lib

        return bool(lib.sim_isa(isa.encode()) == 1)

    @cached_property
    def fp16(self) -> Fp16Mac:
        from .fp16 import Fp16Mac

        return Fp16Mac()

    @cached_property
    def ints(self) -> Ints:
        from .ints import Ints

        return Ints()

    @cached_property
    def calls(self) -> Calls:
        from .calls import Calls

        return Calls()

    @cached_property
    def dpus(self) -> DpuCopies:
        from .dpu_memory import DpuCopies

        return DpuCopies()

    @cached_property
    def pva(self) -> PvaDma:
        from .pva_dma import PvaDma

        return PvaDma()


@functools.cache
def load() -> Native:
    """The one object of this process. Raises ImportError when the extension was not built."""
    from . import compiled as compiled

    return Native()
