"""Parts of a preprocessed file that need not be read: they are taken for space.

Each header of the C++ library that a program includes has thousands of lines, and so have those of
CUDA's libraries.

Source: GCC manual, "Preprocessor Output".
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from .tokens import SPACE, Token, of_a_system, tokens

_MARK = re.compile(r'^# \d+ "((?:[^"\\\n]|\\.)*)"([^\n]*)$', re.MULTILINE)
_LIBRARY = re.compile(r"/c\+\+/\d")
_BEGINS, _RETURNS = "1", "2"
"""Of a mark: an included file, and the one that included it."""


def without_library(text: str) -> list[Token]:
    """The tokens of a preprocessed text, what is the C++ library's as space: nothing in it is
    changed, and most of its headers are precompiled and never seen."""
    return _tokens(text, _of_the_library(text))


def around(text: str, rows: Sequence[int]) -> list[Token]:
    """The tokens of a preprocessed text, included files as space that have none of these *rows*
    (numbers of lines from 0, ascending) and as many braces that open as that close."""
    return _tokens(text, _without(text, rows))


def _tokens(text: str, unread: Iterable[tuple[int, int]]) -> list[Token]:
    found: list[Token] = []
    at = 0
    for begin, end in unread:
        found += tokens(text[at:begin])
        found.append(Token(SPACE, text[begin:end]))
        at = end
    return found + tokens(text[at:])


def _of_the_library(text: str) -> Iterator[tuple[int, int]]:
    outer = ""  # the file that includes, "" while none is known
    begin = -1
    for mark in _MARK.finditer(text):
        name = mark[1]
        if begin >= 0 and name == outer:
            yield begin, mark.start()
            begin = -1
        elif begin < 0 and outer and _LIBRARY.search(name) and of_a_system(mark[0]):
            begin = mark.end()
        if begin < 0:
            outer = name


def _without(text: str, rows: Sequence[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    entered: list[tuple[int, int]] = []  # where included files begin, and the row of that
    row = at = 0
    for mark in _MARK.finditer(text):
        row += text.count("\n", at, mark.start())
        at = mark.start()
        flags = mark[2].split()
        if _BEGINS in flags:
            entered.append((at, row))
        elif _RETURNS in flags and entered:
            begin, first = entered.pop()
            part = text[begin:at]
            nothing = bisect_left(rows, first) == bisect_left(rows, row)
            if nothing and part.count("{") == part.count("}"):
                while found and found[-1][0] >= begin:
                    found.pop()
                found.append((begin, at))
    return found
