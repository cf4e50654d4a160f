"""How a benchmark tells what it found."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cudla_sim.tools.text_table import Table


@dataclass(frozen=True)
class Figure:
    """One measured number. ``goal`` is what it should reach; ``better`` says in which direction."""

    what: str
    value: float
    unit: str
    goal: float | None = None
    better: str = "lower"
    remark: str = ""
    peak_mib: float = 0.0
    """The most memory that the benchmark, or a program that it ran, had resident at once."""

    benchmark: str = ""
    """Whose figure it is; the command fills it in."""

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


def processor() -> str:
    """Its name, and where names are short its family and model."""
    told: dict[str, str] = {}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        told.setdefault(key.strip(), value.strip())
    name = told.get("model name") or told.get("CPU part") or platform.machine()
    numbers = [told[key] for key in ("cpu family", "model") if key in told]
    return f"{name} ({', '.join(numbers)})" if numbers else name


def machine() -> dict[str, str]:
    """What the figures depend on: processor, cores, who else works there, Python, numpy, and the
    commit."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return {
        "processor": processor(),
        "isa": os.environ.get("CUDLA_SIM_ISA", "machine"),
        "cores": str(len(os.sched_getaffinity(0))),
        "load before": f"{os.getloadavg()[1]:.1f}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "commit": commit.stdout.strip(),
    }


def show(figures: list[Figure]) -> None:
    table = Table(
        ("", "what", "median", "goal", "peak", "remark"),
        right=frozenset({2, 3, 4}),
        colors={"+": "green", "x": "red"},
    )
    for f in figures:
        sign = {"lower": "<=", "higher": ">="}[f.better]
        goal = "" if f.goal is None else f"{sign} {f.goal:g} {f.unit}"
        peak = f"{f.peak_mib:.0f} MiB" if f.peak_mib else ""
        mark = "+" if f.reached else "x"
        table.add(mark, f.what, f"{f.value:.4g} {f.unit}", goal, peak, f.remark)
    table.show()


def show_levels(found: dict[str, list[Figure]]) -> None:
    """Figures of several levels of instructions beside each other; + where all reach the goal."""
    levels = list(found)
    table = Table(
        ("", "what", *levels, "goal"),
        right=frozenset(range(2, 3 + len(levels))),
        colors={"+": "green", "x": "red"},
    )
    by_name = {level: {f.what: f for f in figures} for level, figures in found.items()}
    for what in dict.fromkeys(f.what for figures in found.values() for f in figures):
        own = [by_name[level].get(what) for level in levels]
        known = [f for f in own if f is not None]
        goal = next((f for f in known if f.goal is not None), None)
        sign = {"lower": "<=", "higher": ">="}[known[0].better]
        table.add(
            "+" if all(f.reached for f in known) else "x",
            what,
            *("" if f is None else f"{f.value:.4g} {f.unit}" for f in own),
            "" if goal is None else f"{sign} {goal.goal:g} {goal.unit}",
        )
    table.show()
