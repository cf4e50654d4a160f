"""``python -m benchmarks [NAME...]``: runs all benchmarks, or those named (``cudla_calls``...)."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from pathlib import Path

import benchmarks

from .report import Figure, compare, save, show

NOT_BENCHMARKS = {"__main__", "report"}


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
        figures += importlib.import_module(f"benchmarks.{name}").figures()
    show(figures)
    if options.json:
        save(figures, options.json)
    if options.compare:
        print("\n".join(compare(figures, options.compare) or ["nothing changed beyond noise"]))


if __name__ == "__main__":
    main()
