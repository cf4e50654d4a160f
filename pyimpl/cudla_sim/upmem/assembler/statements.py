"""Lines of assembly text as labels, directives and instructions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .expressions import AsmError

LABEL = re.compile(r"\s*([A-Za-z_.$][\w.$]*|[0-9]+)\s*:(?!:)")
_ASSIGNMENT = re.compile(r"\s*([A-Za-z_.$][\w.$]*)\s*=(?!=)(.*)", re.DOTALL)
_LINE_MARK = re.compile(r'#\s*(?:line\s+)?(\d+)\s+"((?:\\.|[^"\\])*)"')
_PIECE = re.compile(r'"(?:\\.|[^"\\])*"?|\'(?:\\.|[^\\\'])\'|//|#|/\*|\*/|;|.', re.DOTALL)


@dataclass(frozen=True)
class Where:
    """A line of a file."""

    file: str
    line: int
    used: Where | None = None
    """Of a line of a macro: where the macro is used."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class LineError(AsmError):
    """An error with its place in front, as compilers print it."""

    def __init__(self, where: Where, text: str) -> None:
        used = f" (in a macro that is used at {where.used})" if where.used else ""
        super().__init__(f"{where}: error: {text}{used}")


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


def codes(text: str, file: str) -> Iterator[tuple[str, Where]]:
    """The texts of statements, without comments, after the C preprocessor. Raises LineError."""
    where = Where(file, 0)
    inside = False
    for line in text.splitlines():
        mark = None if inside else _LINE_MARK.match(line)
        if mark is not None:
            where = Where(mark[2], int(mark[1]) - 1)
            continue
        where = Where(where.file, where.line + 1)
        found, inside = _code(line, inside)
        for code in found:
            if code.strip():
                yield code, where
    if inside:
        raise LineError(where, "a comment has no end")


def statements(code: str, where: Where) -> Iterator[Statement]:
    """The labels of a text and what is behind them."""
    while match := LABEL.match(code):
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
