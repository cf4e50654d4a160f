"""Declarations of variables among the statements of a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..kernels import CLOSING, SHARED
from ..tokens import WORD, Token

BUILT_IN = frozenset(
    ("void", "bool", "char", "short", "int", "long", "unsigned", "signed", "float", "double")
)
_AROUND = frozenset((
    "const", "volatile", "typename", "register", "mutable", "static", "extern", "constexpr",
    "thread_local", "__restrict__", "__restrict", SHARED,
))  # fmt: skip
_NO_TYPES = frozenset((
    "return", "break", "continue", "goto", "delete", "new", "else", "do", "if", "for", "while",
    "case", "default", "using", "typedef", "static_assert", "enum", "asm", "__asm__", "sizeof",
    "namespace", "operator", "throw",
))  # fmt: skip
_WITH_BRACKETS = ("__attribute__", "alignas")
_IN_DECLARATORS = ("*", "&", "const", "volatile", "__restrict__", "__restrict")


class Texts(Protocol):
    """What is parsed: see Body."""

    texts: list[str]
    tokens: list[Token]
    match: dict[int, int]

    def angle(self, at: int, end: int) -> int: ...


@dataclass(frozen=True)
class Declarator:
    """One name of a declaration: *base* are the places of its type, *prefix* its ``*`` and ``&``,
    *dimensions* and *value* places behind the name; *value* begins with its =, ( or {."""

    name: str
    at: int
    base: tuple[int, int]
    prefix: tuple[str, ...]
    dimensions: tuple[int, int]
    value: tuple[int, int]
    constant: bool
    built_in: bool


def declarators(body: Texts, begin: int, end: int) -> list[Declarator] | None:
    """Of the declaration up to the ; at *end*; None where it is none."""
    at = _base(body, begin, end)
    if at is None:
        return None
    base = (begin, at)
    words = body.texts[begin:at]
    built_in = bool(BUILT_IN.intersection(words))
    found: list[Declarator] = []
    while at < end:
        first = at
        while at < end and body.texts[at] in _IN_DECLARATORS:
            at += 1
        prefix = tuple(body.texts[first:at])
        if at >= end or body.tokens[at].kind != WORD or body.texts[at] in BUILT_IN:
            return None
        place, at = at, at + 1
        dimensions = at
        while at < end and body.texts[at] == "[":
            at = body.match[at] + 1
        value = at
        if at < end and body.texts[at] not in ("=", "(", "{", ","):
            return None
        while at < end and body.texts[at] != ",":
            closing = body.angle(at, end) if _names_template(body, at) else -1
            at = closing if closing > 0 else at
            at = body.match[at] if body.texts[at] in CLOSING else at
            at += 1
        constant = prefix[-1:] == ("const",) if prefix else "const" in words or "constexpr" in words
        pointer = "*" in prefix
        found.append(
            Declarator(
                body.texts[place], place, base, prefix, (dimensions, value), (value, at), constant,
                built_in or pointer,
            )
        )  # fmt: skip
        at += 1
    return found or None


def _names_template(body: Texts, at: int) -> bool:
    return body.texts[at] == "<" and body.tokens[at - 1].kind == WORD


def _base(body: Texts, begin: int, end: int) -> int | None:
    """Behind the type that begins there."""
    at, named = begin, False
    while at < end:
        text = body.texts[at]
        if text in _NO_TYPES:
            return None
        if text in _WITH_BRACKETS:
            at = body.match[at + 1] + 1
        elif text in _AROUND:
            at += 1
        elif text in BUILT_IN:
            named = True
            at += 1
        elif not named and (body.tokens[at].kind == WORD or text == "::"):
            at = _name(body, at, end)
            named = True
        else:
            break
    return at if named and at < end else None


def _name(body: Texts, at: int, end: int) -> int:
    """Behind a name with its scopes and arguments."""
    if body.texts[at] == "::":
        at += 1
    while at < end:
        at += 1
        if at < end and body.texts[at] == "<":
            closing = body.angle(at, end)
            if closing < 0:
                return at
            at = closing + 1
        if at >= end or body.texts[at] != "::":
            return at
        at += 1
    return at
