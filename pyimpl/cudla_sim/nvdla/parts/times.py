"""Hardware time of a network in parts: that of its parts for the hardware, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .. import target
from ..loadable import Loadable
from ..timing import runs
from ..timing.parameters import Surroundings
from ..timing.pipeline import TimedOperation
from ..timing.runs import TimedRun
from .package import Package


def of_parts(
    package: Package, name: str, hardware: str, around: Surroundings
) -> dict[int, TimedRun]:
    """Those for the hardware, by number. *hardware* "" takes what the network is for. Raises
    NvdlaError."""
    found = {}
    for number, part in enumerate(package.parts):
        if not part.host:
            loadable = Loadable.parse(part.data)
            chosen = target.choose(loadable, hardware or package.config)
            found[number] = runs.loadable(loadable, f"{name} part {number}", chosen, around)
    return found


def joined(name: str, hardware: str, parts: Sequence[TimedRun], around: Surroundings) -> TimedRun:
    """Runs that follow each other as one; tasks are numbered through."""
    at = task = 0
    operations: list[TimedOperation] = []
    for run in parts:
        for item in run.operations:
            operations.append(
                replace(
                    item,
                    index=len(operations),
                    start=item.start + at,
                    end=item.end + at,
                    task=item.task + task,
                )
            )
        at += run.cycles
        task += 1 + max((item.task for item in run.operations), default=0)
    return TimedRun(name, hardware, at, operations, around.clock_mhz)
