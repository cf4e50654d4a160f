"""Inline PTX: the instructions that public programs beside cuDLA use, as calls of C++ functions.

What each does is in ``include/cuda/kernels/ptx.hpp``. Any other instruction is a compile error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .kernels import CLOSING, after, closed
from .tokens import MARK, SPACE, STRING, Token

INSTRUCTIONS = {
    "cvt.rzi.s8.f32": 2,
    "cvt.rn.f32.s8": 2,
    "prmt.b32": 4,
    "ld.global.nc.v4.f32": 5,
    "cvt.pack.sat.s8.s32.b32": 4,
    "cvt.pack.sat.u8.s32.b32": 4,
}
"""Names with the number of their operands, results first."""

_WORDS = ("asm", "__asm__", "__asm")
_QUALIFIERS = ("volatile", "__volatile__", "inline", "goto")
_SUFFIX = re.compile(r"\.(?:volatile|relaxed)\b")


class Statement(NamedTuple):
    """An ``asm`` statement: the indices of its first and last token, its text and its operands."""

    first: int
    last: int
    text: str
    operands: list[str]


class UnknownPtx(ValueError):
    """The text is the instruction that is not supported."""


def statements(found: Sequence[Token]) -> Iterator[Statement]:
    """The ``asm`` statements of a file."""
    for index, token in enumerate(found):
        if token.text not in _WORDS:
            continue
        opening = after(found, index + 1)
        while opening < len(found) and found[opening].text in _QUALIFIERS:
            opening = after(found, opening + 1)
        if opening >= len(found) or found[opening].text != "(":
            continue
        end = closed(found, opening)
        parts = _parts(found, opening + 1, end)
        text = "".join(_string(token.text) for token in parts[0] if token.kind == STRING)
        operands = [_operand(one) for part in parts[1:3] for one in _split(part, ",")]
        yield Statement(index, end, text, [each for each in operands if each])


def translate(statement: Statement) -> str:
    """Returns C++ for a statement. Raises UnknownPtx."""
    calls = []
    text = statement.text.replace("{", " ", 1) if _is_scoped(statement) else statement.text
    for line in re.split(r"[;\n]", text):
        words = line.strip().rstrip("}").strip()
        if not words:
            continue
        name, _, rest = words.partition(" ")
        operands = re.findall(r"%\d+", rest)
        if INSTRUCTIONS.get(name) != len(operands):
            raise UnknownPtx(words)
        given = [statement.operands[int(operand[1:])] for operand in operands]
        calls.append(f"::cudla_sim::ptx::{name.replace('.', '_')}({', '.join(given)});")
    return "do { " + " ".join(calls) + " } while (0)"


def _is_scoped(statement: Statement) -> bool:
    return statement.text.lstrip().startswith("{")


def _parts(found: Sequence[Token], begin: int, end: int) -> list[list[Token]]:
    """The text, results, sources and clobbers of a statement."""
    return _split(found[begin:end], ":")


def _split(found: Sequence[Token], sign: str) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    at = 0
    while at < len(found):
        text = found[at].text
        if text in CLOSING:
            end = closed(found, at)
            parts[-1] += found[at : end + 1]
            at = end + 1
            continue
        for part in text if set(text) == {sign} else [text]:  # "::" is two empty parts
            if part == sign:
                parts.append([])
            else:
                parts[-1].append(found[at])
        at += 1
    return parts


def _operand(part: Sequence[Token]) -> str:
    """The expression of ``"=r"(expression)``."""
    words = [token for token in part if token.kind not in (SPACE, MARK, STRING)]
    text = "".join(token.text if token.kind != MARK else " " for token in part)
    return text[text.index("(") :].strip() if words else ""


def _string(text: str) -> str:
    body = text[text.index('"') + 1 : -1]
    return body.replace("\\n", "\n").replace("\\t", " ").replace("%%", "%")
