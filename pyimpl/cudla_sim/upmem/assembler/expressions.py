"""Constant expressions of assembly text: numbers, symbols, ``.``, and operators.

Operators bind as GNU as and LLVM have it, which is not C's way: shifts as multiplications, ``|``
before ``+``. A comparison that holds is -1. Source: GNU as manual, "Infix Operators" and "Prefix
Operators".
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass


class AsmError(ValueError):
    """Text that cannot be assembled; one sentence."""


Lookup = Callable[[str], int]
"""The value of a symbol, of ``.``, of ``1f`` or ``1b``. Raises AsmError."""

_TOKEN = re.compile(
    r"\s*(?:(?P<local>[0-9]+[fb])(?![\w.])|(?P<number>0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)"
    r"|(?P<char>'(?:\\.|[^\\'])')|(?P<name>[A-Za-z_.$][\w.$]*)"
    r"|(?P<sign><<|>>|&&|\|\||[=!<>]=|<>|[-+*/%&|^~()!<>]))"
)
_LEVELS = {
    "||": 1,
    "&&": 2,
    **dict.fromkeys(("==", "!=", "<>", "<", ">", "<=", ">="), 3),
    "+": 4,
    "-": 4,
    "|": 5,
    "^": 5,
    "&": 5,
    "*": 6,
    "/": 6,
    "%": 6,
    "<<": 6,
    ">>": 6,
}
_WORD = (1 << 64) - 1
_SIMPLE: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "==": lambda a, b: -(a == b),
    "!=": lambda a, b: -(a != b),
    "<>": lambda a, b: -(a != b),
    "<": lambda a, b: -(a < b),
    ">": lambda a, b: -(a > b),
    "<=": lambda a, b: -(a <= b),
    ">=": lambda a, b: -(a >= b),
    "&&": lambda a, b: int(a != 0 and b != 0),
    "||": lambda a, b: int(a != 0 or b != 0),
}
_ESCAPES = {"n": "\n", "t": "\t", "0": "\0", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "a": "\a"}


def unescape(text: str) -> str:
    """C's escapes in a string or a character."""

    def replaced(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 8) & 0xFF)
        if match[2]:
            return chr(int(match[2], 16) & 0xFF)
        return _ESCAPES.get(match[3], match[3])

    return re.sub(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))", replaced, text)


@dataclass(frozen=True)
class Expression:
    """Text whose value is asked for when addresses are known."""

    text: str
    tokens: tuple[tuple[str, str], ...]

    def value(self, lookup: Lookup) -> int:
        """Raises AsmError: a symbol is not defined, or a division by zero."""
        reader = _Reader(self, lookup)
        result = reader.binary(0)
        reader.end()
        return result

    @property
    def name(self) -> str:
        """The symbol that it is, "" for anything else."""
        kind, text = self.tokens[0]
        return text if kind == "name" and len(self.tokens) == 1 else ""


def parse(text: str) -> Expression:
    """Raises AsmError: the text is no expression."""
    tokens: list[tuple[str, str]] = []
    position = 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            raise AsmError(f"{text.strip()!r} is no expression")
        tokens.append((match.lastgroup, match[match.lastgroup]))
        position = match.end()
    if not tokens:
        raise AsmError("a value is missing")
    found = Expression(text.strip(), tuple(tokens))
    found.value(lambda _: 1)  # only for its form
    return found


class _Reader:
    def __init__(self, expression: Expression, lookup: Lookup) -> None:
        self._tokens = expression.tokens
        self._text = expression.text
        self._lookup = lookup
        self._at = 0

    def _next(self) -> tuple[str, str]:
        if self._at == len(self._tokens):
            raise AsmError(f"{self._text!r} ends where a value should be")
        self._at += 1
        return self._tokens[self._at - 1]

    def end(self) -> None:
        if self._at < len(self._tokens):
            raise AsmError(f"{self._text!r} is no expression")

    def binary(self, level: int) -> int:
        left = self._unary()
        while self._at < len(self._tokens):
            kind, sign = self._tokens[self._at]
            if kind != "sign" or _LEVELS.get(sign, 0) <= level:
                break
            self._at += 1
            left = self._apply(sign, left, self.binary(_LEVELS[sign]))
        return left

    def _apply(self, sign: str, a: int, b: int) -> int:
        if sign in "/%":
            if b == 0:
                raise AsmError(f"{self._text!r} divides by zero")
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return quotient if sign == "/" else a - b * quotient
        if sign in ("<<", ">>"):
            if not 0 <= b < 64:
                raise AsmError(f"{self._text!r} shifts by {b}")
            return a << b if sign == "<<" else (a & _WORD if a < 0 else a) >> b
        return _SIMPLE[sign](a, b)

    def _unary(self) -> int:
        kind, text = self._next()
        if kind == "number":
            octal = len(text) > 1 and text[0] == "0" and text[1] not in "xXbB"
            try:
                return int(text, 8 if octal else 0)
            except ValueError:
                raise AsmError(f"{text!r} is no number") from None
        if kind == "char":
            return ord(unescape(text[1:-1])[0])
        if kind in ("name", "local"):
            return self._lookup(text)
        if text == "(":
            value = self.binary(0)
            if self._next()[1] != ")":
                raise AsmError(f"{self._text!r} has no closing parenthesis")
            return value
        if text in "+-~!":
            value = self._unary()
            return {"+": value, "-": -value, "~": ~value, "!": int(not value)}[text]
        raise AsmError(f"{self._text!r} is no expression")
