"""How a benchmark tells what it found."""

from __future__ import annotations

import json
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


def machine() -> dict[str, str]:
    """What the figures depend on: processor, cores, Python, numpy, and the commit."""
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith(("model name", "CPU part"))
        ),
        platform.machine(),
    )
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return {
        "processor": model,
        "isa": os.environ.get("CUDLA_SIM_ISA", "machine"),
        "cores": str(len(os.sched_getaffinity(0))),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "commit": commit.stdout.strip(),
    }


def save(figures: list[Figure], file: Path) -> None:
    """Writes all figures with the machine that they come from."""
    listed = [
        {
            "what": f.what,
            "value": f.value,
            "unit": f.unit,
            "better": f.better,
            "peak_mib": round(f.peak_mib, 1),
        }
        for f in figures
    ]
    file.write_text(json.dumps({"version": 1, "machine": machine(), "figures": listed}, indent=1))


NOISE = 1.25
"""Between two runs on a shared machine a figure may differ by this factor."""
AGAIN = 2
"""So often a benchmark runs again that seems worse; the best of the runs counts."""


class Older:
    """Figures of an earlier run. Raises OSError, ValueError."""

    def __init__(self, file: Path) -> None:
        try:
            data = json.loads(file.read_text())
            self._values = {f["what"]: float(f["value"]) for f in data["figures"]}
            self._machine = dict(data["machine"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"{file} is no file of --json: {error!r} is missing") from None

    def change(self, figure: Figure) -> float:
        """How many times worse a figure is than it was; below 1: better."""
        old = self._values.get(figure.what)
        if not old or not figure.value:
            return 1.0
        return figure.value / old if figure.better == "lower" else old / figure.value

    def worse(self, figures: list[Figure]) -> list[Figure]:
        """Those that are worse beyond noise."""
        return [f for f in figures if self.change(f) >= NOISE]

    def lines(self, figures: list[Figure]) -> list[str]:
        """What is worse, or better, beyond noise; what only one of the two runs has."""
        lines = []
        for figure in figures:
            change = self.change(figure)
            if not 1 / NOISE < change < NOISE:
                word = "worse" if change > 1 else "better"
                old = self._values[figure.what]
                lines.append(
                    f"{word}: {figure.what}: {old:.4g} -> {figure.value:.4g} {figure.unit}"
                )
        new = [f.what for f in figures if f.what not in self._values]
        if new:
            lines.append(f"not in the older file: {', '.join(new)}")
        here = machine()
        if any(self._machine.get(k) != here[k] for k in ("processor", "cores")):
            lines.append(f"measured on another machine: {self._machine}")
        return lines


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
