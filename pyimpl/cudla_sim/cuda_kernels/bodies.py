"""What the braces of a file are: a function's body, a declaration's, an initializer's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .kernels import closed
from .tokens import MARK, SPACE, Token

_DECLARE = ("namespace", "class", "struct", "union", "enum", "extern")
_WITH_GROUP = (
    "__attribute__",
    "alignas",
    "__launch_bounds__",
    "noexcept",
    "explicit",
)
"""Words that may have parentheses behind them, which are no parameters."""
_BEHIND_PARAMETERS = ("const", "volatile", "noexcept", "override", "final", "&", "try", "mutable")
_GROUP = {"(": "()", "[": "[]", "{": "{}"}


class Body(NamedTuple):
    """Indices of a function's braces, and of where its declaration begins."""

    begin: int
    brace: int
    end: int


@dataclass
class Braces:
    bodies: list[Body] = field(default_factory=list)
    others: list[tuple[int, int]] = field(default_factory=list)
    """Those in which nothing is declared: initializers."""
    begins: list[int] = field(default_factory=list)
    """Where each declaration begins, of a function with a body or without, or of anything else."""


def braces(found: Sequence[Token]) -> Braces:
    """Of namespaces and classes, and what these have; not those in functions."""
    made = Braces()
    index = begin = 0
    while index < len(found):
        text = found[index].text
        if text in (";", "}"):
            made.begins.append(begin)
            begin = index + 1
        elif text in ("(", "["):
            index = closed(found, index)
        elif text == "{":
            head = _head(found, begin, index)
            if _is_function(head):
                end = closed(found, index)
                made.bodies.append(Body(begin, index, end))
                made.begins.append(begin)
                index, begin = end, end + 1
            elif _declares(head):
                begin = index + 1
            else:
                end = closed(found, index)
                made.others.append((index, end))
                index = end
        index += 1
    return made


def has_declarations(found: Sequence[Token], begin: int, brace: int) -> bool:
    """Whether the brace of what begins at *begin* is a namespace's or a class's."""
    head = _head(found, begin, brace)
    return not _is_function(head) and _declares(head)


def _declares(head: list[str]) -> bool:
    return "=" not in head and any(word in head for word in _DECLARE)


def _head(found: Sequence[Token], begin: int, end: int) -> list[str]:
    """The words of a declaration; groups are one each, attributes and a template's parameters left
    out."""
    words: list[str] = []
    index = begin
    while index < end:
        token = found[index]
        if token.kind in (SPACE, MARK):
            pass
        elif token.text in _GROUP:
            index = closed(found, index)
            if words and words[-1] in _WITH_GROUP:
                words.pop()
            else:
                words.append(_GROUP[token.text])
        elif token.text == "<" and words and words[-1] == "template":
            index = angle_closed(found, index, end)
        else:
            words.append(token.text)
        index += 1
    return words


def angle_closed(found: Sequence[Token], index: int, end: int) -> int:
    """The index of the > that closes the < at *index*; *end* where none does."""
    depth = 0
    while index < end:
        text = found[index].text
        if text in _GROUP:
            index = closed(found, index)
        elif text == "<":
            depth += 1
        elif text in (">", ">>>"):
            depth -= len(text)
            if depth <= 0:
                return index
        index += 1
    return end


def _is_function(head: list[str]) -> bool:
    if "()" not in head or ("=" in head and "operator" not in head):
        return False
    behind = head[head.index("()") + 1 :]
    last = len(head) - 1
    while head[last] in _BEHIND_PARAMETERS:
        last -= 1
    # a constructor's members may have braces, and a result may be behind an arrow
    return head[last] == "()" or "->" in behind or (":" in behind and head[last] == "{}")
