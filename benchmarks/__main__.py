"""``python -m benchmarks [NAME...]``: runs all benchmarks, or those named (``cudla_calls``...)."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks

from .report import Figure, show

NOT_BENCHMARKS = {"__main__", "report"}


def main() -> None:
    names = [m.name for m in pkgutil.iter_modules(benchmarks.__path__)]
    wanted = sys.argv[1:] or [n for n in names if n not in NOT_BENCHMARKS]
    figures: list[Figure] = []
    for name in wanted:
        figures += importlib.import_module(f"benchmarks.{name}").figures()
    show(figures)


if __name__ == "__main__":
    main()
