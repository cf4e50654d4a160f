"""``python -m benchmarks [NAME...]``: runs all benchmarks, or those named (``cudla_calls``...)."""

from __future__ import annotations

import argparse
import importlib
import os
import pickle
import pkgutil
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import benchmarks
from cudla_sim.core.config import ISA

from .kept import Older, file_of, keep, save
from .report import Figure, show, show_levels

NOT_BENCHMARKS = {"__main__", "kept", "nvdla_published", "report"}
AGAIN = 2
"""So often a benchmark runs again that seems worse; the best of the runs counts."""
KEPT = Path()
"""--compare without a file."""


class Failed(Exception):
    """A benchmark ended without figures; its own words have been shown."""


def measured(name: str) -> Iterator[tuple[Figure, float]]:
    """The figures of a benchmark, run in a process of its own, with the most memory that this or
    one of its programs had resident, in MiB. Raises Failed."""
    with tempfile.NamedTemporaryFile() as file:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                found = importlib.import_module(f"benchmarks.{name}").figures()
                Path(file.name).write_bytes(pickle.dumps(found))
                status = 0
            except SystemExit as end:
                print(end, file=sys.stderr)
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        _, status, usage = os.wait4(child, 0)
        if status:
            raise Failed(name)
        for figure in pickle.loads(file.read()):
            yield figure, usage.ru_maxrss / 1024


def better(one: Figure, other: Figure) -> Figure:
    """The better of two measurements of one thing."""
    lower = one.value <= other.value
    return one if lower == (one.better == "lower") else other


class Level:
    """All benchmarks with the instructions of one level, of which none begins after ``end``."""

    def __init__(self, level: str, older: Older | None, end: float) -> None:
        os.environ["CUDLA_SIM_ISA"] = level  # of this process's children, and of their programs
        self.level, self.older, self.end = level, older, end
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []
        self._found: dict[str, list[Figure]] = {}

    @property
    def figures(self) -> list[Figure]:
        return [figure for figures in self._found.values() for figure in figures]

    def _measure(self, name: str) -> list[Figure]:
        begin = time.monotonic()
        found = [replace(f, peak_mib=peak, benchmark=name) for f, peak in measured(name)]
        self.seconds[name] = time.monotonic() - begin
        return found

    def measure(self, names: list[str]) -> None:
        for name in names:
            if time.monotonic() > self.end:
                self.failed.append(f"{name} ({self.level}, out of time)")
                continue
            try:
                self._found[name] = self._measure(name)
            except Failed:
                self.failed.append(f"{name} ({self.level})")

    def again(self) -> None:
        """Noise only ever makes a figure worse for a while: benchmarks with figures that are worse
        than in ``older`` run again while there is time."""
        for name, taken in [*self.seconds.items()] * AGAIN:
            figures = self._found[name]
            late = time.monotonic() + taken > self.end
            if late or self.older is None or not self.older.worse(figures):
                continue
            with suppress(Failed):
                again = {f.what: f for f in self._measure(name)}
                self._found[name] = [better(f, again.get(f.what, f)) for f in figures]


def arguments(names: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("name", nargs="*", help=", ".join(names) + " (default: all)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    parser.add_argument(
        "--isa",
        metavar="LEVEL[,LEVEL...]",
        default="machine",
        help=f"instructions that compiled functions use: {', '.join(ISA)}; of several, each is "
        "measured, and its figures stand beside each other",
    )
    parser.add_argument(
        "--compare",
        type=Path,
        nargs="?",
        const=KEPT,
        metavar="OLD",
        help="say what changed since then; without a file: since what the project keeps of this "
        "machine and level, if it does",
    )
    parser.add_argument(
        "--keep", action="store_true", help="the project keeps the figures (benchmarks/results)"
    )
    parser.add_argument("--note", default="", help="what to know of the run, kept with the figures")
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="no benchmark begins after so many"
    )
    options = parser.parse_args()
    options.levels = options.isa.split(",")
    if strange := set(options.levels) - set(ISA):
        parser.error(f"--isa: no level {', '.join(sorted(strange))}; there are {', '.join(ISA)}")
    options.wanted = options.name or names
    if unknown := set(options.wanted) - set(names):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    options.older = {}
    for level in options.levels if options.compare else ():
        file = file_of(level) if options.compare == KEPT else options.compare
        try:
            options.older[level] = Older(file)  # before minutes of measuring
        except FileNotFoundError:
            if options.compare != KEPT:
                parser.error(f"--compare: no file {file}")
            print(f"nothing is kept of this machine yet ({file}); --keep begins that")
        except (OSError, ValueError) as error:
            parser.error(f"--compare: {error}")
    return options


def main() -> None:
    names = [m.name for m in pkgutil.iter_modules(benchmarks.__path__)]
    options = arguments([n for n in names if n not in NOT_BENCHMARKS])
    levels = options.levels
    found: dict[str, list[Figure]] = {}
    failed = []
    for level in levels:
        older = options.older.get(level)
        run = Level(level, older, time.monotonic() + options.minutes * 60)
        run.measure(options.wanted)
        run.again()
        figures = found[level] = run.figures
        failed += run.failed
        if options.json:
            file = of_level(options.json, level, levels)
            save(figures, run.seconds, file, options.note)
        if options.keep:
            keep(figures, run.seconds, file_of(level), options.note)
        if older is not None:
            print("\n".join(older.lines(figures) or ["nothing changed beyond noise"]))
    show(found[levels[0]]) if len(levels) == 1 else show_levels(found)
    if failed:
        raise SystemExit(f"without figures: {', '.join(failed)}")


def of_level(file: Path, level: str, levels: list[str]) -> Path:
    """A file for each of several levels."""
    return file if len(levels) == 1 else file.with_name(f"{file.stem}-{level}{file.suffix}")


if __name__ == "__main__":
    main()
