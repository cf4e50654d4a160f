"""Host code and device code of one file, where they differ by ``__CUDA_ARCH__``.

nvcc compiles a file twice, for the host without that macro. Here it is preprocessed twice and
compiled once: a function whose two texts differ gets both, and which one runs is decided by who
calls it, a kernel or the host. What only the host's text declares is added to the device's; of
other differences outside of functions the device's text stays.

Source: CUDA C++ Programming Guide, "Compilation with NVCC" and "Macros and Preprocessing".
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from .. import paths
from .bodies import Body, braces
from .kernels import GLOBAL
from .linkage import DEVICE, HOST
from .tokens import MARK, SPACE, tokens
from .unread import around

_MACRO = re.compile(rb"__CUDA_ARCH__|\bNV_(?:IF|DISPATCH)_")
"""And those of <nv/target>, which go by it."""
_LINE = re.compile(r'# (\d+) "((?:[^"\\]|\\.)*)"')
ON_THE_HOST = "!::cudla_sim::block)"
_CONSTANT = "__builtin_is_constant_evaluated() || "
"""In functions where that may be."""


def differ(text: str) -> bool:
    """Whether a file that a preprocessed *text* is from says something of the macro."""
    others = (str(paths.include_dir()), str(paths.toolkit_dir()), "<", "/usr/include/c++")
    return any(
        _says_so(name)
        for name in {match[2] for match in _LINE.finditer(text)}
        if not name.startswith(others)
    )


def header() -> Path:
    """With it a file is read as its host code."""
    return paths.include_dir() / "cuda" / "kernels" / "host_side.hpp"


def left_out(said: str) -> str:
    """What a user is told when the two texts cannot be one, after what the compiler *said*."""
    why = next((line for line in said.splitlines() if " error: " in line), "").strip()
    return f"host code by __CUDA_ARCH__ is left out where both cannot be one function: {why}"


def _says_so(name: str) -> bool:
    try:
        return _MACRO.search(Path(name).read_bytes()) is not None
    except OSError:
        return False


Places = frozenset[tuple[str, int]]
"""Files and lines."""
_ERROR = re.compile(r"^(.+?):(\d+):(?:\d+:)? error: ", re.MULTILINE)


def errors(said: str) -> Places:
    """Where a compiler that *said* that found one."""
    return frozenset((match[1], int(match[2])) for match in _ERROR.finditer(said))


def merged(device: str, host: str, without: Places = frozenset()) -> str:
    """The text of both of them; *without* the host's around some places."""
    if device == host:
        return device
    ours, theirs = _Text(device), _Text(host)
    changes = _changes(ours, theirs)
    ours.read(changes.around_device)
    theirs.read(changes.around_host)
    added: dict[int, str] = {}
    by_place = {theirs.place(body): body for body in theirs.bodies}
    for body in ours.bodies:
        other = by_place.get(ours.place(body))
        if other is None or not body.of_the_host or theirs.has_any(other, without):
            continue
        if ours.has_changed(body, changes.device) or theirs.has_changed(other, changes.host):
            asked = f"if ({_CONSTANT if body.constant else ''}{ON_THE_HOST}"
            both = f" {asked} {{{theirs.inside(other)}}} else {{{ours.mark(body.brace + 1)}"
            added[body.brace] = both
            added[body.end - 1] = added.get(body.end - 1, "") + "}"
    for line, first, last in changes.only_host:
        if ours.is_outside(line) and without.isdisjoint(theirs.names[first : last + 1]):
            text = theirs.between(first, last)
            if text:
                at = ours.token_of(line)
                added[at] = f"\n{text}\n{ours.mark(at + 1)}" + added.get(at, "")
    return ours.with_added(added)


class _Body(NamedTuple):
    """A function's, by its braces among the tokens; ``of_the_host``: the host may call it, too."""

    brace: int
    end: int
    of_the_host: bool
    constant: bool


class _Line(NamedTuple):
    file: str
    number: int
    text: str


class _Changes(NamedTuple):
    """Numbers of lines in either text; and where the device's has none: before which of its lines
    the host has some, from which to which. ``around_device`` and ``around_host``: also the lines
    beside those of the other text."""

    device: list[int]
    host: list[int]
    only_host: list[tuple[int, int, int]]
    around_device: list[int]
    around_host: list[int]


class _Text:
    def __init__(self, text: str) -> None:
        self.text = text
        self.rows = text.split("\n")
        self.names = list(self._names())
        self.lines: list[_Line] = []  # those that say something
        self.raw: list[int] = []  # their numbers among the rows
        for index, row in enumerate(self.rows):
            file, number = self.names[index]
            if number and row.strip():
                self.raw.append(index)
                self.lines.append(_Line(file, number, row))

    def read(self, rows: list[int]) -> None:
        """Reads what is around these rows."""
        self.found = around(self.text, rows)
        self.row_of: list[int] = []
        at = 0
        for token in self.found:
            self.row_of.append(at)
            at += token.text.count("\n")
        all_braces = braces(self.found)
        self.bodies = list(self._bodies(all_braces.bodies))
        closed_off = [(body.brace, body.end) for body in self.bodies] + all_braces.others
        self._closed_off = sorted((self.row_of[a], self.row_of[b]) for a, b in closed_off)

    def _names(self) -> Iterator[tuple[str, int]]:
        """File and line of each row; 0 of a row that says where the next one is from."""
        file, number = "", 0
        for row in self.rows:
            match = _LINE.match(row)
            if match:
                file, number = match[2], int(match[1]) - 1
                yield file, 0
            else:
                number += 1
                yield file, number

    def _bodies(self, found: list[Body]) -> Iterator[_Body]:
        for body in found:
            head = {token.text for token in self.found[body.begin : body.brace]}
            host = GLOBAL not in head and (DEVICE not in head or HOST in head)
            constant = "constexpr" in head or "consteval" in head
            yield _Body(body.brace, body.end, host, constant)

    def place(self, body: _Body) -> tuple[str, int, int]:
        """Of its brace: file, line, and how many other braces the line has before."""
        row = self.row_of[body.brace]
        earlier, index = 0, body.brace - 1
        while index >= 0 and self.row_of[index] == row:
            earlier += self.found[index].text == "{"
            index -= 1
        return (*self.names[row], earlier)

    def has_changed(self, body: _Body, rows: list[int]) -> bool:
        first, last = self.row_of[body.brace], self.row_of[body.end]
        at = bisect_right(rows, first - 1)
        return at < len(rows) and rows[at] <= last

    def has_any(self, body: _Body, places: Places) -> bool:
        names = self.names[self.row_of[body.brace] : self.row_of[body.end] + 1]
        return bool(places) and not places.isdisjoint(names)

    def is_outside(self, row: int) -> bool:
        """Whether no function and no initializer is around a row's beginning."""
        at = bisect_right(self._closed_off, (row,)) - 1
        return at < 0 or self._closed_off[at][1] < row

    def inside(self, body: _Body) -> str:
        text = "".join(token.text for token in self.found[body.brace + 1 : body.end])
        return f"{self.mark(body.brace)}{text}\n"

    def mark(self, index: int) -> str:
        """A line that says where the token at *index* is from."""
        file, number = self.names[self.row_of[min(index, len(self.found) - 1)]]
        return f'\n# {number} "{file}"\n' if number else "\n"

    def between(self, first: int, last: int) -> str:
        """Rows with the mark before them; nothing where they are no whole declarations."""
        text = "\n".join(self.rows[first : last + 1])
        whole = [token.text for token in tokens(text) if token.kind not in (SPACE, MARK)]
        if any(whole.count(a) != whole.count(b) for a, b in ("()", "{}", "[]")):
            return ""
        if whole[-1] not in (";", "}"):
            return ""
        file, number = self.names[first]
        return f'# {number} "{file}"\n{text}'

    def token_of(self, row: int) -> int:
        """The last token that begins before a row."""
        return bisect_right(self.row_of, row - 1) - 1

    def with_added(self, added: dict[int, str]) -> str:
        return "".join(token.text + added.get(index, "") for index, token in enumerate(self.found))


def _changes(ours: _Text, theirs: _Text) -> _Changes:
    made = _Changes([], [], [], [], [])
    matcher = SequenceMatcher(None, ours.lines, theirs.lines, autojunk=False)
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind == "equal":
            continue
        made.device.extend(ours.raw[i1:i2])
        made.host.extend(theirs.raw[j1:j2])
        made.around_device.extend(ours.raw[max(i1 - 1, 0) : i2 + 1])
        made.around_host.extend(theirs.raw[max(j1 - 1, 0) : j2 + 1])
        if kind == "insert":
            row = ours.raw[i1] if i1 < len(ours.raw) else len(ours.rows)
            made.only_host.append((row, theirs.raw[j1], theirs.raw[j2 - 1]))
    return made
