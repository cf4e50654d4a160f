"""The ``asm`` statements of a file that are PTX."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..kernels import after, closed
from ..tokens import MARK, SPACE, STRING, WORD, Token

_TYPED = re.compile(r"\.(?:[usbf](?:8|16|32|64)|b128|pred|b?f16(?:x2)?|[us]16x2)\b")
_UNTYPED = {
    *("activemask", "bar", "barrier", "cp", "discard", "exit", "fence", "griddepcontrol"),
    *("membar", "nanosleep", "prefetch", "prefetchu", "setmaxnreg", "trap"),
}
"""First words of instructions without a type."""


@dataclass(frozen=True)
class Statement:
    """An ``asm`` statement: indexes of its tokens, its text, and its operands' expressions, of
    which the first *outputs* are written."""

    first: int
    last: int
    text: str
    operands: tuple[str, ...]
    outputs: int


def statements(found: Sequence[Token]) -> list[Statement]:
    """Those that look like PTX: other processors' instructions stay as they are."""
    result = []
    for index, token in enumerate(found):
        if token.kind == WORD and token.text in ("asm", "__asm__", "__asm"):
            statement = _statement(found, index)
            if statement is not None and _is_ptx(statement):
                result.append(statement)
    return result


def _is_ptx(statement: Statement) -> bool:
    first = re.match(r"[\s{]*([a-z][\w.:]*)", statement.text)
    word = first[1].partition(".")[0] if first else ""
    return word.rstrip(";") in _UNTYPED or bool(_TYPED.search(statement.text))


def _statement(found: Sequence[Token], index: int) -> Statement | None:
    at = after(found, index + 1)
    while at < len(found) and found[at].text in ("volatile", "__volatile__", "goto", "inline"):
        at = after(found, at + 1)
    if at >= len(found) or found[at].text != "(":
        return None
    end = closed(found, at)
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in found[at + 1 : end]:
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if depth == 0 and token.text in (":", "::"):
            parts += [[] for _ in token.text]
        else:
            parts[-1].append(token)
    strings = [t.text for t in parts[0] if t.kind not in (SPACE, MARK)]
    if not strings or any(t.kind not in (STRING, SPACE, MARK) for t in parts[0]):
        return None
    try:
        text = "".join(_said(s) for s in strings)
    except (ValueError, SyntaxError):
        return None
    operands = [_operands(part) for part in [*parts, [], []][1:3]]
    return Statement(index, end, text, tuple(operands[0] + operands[1]), len(operands[0]))


def _operands(part: Sequence[Token]) -> list[str]:
    """The expressions in parentheses behind each constraint."""
    found, at = [], 0
    while at < len(part):
        if part[at].text == "(":
            end = closed(part, at)
            inside = [t.text for t in part[at + 1 : end] if t.kind != MARK]
            found.append("".join(inside).replace("\n", " "))
            at = end
        at += 1
    return found


def _said(literal: str) -> str:
    """What a string literal says. Raises ValueError, SyntaxError."""
    raw = re.fullmatch(r'R"([^(]*)\((.*)\)\1"', literal, re.DOTALL)
    return raw[2] if raw else str(ast.literal_eval(literal))
