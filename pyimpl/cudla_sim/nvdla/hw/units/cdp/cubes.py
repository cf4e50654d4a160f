"""What CDP reads and writes, and its converters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ....errors import HardwareFault
from ....facts.configs import HardwareConfig
from ....facts.precisions import INT8
from ...memory import Memory
from ..lut.counters import Counters
from .registers import Cdp, CdpRdma, signed

Shape = tuple[int, int, int]


@dataclass(slots=True)
class Result:
    """What a layer leaves for reports and counters."""

    input_shape: Shape
    precision: int
    counters: Counters
    saturated: int
    count_lut: bool
    nan_inputs: int = 0
    infinite_inputs: int = 0
    nan_outputs: int = 0


def about(rdma: Sequence[int], group: Sequence[int]) -> Result:
    """What is known of a layer before it is computed."""
    r, p = CdpRdma.decode(rdma), Cdp.decode(group)
    shape = (r.channels, r.height, r.width)
    return Result(shape, p.precision, Counters(), 0, bool(p.count_lut))


def in_offset(p: Cdp) -> int:
    return signed(p.in_offset, 8 if p.precision == INT8 else 16)


def in_limit(p: Cdp) -> int:
    return 1 << (8 if p.precision == INT8 else 16)


def out_offset(p: Cdp) -> int:
    return signed(p.out_offset, 25 if p.precision == INT8 else 32)


def cubes(
    r: CdpRdma, p: Cdp, config: HardwareConfig, memory: tuple[Memory, Memory]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """View input and output in memory as [surface, y, x, channel]."""
    if p.precision not in config.precisions or r.precision != p.precision:
        raise HardwareFault("CDP", f"precision {p.precision} (RDMA {r.precision})")
    shape = (r.channels, r.height, r.width)
    source = memory[r.source_mc].cube(
        "CDP_RDMA",
        r.source,
        p.precision,
        shape,
        r.line_stride,
        r.surface_stride,
        config.memory_atom,
    )
    target = memory[p.destination_mc].cube(
        "CDP output",
        p.destination,
        p.precision,
        shape,
        p.line_stride,
        p.surface_stride,
        config.memory_atom,
        write=True,
    )
    return source, target
