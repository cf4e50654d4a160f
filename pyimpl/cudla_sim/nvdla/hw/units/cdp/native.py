"""Normalisations for the compiled function."""

from __future__ import annotations

from collections.abc import Sequence

from .....constants.native_types import sim_cdp
from .....native import planes
from ....facts.configs import HardwareConfig
from ....facts.precisions import FP16, RANGES
from ...csb import LookupTable
from ...memory import Memory, touch
from . import cubes
from .lut import Lut
from .registers import Cdp, CdpRdma, signed


def compiled(
    rdma: Sequence[int],
    group: Sequence[int],
    single: Sequence[int],
    table: LookupTable,
    config: HardwareConfig,
    memory: tuple[Memory, Memory],
    narrow: bool = False,
) -> planes.CdpLayer | None:
    """The layer for the compiled function; None when numpy has to do it, because the output lies
    partly over the input."""
    r, p = CdpRdma.decode(rdma), Cdp.decode(group)
    source, target = cubes.cubes(r, p, config, memory)
    if touch(source, target):
        return None
    half = p.precision == FP16
    low, high = RANGES[0 if half else p.precision]
    job = sim_cdp(
        channels=r.channels,
        reach=0 if p.sqsum_bypass else p.reach,
        multiply=not p.mul_bypass,
        in_offset=cubes.in_offset(p),
        in_factor=signed(p.in_scale, 16) * 2.0**-p.in_shift,
        in_limit=cubes.in_limit(p),
        out_offset=cubes.out_offset(p),
        out_factor=signed(p.out_scale, 16) * 2.0**-p.out_shift,
        low=low,
        high=high,
        nan_to_zero=bool(p.nan_to_zero),
    )
    return planes.CdpLayer(job, Lut(single, table, half, narrow).described(), half, source, target)
