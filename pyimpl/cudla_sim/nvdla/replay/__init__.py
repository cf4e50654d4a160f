"""Replaying register-level hardware tests on the chip model, with no driver in between.

Three forms of the same thing are read: the ``NAME.cfg`` files and the ``input.txn`` folders of the
public hardware repository, and JSON lines with packed data.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from . import cfg, packed, txn
from .player import Outcome, play
from .trace import Trace, TraceError

__all__ = ["Outcome", "Trace", "TraceError", "play", "read"]


def read(path: Path) -> Iterator[Trace]:
    """All traces of a file or, in order of name, of a folder and those below it.

    Raises TraceError, also when there are none.
    """
    if path.is_dir():
        files = [p for p in sorted(path.rglob("*")) if _is_trace(p)]
        if not files:
            raise TraceError(f"{path}: no NAME.cfg, input.txn or tests.jsonl.gz in it or below")
        for file in files:
            yield from read(file)
    elif not path.exists():
        raise TraceError(f"{path}: no such file or folder")
    elif path.suffix == ".cfg":
        yield cfg.read(path)
    elif path.suffix == ".txn":
        yield txn.read(path)
    elif path.name.endswith((".jsonl", ".jsonl.gz")):
        yield from packed.read(path)
    else:
        raise TraceError(f"{path}: not a trace; a .cfg, .txn, .jsonl or .jsonl.gz file is")


def _is_trace(path: Path) -> bool:
    return path.is_file() and (
        path.suffix in (".cfg", ".txn") or path.name.endswith((".jsonl", ".jsonl.gz"))
    )
