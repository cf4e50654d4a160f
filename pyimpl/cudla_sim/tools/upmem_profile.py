"""What a launch of DPUs spent its instructions on, from the JSON of ``upmem.timing.ledger``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import upmem_time


def tasklets(launch: dict[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """(DPU, times of its tasklets): of every DPU in a profile, else of the slowest one."""
    profile = launch.get("profile")
    if profile:
        for dpu in profile["dpus"]:
            yield dpu["dpu"], dpu["tasklets"]
    elif launch["tasklets"]:
        yield launch["slowest"], launch["tasklets"]


def class_totals(launch: dict[str, Any]) -> dict[str, int]:
    """Instructions of all DPUs by class, most first; {} without a profile."""
    profile = launch.get("profile")
    if not profile:
        return {}
    totals: dict[str, int] = {}
    for dpu in profile["dpus"]:
        for each in dpu["classes"]:
            for name, count in each.items():
                totals[name] = totals.get(name, 0) + count
    return dict(sorted(totals.items(), key=lambda item: -item[1]))


def hints(launch: dict[str, Any]) -> list[str]:
    """What would make a launch faster."""
    return upmem_time.hints(launch)
