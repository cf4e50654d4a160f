"""The compiled functions that models use, as one object.

They lie in an ordinary extension of the package (``shim/native/native.h`` declares them), so every
process that imports cudla_sim has them: a C program, the command line and plain Python compute
with the same code. ``core.process.Process`` holds the object and models take it from there. Besides
``abi/`` only this package imports cffi.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .calls import Calls as Calls
    from .dpu_memory import DpuCopies as DpuCopies
    from .fp16 import Fp16Mac as Fp16Mac
    from .ints import Ints as Ints
    from .pva_dma import PvaDma as PvaDma


class Native(NamedTuple):
    """What is compiled, by subject."""

    fp16: Fp16Mac
    ints: Ints
    calls: Calls
    dpus: DpuCopies
    pva: PvaDma


@functools.cache
def load() -> Native:
    """The one object of this process. Raises ImportError when the extension was not built."""
    # They need numpy, which the first call of a program does without.
    from .calls import Calls
    from .dpu_memory import DpuCopies
    from .fp16 import Fp16Mac
    from .ints import Ints
    from .pva_dma import PvaDma

    return Native(Fp16Mac(), Ints(), Calls(), DpuCopies(), PvaDma())
