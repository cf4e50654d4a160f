"""Pooling of integers, normalisation (``int_pool.c``, ``int_cdp.c``, ``half_cdp.c``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .compiled import ffi, lib
from .ints import LutCounts, between, counted_by
from .steps import COUNTED, Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..constants.native_types import sim_cdp, sim_lut, sim_pool


class PoolLayer:
    """Pooling of *source* into *target*, both [surface, y, x, channel] of the same type, which it
    does not keep alive; *pool* says the rest. It clips nothing that is counted."""

    counted = [0] * len(COUNTED)

    def __init__(self, pool: sim_pool, source: NDArray[Any], target: NDArray[Any]) -> None:
        self._job = ffi.new("struct sim_pool *", {**pool, **between(source, target)})

    @property
    def step(self) -> Step:
        """What :meth:`run` calls."""
        return Step(lib.SIM_STEP_POOL, self._job, ffi.NULL)

    def run(self) -> None:
        """Compute. The interpreter lock is free meanwhile."""
        if lib.sim_int_pool(self._job):
            raise ValueError("surfaces of more than 64 channels")


class CdpLayer:
    """Normalisation of *source* into *target*, both [surface, y, x, channel] of the same type; it
    keeps neither alive. *cdp* and *lut* say the rest; *half*: in fp16, without converters."""

    def __init__(
        self,
        cdp: sim_cdp,
        lut: sim_lut,
        half: bool,
        source: NDArray[Any],
        target: NDArray[Any],
    ) -> None:
        self._lut = ffi.new("struct sim_lut *", lut)
        described = {**cdp, **between(source, target), "lut": self._lut}
        self._job = ffi.new("struct sim_cdp *", described)
        self._half = half
        self._run = lib.sim_half_cdp if half else lib.sim_int_cdp

    @property
    def clipped(self) -> int:
        """Values that the output could not hold."""
        return int(self._job.clipped)

    @property
    def odd(self) -> tuple[int, int, int]:
        """NaNs and infinities of the input of fp16, NaNs of its output."""
        job = self._job
        return int(job.nan_inputs), int(job.infinite_inputs), int(job.nan_outputs)

    @property
    def looked_up(self) -> LutCounts:
        """What the look-up tables counted."""
        return counted_by(self._lut)

    @property
    def counted(self) -> list[int]:
        """As ``steps.COUNTED``."""
        return [self.clipped, 0, 0, *self.looked_up, *self.odd]

    @property
    def step(self) -> Step:
        """What :meth:`run` calls."""
        kind = lib.SIM_STEP_HALF_CDP if self._half else lib.SIM_STEP_CDP
        return Step(kind, self._job, ffi.NULL)

    def run(self) -> None:
        """Compute. The interpreter lock is free meanwhile. Raises MemoryError."""
        if self._run(self._job):
            raise MemoryError
