"""Pictures of a batch that one convolution takes together (configurations with batch mode).

A stripe is then one position of all of them: where outputs are small, as those of fully connected
layers, the multipliers wait less for weights, and weights are fetched once.
Source: nvdla hardware manual "Batch"; :mod:`cudla_sim.nvdla.timing.stripes`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, prod

import numpy as np

from cudla_sim.nvdla.facts import fields
from cudla_sim.nvdla.facts.configs import HardwareConfig

from ..graph import PRelu
from .fit import Fit


@dataclass(frozen=True, slots=True)
class Together:
    """*count* pictures, whose cubes are *source* and *target* bytes apart."""

    count: int = 1
    source: int = 0
    target: int = 0


ALONE = Together()


def possible(fit: Fit) -> bool:
    """True if SDP's operands are the same for all pictures and positions: the hardware fetches
    them once for a batch."""
    arrays = [fit.scale, fit.shift]
    arrays += [item.slope[0] for item in (fit.x2, fit.y_mul) if isinstance(item, PRelu)]
    return not fit.operands and all(a is None or np.size(a) in (1, len(a)) for a in arrays)


def core_cycles(
    config: HardwareConfig,
    precision: int,
    kernels: int,
    weights: tuple[int, ...],
    out: tuple[int, int],
    pictures: int = 1,
) -> int:
    """Cycles of the convolution core for *kernels* kernels of *weights* (channels, rows, columns)
    and *out* (lines, columns)."""
    from cudla_sim.nvdla.timing.stripes import Core, cycles  # few networks need it

    unit, group = config.timing, config.kernel_group(precision)
    core = Core(config.atomic_k, unit.credits, group / unit.sdp + unit.position_extra)
    blocks = ceil(weights[0] / config.atomic_c) * prod(weights[1:])
    groups, positions = ceil(kernels / group), prod(out)
    if pictures > 1:
        return cycles(pictures, positions * groups, pictures, pictures, blocks, core)[0]
    return cycles(positions, groups, unit.stripe, unit.stripe // 2, blocks, core)[0]


def turns(
    config: HardwareConfig, count: int, fits: Callable[[int], bool], cost: Callable[[int], float]
) -> list[int]:
    """How *count* pictures are taken: so many each time, in the least time.

    *fits* says whether the convolution buffer holds so many, *cost* the cycles of a turn.
    """
    most = min(count, fields.most(config, "CDMA.D_BATCH_NUMBER.BATCHES", 1)) if config.batch else 1
    best, least = [1] * count, count * cost(1)
    for size in sorted({ceil(count / n) for n in range(1, count)}):
        if size < 2 or size > most or not fits(size):
            continue
        rest = count % size
        time = count // size * cost(size) + (cost(rest) if rest else 0)
        if time <= least:
            best, least = [size] * (count // size) + [rest] * (rest > 0), time
    return best
