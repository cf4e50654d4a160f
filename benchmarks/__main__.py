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

from .report import Figure, compare, save, show

NOT_BENCHMARKS = {"__main__", "report"}


def measured(name: str) -> Iterator[tuple[Figure, float]]:
    """The figures of a benchmark, run in a process of its own, with the most memory that this or
    one of its programs had resident, in MiB. Ends this one when that fails."""
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
            raise SystemExit(f"the benchmark {name} failed")
        for figure in pickle.loads(file.read()):
            yield figure, usage.ru_maxrss / 1024


def main() -> None:
    names = [m.name for m in pkgutil.iter_modules(benchmarks.__path__)]
    names = [n for n in names if n not in NOT_BENCHMARKS]
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("name", nargs="*", help=", ".join(names) + " (default: all)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    parser.add_argument("--compare", type=Path, metavar="OLD", help="say what changed since then")
    options = parser.parse_args()
    wanted = options.name or names
    if unknown := set(wanted) - set(names):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    figures: list[Figure] = []
    for name in wanted:
        figures += [replace(f, peak_mib=peak) for f, peak in measured(name)]
    show(figures)
    if options.json:
        save(figures, options.json)
    if options.compare:
        print("\n".join(compare(figures, options.compare) or ["nothing changed beyond noise"]))


if __name__ == "__main__":
    main()
