"""``python -m benchmarks [NAME...]``: runs all benchmarks, or those named (``cudla_calls``...)."""

from __future__ import annotations

import argparse
import importlib
import os
import pickle
import pkgutil
import sys
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import benchmarks
from cudla_sim.core.config import ISA

from .report import AGAIN, Figure, Older, save, show, show_levels

NOT_BENCHMARKS = {"__main__", "report"}


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


def measure(name: str, older: Older | None) -> list[Figure]:
    """The figures of a benchmark. Noise only ever makes a figure worse for a while: what is worse
    than in ``older`` is measured again before it is believed."""
    figures = [replace(f, peak_mib=peak) for f, peak in measured(name)]
    for _ in range(AGAIN):
        if older is None or not older.worse(figures):
            break
        again = {f.what: replace(f, peak_mib=peak) for f, peak in measured(name)}
        figures = [better(f, again.get(f.what, f)) for f in figures]
    return figures


def main() -> None:
    names = [m.name for m in pkgutil.iter_modules(benchmarks.__path__)]
    names = [n for n in names if n not in NOT_BENCHMARKS]
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
    parser.add_argument("--compare", type=Path, metavar="OLD", help="say what changed since then")
    options = parser.parse_args()
    levels = options.isa.split(",")
    if strange := set(levels) - set(ISA):
        parser.error(f"--isa: no level {', '.join(sorted(strange))}; there are {', '.join(ISA)}")
    wanted = options.name or names
    if unknown := set(wanted) - set(names):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    older = None
    if options.compare:
        try:
            older = Older(options.compare)  # before minutes of measuring
        except (OSError, ValueError) as error:
            parser.error(f"--compare: {error}")
    found: dict[str, list[Figure]] = {}
    failed = []
    for level in levels:
        os.environ["CUDLA_SIM_ISA"] = level  # of this process's children, and of their programs
        figures = found[level] = []
        for name in wanted:
            try:
                figures += measure(name, older)
            except Failed:
                failed.append(f"{name} ({level})")
        if options.json:
            save(figures, of_level(options.json, level, levels))
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
