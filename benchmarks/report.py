"""How a benchmark tells what it found."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One measured number. ``goal`` is what it should reach; ``better`` says in which direction."""

    what: str
    value: float
    unit: str
    goal: float | None = None
    better: str = "lower"
    remark: str = ""

    @property
    def reached(self) -> bool:
        if self.goal is None:
            return True
        return self.value <= self.goal if self.better == "lower" else self.value >= self.goal


def median_seconds(work: Callable[[], object], runs: int = 7) -> float:
    """The median of ``runs`` timings, after one run that does not count."""
    work()
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def show(figures: list[Figure]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None)
    for column, align in (("", "left"), ("what", "left"), ("median", "right"), ("goal", "right")):
        table.add_column(column, justify=align)  # type: ignore[arg-type]
    table.add_column("")
    for f in figures:
        sign = {"lower": "<=", "higher": ">="}[f.better]
        goal = "" if f.goal is None else f"{sign} {f.goal:g} {f.unit}"
        mark = "[green]+[/]" if f.reached else "[red]x[/]"
        table.add_row(mark, f.what, f"{f.value:.4g} {f.unit}", goal, f.remark)
    Console().print(table)
