"""Which DPUs of whole ranks a set of fewer DPUs leaves out.

As in the SDK's library: one after the other, from the line (the DPUs of one member number) with
most DPUs out already, so that few lines are concerned; else from the rank with most DPUs, so that
ranks stay about equal; the last rank and the highest line of equal ones. Inside a line the highest
control interface goes first. The last DPU of a rank stays.
"""

from __future__ import annotations

from collections.abc import Sequence

from .memory import CIS_PER_RANK
from .rank import Dpu, Rank


def disable(ranks: Sequence[Rank], surplus: int) -> None:
    """Takes so many DPUs out of use. There must be that many besides one a rank."""
    lines = [_lines(rank) for rank in ranks]
    best = [_best(of_rank) for of_rank in lines]
    for _ in range(surplus):
        chosen = max(range(len(ranks)), key=lambda number: (*best[number][:2], number))
        *_, line = best[chosen]
        lines[chosen][line].pop().enabled = False
        best[chosen] = _best(lines[chosen])
    for rank in ranks if surplus else []:
        rank.refresh()


def _lines(rank: Rank) -> list[list[Dpu]]:
    """The DPUs in use of each line, in the order of control interfaces."""
    lines: list[list[Dpu]] = [[] for _ in range(len(rank.dpus) // CIS_PER_RANK)]
    for dpu in rank.dpus:
        if dpu.enabled:
            lines[dpu.member].append(dpu)
    return lines


def _best(lines: list[list[Dpu]]) -> tuple[int, int, int]:
    """How many DPUs the best line of a rank lacks, how many the rank has, and which line it is."""
    have = sum(map(len, lines))
    if have == 1:
        return -1, 0, 0
    lacking, line = max((CIS_PER_RANK - len(dpus), n) for n, dpus in enumerate(lines) if dpus)
    return lacking, have, line
