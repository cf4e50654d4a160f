"""Lines of assembly text as labels, directives and instructions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .expressions import AsmError

_LABEL = re.compile(r"\s*([A-Za-z_.$][\w.$]*|[0-9]+)\s*:(?!:)")
_ASSIGNMENT = re.compile(r"\s*([A-Za-z_.$][\w.$]*)\s*=(?!=)(.*)", re.DOTALL)
_LINE_MARK = re.compile(r'#\s*(?:line\s+)?(\d+)\s+"((?:\\.|[^"\\])*)"')
_PIECE = re.compile(r'"(?:\\.|[^"\\])*"?|\'(?:\\.|[^\\\'])\'|//|#|/\*|\*/|;|.', re.DOTALL)


@dataclass(frozen=True)
class Where:
    """A line of a file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class LineError(AsmError):
    """An error with its place in front, as compilers print it."""

    def __init__(self, where: Where, text: str) -> None:
        super().__init__(f"{where}: error: {text}")


@dataclass(frozen=True)
class Statement:
    """``kind``: label, assignment, directive or instruction; ``name`` and what follows it."""

    kind: str
    name: str
    rest: str
    where: Where


def split(text: str) -> list[str]:
    """Operands between commas, not those in strings and parentheses."""
    if not text.strip():
        return []
    pieces, depth, current = [], 0, ""
    for piece in _PIECE.findall(text):
        depth += (piece == "(") - (piece == ")")
        if piece == "," and depth == 0:
            pieces.append(current.strip())
            current = ""
        else:
            current += piece
    return [*pieces, current.strip()]


def _code(line: str, inside: bool) -> tuple[list[str], bool]:
    """Statements of a line without its comments, and whether a comment goes on after it."""
    found, current = [], ""
    pieces = iter(_PIECE.findall(line))
    for piece in pieces:
        if inside:
            inside = piece != "*/"
        elif piece == "/*":
            inside = True
            current += " "
        elif piece == "//" or (piece == "#" and (not current or current[-1].isspace())):
            break
        elif piece == ";":
            found.append(current)
            current = ""
        else:
            current += piece
    return [*found, current], inside


def statements(text: str, file: str) -> Iterator[Statement]:
    """Reads text that went through the preprocessor, or never needs to. Raises LineError."""
    where = Where(file, 0)
    inside = False
    for line in text.splitlines():
        mark = None if inside else _LINE_MARK.match(line)
        if mark is not None:
            where = Where(mark[2], int(mark[1]) - 1)
            continue
        where = Where(where.file, where.line + 1)
        codes, inside = _code(line, inside)
        for code in codes:
            yield from _statement(code, where)
    if inside:
        raise LineError(where, "a comment has no end")


def _statement(code: str, where: Where) -> Iterator[Statement]:
    while match := _LABEL.match(code):
        yield Statement("label", match[1], "", where)
        code = code[match.end() :]
    code = code.strip()
    if not code:
        return
    if match := _ASSIGNMENT.match(code):
        yield Statement("assignment", match[1], match[2], where)
        return
    name, _, rest = code.replace("\t", " ").partition(" ")
    kind = "directive" if name.startswith(".") else "instruction"
    yield Statement(kind, name.lower(), rest.strip(), where)
