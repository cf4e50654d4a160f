"""``python -m benchmarks [NAME...]``: runs all benchmarks, or those named (``cudla_calls``...)."""

from __future__ import annotations

import argparse
import importlib
import pkgutil

import benchmarks

from .report import Figure, show

NOT_BENCHMARKS = {"__main__", "report"}


def main() -> None:
    names = [m.name for m in pkgutil.iter_modules(benchmarks.__path__)]
    names = [n for n in names if n not in NOT_BENCHMARKS]
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("name", nargs="*", help=", ".join(names) + " (default: all)")
    wanted = parser.parse_args().name or names
    if unknown := set(wanted) - set(names):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    figures: list[Figure] = []
    for name in wanted:
        figures += importlib.import_module(f"benchmarks.{name}").figures()
    show(figures)


if __name__ == "__main__":
    main()
