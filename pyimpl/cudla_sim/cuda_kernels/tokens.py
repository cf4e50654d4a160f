"""Tokens of preprocessed C++: every character of the text belongs to one, but for blanks that a
macro has left before a line with #."""

from __future__ import annotations

import re
from dataclasses import dataclass

SPACE, MARK, WORD, NUMBER, STRING, SIGN = "space", "mark", "word", "number", "string", "sign"

_PREFIX = r"(?:u8|u|U|L)?"
_RAW = re.compile(_PREFIX + r'R"([^()\\\s]{0,16})\(')
_PARTS = re.compile(
    rf"""
    (?P<space>\s+)
  | (?P<string>{_PREFIX}"(?:[^"\\\n]|\\.)*"|{_PREFIX}'(?:[^'\\\n]|\\.)*')
  | (?P<word>[A-Za-z_$][\w$]*)
  | (?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
  | (?P<sign><<<|>>>|::|->|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_LINE = re.compile(r"#[^\n]*")


_SYSTEM = "3"  # GCC manual, "Preprocessor Output"


def of_a_system(mark: str) -> bool:
    """Whether a mark of a line says that what follows is from a header of the system."""
    return _SYSTEM in mark.rpartition('"')[2].split()


@dataclass(slots=True)
class Token:
    """*kind* is one of the names above; a mark is a line that begins with #."""

    kind: str
    text: str


def tokens(text: str) -> list[Token]:
    """Of a preprocessed text (no comments, no macros)."""
    found: list[Token] = []
    at, fresh = 0, True  # nothing but space since the line began
    while at < len(text):
        if fresh and text[at] == "#":
            match = _LINE.match(text, at)
            assert match is not None
            if found:  # a macro's: the compiler knows pragmas where lines begin
                found[-1].text = found[-1].text.rstrip(" \t")
            found.append(Token(MARK, match[0]))
            at = match.end()
            continue
        raw = _RAW.match(text, at)
        if raw is not None:
            end = text.find(f'){raw[1]}"', raw.end())
            end = len(text) if end < 0 else end + len(raw[1]) + 2
            found.append(Token(STRING, text[at:end]))
            at, fresh = end, False
            continue
        match = _PARTS.match(text, at)
        assert match is not None
        assert match.lastgroup is not None
        found.append(Token(match.lastgroup, match[0]))
        at = match.end()
        fresh = match.lastgroup == SPACE and (fresh or "\n" in match[0])
    return found
