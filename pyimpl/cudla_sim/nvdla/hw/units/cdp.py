"""CDP: not simulated yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cudla_sim.nvdla.errors import UnsupportedOperation
from cudla_sim.nvdla.hw.configs import HardwareConfig
from cudla_sim.nvdla.hw.memory import Memory

Shape = tuple[int, int, int]


def run(
    groups: Mapping[str, Sequence[int]],
    config: HardwareConfig,
    memory: tuple[Memory, Memory],
) -> tuple[Shape, Shape, int]:
    """Compute one layer; return input shape, output shape, precision."""
    raise UnsupportedOperation("CDP", "local response normalisation")
