"""Layers of fp16 beside convolution (``shim/native/half_*.c``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .compiled import ffi, lib
from .ints import between
from .steps import COUNTED, Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..constants.native_types import sim_half_pool


class HalfPoolLayer:
    """Pooling of *source* into *target*, both [surface, y, x, channel] of float16; it keeps neither
    alive. *pool* says the rest."""

    def __init__(self, pool: sim_half_pool, source: NDArray[Any], target: NDArray[Any]) -> None:
        self._job = ffi.new("struct sim_half_pool *", {**pool, **between(source, target)})

    @property
    def counted(self) -> list[int]:
        """As ``steps.COUNTED``."""
        return [*[0] * (len(COUNTED) - 3), *self.odd]

    @property
    def step(self) -> Step:
        """What :meth:`run` calls."""
        return Step(lib.SIM_STEP_HALF_POOL, self._job, ffi.NULL)

    def run(self) -> None:
        """Compute. The interpreter lock is free meanwhile."""
        if lib.sim_half_pool(self._job):
            raise ValueError("surfaces of more than 64 channels")

    @property
    def odd(self) -> tuple[int, int, int]:
        """NaNs and infinities of the input, NaNs of the output."""
        job = self._job
        return int(job.nan_inputs), int(job.infinite_inputs), int(job.nan_outputs)
