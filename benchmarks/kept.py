"""Figures of earlier runs: files, and what has changed since.

``benchmarks/results/<processor>/<level>.json`` is what the project keeps of a machine, for each
level of instructions; a run of some benchmarks replaces their figures only.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from .report import Figure, machine, processor

RESULTS = Path(__file__).resolve().parent / "results"
NOISE = 1.25
"""Between two runs on a shared machine a figure may differ by this factor."""


def file_of(level: str) -> Path:
    """What is kept of this machine, or will be."""
    return RESULTS / re.sub(r"\W+", "-", processor().lower()).strip("-") / f"{level}.json"


def save(figures: list[Figure], seconds: dict[str, float], file: Path, note: str = "") -> None:
    """Writes figures, how long each benchmark took, and the machine that they come from."""
    listed = [
        {
            "benchmark": f.benchmark,
            "what": f.what,
            "value": float(f"{f.value:.5g}"),
            "unit": f.unit,
            "better": f.better,
            "peak_mib": round(f.peak_mib, 1),
        }
        for f in figures
    ]
    about = {"version": 1, "machine": machine(), **({"note": note} if note else {})}
    times = {name: round(taken, 1) for name, taken in seconds.items()}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({**about, "seconds": times, "figures": listed}, indent=1) + "\n")


def keep(figures: list[Figure], seconds: dict[str, float], file: Path, note: str) -> None:
    """As :func:`save`, beside the figures that the file has of other benchmarks."""
    if file.exists():
        older = Older(file)
        figures = [f for f in older.figures if f.benchmark not in seconds] + figures
        seconds = {**older.seconds, **seconds}
    save(figures, seconds, file, note)


class Older:
    """Figures of an earlier run. Raises OSError, ValueError."""

    def __init__(self, file: Path) -> None:
        try:
            data: dict[str, Any] = json.loads(file.read_text())
            self.figures = [
                Figure(
                    f["what"],
                    float(f["value"]),
                    f["unit"],
                    better=f["better"],
                    peak_mib=float(f["peak_mib"]),
                    benchmark=f.get("benchmark", ""),
                )
                for f in data["figures"]
            ]
            self._machine = dict(data["machine"])
            self.seconds = dict(data.get("seconds", {}))
        except (KeyError, TypeError) as error:
            raise ValueError(f"{file} is no file of --json: {error!r} is missing") from None
        self._values = {f.what: f.value for f in self.figures}

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
