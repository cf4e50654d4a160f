"""What a link of C and assembly needs beside its objects."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from . import calls, signatures
from .signatures import Signature

_ENTRY = re.compile(rb"\0" + calls.ENTRY.encode() + rb"([\w.$]+)\0")
_CALL = re.compile(rb"\0" + calls.CALL.encode() + rb"([\w.$]+)\0")


def wrappers(objects: Iterable[str]) -> str:
    """C of the functions that carry arguments of 64 bits and numbers with a point between C and
    assembly; "" where none do.

    Raises AsmError: a declaration has what registers cannot hold.
    """
    contents = [Path(o).read_bytes() for o in objects if Path(o).is_file()]
    if not any(calls.ENTRY.encode() in part for part in contents):
        return ""
    known: dict[str, Signature] = {}
    for part in contents:
        for name, signature in signatures.of_object(part).items():
            if name not in known or known[name].plain:  # the unit of assembly says words of all
                known[name] = signature

    def of(pattern: re.Pattern[bytes]) -> dict[str, Signature]:
        found = [name for part in contents for name in _names(pattern, part)]
        return {name: known[name] for name in found if name in known}

    return calls.wrappers(of(_ENTRY), of(_CALL))


def _names(pattern: re.Pattern[bytes], contents: bytes) -> list[str]:
    """Names in a table of strings, of which one's end is the next one's beginning."""
    found, at = [], 0
    while match := pattern.search(contents, at):
        found.append(match[1].decode("latin-1"))
        at = match.end() - 1
    return found
