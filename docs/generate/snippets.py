"""A call of each function, from the programs that the tests run."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_PROGRAMS = (".c", ".cpp", ".cu", ".h", ".hpp")
_FOLDERS = ("c_examples", "tests")  # the first that has one: samples are written to be read
_CALL = re.compile(r"\b([A-Za-z_]\w+)\s*\(")
_MOST_LINES = 8
_BLANKED = re.compile(r'"(?:[^"\\\n]|\\.)*"|/\*.*?\*/|//[^\n]*', re.DOTALL)


@cache
def calls() -> dict[str, tuple[str, Path]]:
    """Function -> the shortest statement that calls it, and the file, below the root."""
    found: dict[str, tuple[str, Path]] = {}
    for folder in _FOLDERS:
        here: dict[str, tuple[str, Path]] = {}
        for source in sorted((ROOT / folder).rglob("*")):
            if source.suffix in _PROGRAMS:
                for name, text in _statements(source.read_text(errors="replace")):
                    if name not in here or len(text) < len(here[name][0]):
                        here[name] = text, source.relative_to(ROOT)
        found = here | found
    return found


def of(name: str) -> tuple[str, Path] | None:
    """The call of a function. Headers name the newest of several versions without its number."""
    return calls().get(name) or calls().get(re.sub(r"_v\d+$", "", name))


def _statements(text: str) -> Iterator[tuple[str, str]]:
    """Names that are called, with the lines of the statement that does it."""
    blank = _BLANKED.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    lines, ends = text.splitlines(), [0]
    for line in lines:
        ends.append(ends[-1] + len(line) + 1)
    for match in _CALL.finditer(blank):
        first = next(i for i, end in enumerate(ends) if end > match.start()) - 1
        last = _last(blank, match.end(), ends)
        before = blank[ends[first] : match.start()].strip()
        declared = re.fullmatch(r"(?:[A-Za-z_][\w<>:]*\s+)*[A-Za-z_][\w<>:]*[\s*&]+", before + " ")
        if last is None or last - first >= _MOST_LINES or before.startswith("#"):
            continue
        if declared and before not in ("return", "else"):
            continue
        if not _begins(blank[: ends[first]]) or not _whole(blank[ends[first] : ends[last + 1]]):
            continue
        yield match[1], textwrap.dedent("\n".join(lines[first : last + 1]))


def _begins(before: str) -> bool:
    """Whether a statement may begin behind this text."""
    return before.rstrip()[-1:] in ("", ";", "{", "}", ":", ")")


def _whole(text: str) -> bool:
    return all(text.count(a) == text.count(b) for a, b in ("()", "{}"))


def _last(blank: str, at: int, ends: list[int]) -> int | None:
    """The line on which the call that opened before *at* and its statement end."""
    depth = 1
    while at < len(blank) and depth:
        depth += {"(": 1, ")": -1}.get(blank[at], 0)
        at += 1
    while at < len(blank) and blank[at] not in ";{}":
        at += 1
    if at >= len(blank):
        return None
    return next(i for i, end in enumerate(ends) if end > at) - 1
