"""Layers of fp16 beside convolution (``shim/native/half_*.c``)."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from .compiled import ffi, lib
from .ints import describe_cube
from .steps import COUNTED, Step


class HalfPool(NamedTuple):
    """Pooling; see ``struct sim_half_pool``. ``across`` and ``down``: what 0, 1, ... missing
    columns and lines add."""

    method: int
    out_height: int
    out_width: int
    kernel_y: int
    kernel_x: int
    stride_y: int
    stride_x: int
    pad_top: int
    pad_left: int
    nan_to_zero: bool
    across: list[float]
    down: list[float]
    reciprocal_y: float
    reciprocal_x: float


class HalfPoolLayer:
    """Pooling of *source* into *target*, both [surface, y, x, channel] of float16; it keeps neither
    alive."""

    def __init__(self, pool: HalfPool, source: NDArray[Any], target: NDArray[Any]) -> None:
        job = self._job = ffi.new("struct sim_half_pool *")
        describe_cube(job.input, source)
        describe_cube(job.output, target)
        job.height, job.width = source.shape[1:3]
        job.method, job.out_height, job.out_width = pool.method, pool.out_height, pool.out_width
        job.kernel_y, job.kernel_x = pool.kernel_y, pool.kernel_x
        job.stride_y, job.stride_x = pool.stride_y, pool.stride_x
        job.pad_top, job.pad_left, job.nan_to_zero = pool.pad_top, pool.pad_left, pool.nan_to_zero
        job.across[0 : len(pool.across)] = pool.across
        job.down[0 : len(pool.down)] = pool.down
        job.reciprocal_y, job.reciprocal_x = pool.reciprocal_y, pool.reciprocal_x

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
