"""How long the convolution core takes for the output positions of one group of kernels.

The core works in stripes: runs of positions that use the same weights. For each stripe it goes
through all blocks of channels and taps, one package each; the last one makes results and wants
credits for them, which come back as the results leave for SDP. Source: nvdla/hw ``vmod/nvdla``,
``csc/NV_NVDLA_CSC_sg.v``, ``csc/NV_NVDLA_CSC.h`` and ``cacc/NV_NVDLA_CACC_delivery_buffer.v``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from . import parameters as p

_SIMULATED = 16  # equal runs; the others take as long as the last of these
_PERIOD = 4


@dataclass(frozen=True, slots=True)
class Core:
    """``least``: cycles of the shortest package; ``credits``: positions on their way to SDP;
    ``delivery``: cycles of a position on that way."""

    least: int
    credits: int
    delivery: float


def lengths(positions: int, upper: int, lower: int) -> tuple[int, list[int]]:
    """How a run of positions is cut: so many stripes of *upper*, and those that follow."""
    full = max(positions // upper - 1, 0)
    left = positions - full * upper
    tail = []
    while left > upper:
        tail.append(lower)
        left -= lower
    return full, [*tail, left]


@lru_cache(maxsize=4096)
def cycles(
    run: int, runs: int, upper: int, lower: int, atoms: int, core: Core
) -> tuple[int, int, float]:
    """Cycles from the first package to the end of the last one, of *runs* runs of *run* positions
    with *atoms* packages a stripe; the length of the last stripe; and the cycles after it until the
    last position has left for SDP."""
    full, tail = lengths(run, upper, lower)
    if runs == 1:
        head, rest = [upper] * min(full, _SIMULATED), tail
        more, each = full - len(head), 1
    else:
        pattern = [upper] * full + tail
        if len(pattern) > 4 * _SIMULATED:  # the edges of such lines are few
            one, last, behind = cycles(run, 1, upper, lower, atoms, core)
            return one * runs, last, behind
        head, rest = pattern * min(runs, _SIMULATED), []
        more, each = runs - min(runs, _SIMULATED), len(pattern)
    ends, left = _simulate(head + rest, atoms, core)
    total = ends[-1]
    if more > 0:
        back = _PERIOD * each
        total += more * (ends[len(head) - 1] - ends[len(head) - 1 - back]) / _PERIOD
    return round(total), (tail or [upper])[-1], left - ends[-1]


def packages(run: int, runs: int, upper: int, lower: int, atoms: int, core: Core) -> int:
    """Cycles that the packages take when nothing has to wait for credits."""
    full, tail = lengths(run, upper, lower)
    line = full * max(upper, core.least) + sum(max(length, core.least) for length in tail)
    return line * runs * atoms


def _simulate(stripes: list[int], atoms: int, core: Core) -> tuple[list[float], float]:
    """The end of each stripe's last package, and when the last position has left."""
    now = 0.0
    ends: list[float] = []
    reads: list[tuple[int, float]] = []  # positions before a stripe, when its first one leaves
    before = 0
    free = 0.0  # when the delivery buffer takes the next position out
    for length in stripes:
        package = max(length, core.least)
        last = now + (atoms - 1) * package
        needed = before + length - core.credits  # so many must have left
        if needed > 0:
            start, first = next(r for r in reversed(reads) if r[0] < needed)
            last = max(last, first + (needed - 1 - start) * core.delivery + p.CREDIT_RETURN)
        first = max(free, last + package - length + p.STRIPE_LATENCY)
        reads.append((before, first))
        free = first + length * core.delivery
        before += length
        now = last + package
        ends.append(now)
    return ends, free
