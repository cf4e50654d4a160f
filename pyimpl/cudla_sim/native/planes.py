"""Pooling of integers, normalisation (``int_pool.c``, ``int_cdp.c``, ``half_cdp.c``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .compiled import ffi, lib
from .ints import Lut, LutCounts, Pair, counted_by, describe_cube, describe_lut
from .steps import COUNTED, Step

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Pool(NamedTuple):
    """Pooling; see ``struct sim_pool``. ``pads``: what 0, 1, ... missing elements add to a sum."""

    method: int
    out_height: int
    out_width: int
    kernel_y: int
    kernel_x: int
    stride_y: int
    stride_x: int
    pad_top: int
    pad_left: int
    fill: int
    limits: tuple[int, int]
    reciprocal_y: int
    reciprocal_x: int
    pads: list[int]


class PoolLayer:
    """Pooling of *source* into *target*, both [surface, y, x, channel] of the same type, which it
    does not keep alive. It clips nothing that is counted."""

    counted = [0] * len(COUNTED)

    def __init__(self, pool: Pool, source: NDArray[Any], target: NDArray[Any]) -> None:
        job = self._job = ffi.new("struct sim_pool *")
        describe_cube(job.input, source)
        describe_cube(job.output, target)
        job.height, job.width = source.shape[1:3]
        job.method, job.out_height, job.out_width = pool.method, pool.out_height, pool.out_width
        job.kernel_y, job.kernel_x = pool.kernel_y, pool.kernel_x
        job.stride_y, job.stride_x = pool.stride_y, pool.stride_x
        job.pad_top, job.pad_left, job.fill = pool.pad_top, pool.pad_left, pool.fill
        job.low, job.high = pool.limits
        job.reciprocal_y, job.reciprocal_x = pool.reciprocal_y, pool.reciprocal_x
        job.pads[0 : len(pool.pads)] = pool.pads

    @property
    def step(self) -> Step:
        """What :meth:`run` calls."""
        return Step(lib.SIM_STEP_POOL, self._job, ffi.NULL)

    def run(self) -> None:
        """Compute. The interpreter lock is free meanwhile."""
        if lib.sim_int_pool(self._job):
            raise ValueError("surfaces of more than 64 channels")


class Cdp(NamedTuple):
    """Normalisation; see ``struct sim_cdp``. Converters are (offset, factor); fp16 (``half``) has
    none."""

    channels: int
    reach: int
    multiply: bool
    into: Pair
    limit: int
    outof: Pair
    limits: tuple[int, int]
    lut: Lut
    half: bool = False
    nan_to_zero: bool = False


class CdpLayer:
    """Normalisation of *source* into *target*, both [surface, y, x, channel] of the same type; it
    keeps neither alive."""

    def __init__(self, cdp: Cdp, source: NDArray[Any], target: NDArray[Any]) -> None:
        job = self._job = ffi.new("struct sim_cdp *")
        describe_cube(job.input, source)
        describe_cube(job.output, target)
        job.height, job.width = source.shape[1:3]
        job.channels, job.reach, job.multiply = cdp.channels, cdp.reach, cdp.multiply
        job.in_offset, job.in_factor = cdp.into
        job.in_limit = cdp.limit
        job.out_offset, job.out_factor = cdp.outof
        job.low, job.high = cdp.limits
        job.lut = self._lut = describe_lut(cdp.lut)
        job.nan_to_zero = cdp.nan_to_zero
        self._half = cdp.half
        self._run = lib.sim_half_cdp if cdp.half else lib.sim_int_cdp

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
