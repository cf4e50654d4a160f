"""Makes ``long`` 64 bits wide in preprocessed C.

A DPU has 32-bit pointers and a 64-bit ``long``; no x86 target has both. x32 gives the pointers, and
here every ``long`` becomes ``long long``, every ``long double`` (8 bytes on a DPU) ``double``,
and the suffix ``L`` of a constant ``LL``. Line markers and the number of lines stay as they are.

Not covered: a ``_Generic`` that lists both ``long`` and ``long long``.
"""

from __future__ import annotations

import re

_WORDS = (
    "long|unsigned|signed|__signed__|__signed|int|short|char|double|float|_Complex|const|__const"
    "|volatile|__volatile__|restrict|register|static|extern|inline|__inline__|__inline|typedef"
    "|_Atomic|_Thread_local|auto"
)
_GAP = r"(?:\s|^\#[^\n]*\n)+"
_TOKEN = re.compile(
    rf"""
      (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#[^\n]*)
    | (?P<run>\b(?:{_WORDS})\b(?:{_GAP}(?:{_WORDS})\b)*)
    | (?P<name>[A-Za-z_$][\w$]*)
    | (?P<number>\.?\d(?:[eEpP][+-]|'(?=\w)|[\w.])*)
    """,
    re.VERBOSE | re.MULTILINE,
)
_LONG = re.compile(r"\blong\b")
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uU]?)([lL])([uU]?)")
_FLOATING = re.compile(r"(0[xX][0-9a-fA-F.]*[pP][+-]?\d+|[\d.]*(?:\.|[eE])[\d.eE+-]*)[lL]")


def _specifiers(run: str) -> str:
    words = re.findall(r"\w+", run)
    count = words.count("long")
    if count == 0:
        return run
    if "double" in words:
        return _LONG.sub("", run)
    return _LONG.sub("long long", run) if count == 1 else run


def _number(text: str) -> str:
    text = text.replace("'", "")  # C++ groups digits
    if match := _INTEGER.fullmatch(text):
        return f"{match[1]}{match[2]}LL{match[4]}"
    if match := _FLOATING.fullmatch(text):
        return match[1]
    return text


def _token(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind == "run":
        return _specifiers(match[0])
    if kind == "number":
        return _number(match[0])
    return match[0]


def widen(source: str) -> str:
    """The preprocessed ``source`` with 64-bit longs."""
    return _TOKEN.sub(_token, source)
