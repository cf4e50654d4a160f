"""Normalisations for the compiled function."""

from __future__ import annotations

from collections.abc import Sequence

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
) -> planes.CdpLayer | None:
    """The layer for the compiled function; None when numpy has to do it, because the output lies
    partly over the input."""
    r, p = CdpRdma.decode(rdma), Cdp.decode(group)
    source, target = cubes.cubes(r, p, config, memory)
    if touch(source, target):
        return None
    described = planes.Cdp(
        r.channels,
        0 if p.sqsum_bypass else p.reach,
        not p.mul_bypass,
        (cubes.in_offset(p), signed(p.in_scale, 16) * 2.0**-p.in_shift),
        cubes.in_limit(p),
        (cubes.out_offset(p), signed(p.out_scale, 16) * 2.0**-p.out_shift),
        RANGES[0 if p.precision == FP16 else p.precision],
        Lut(single, table, p.precision == FP16).described(),
        p.precision == FP16,
        bool(p.nan_to_zero),
    )
    return planes.CdpLayer(described, source, target)
