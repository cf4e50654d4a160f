"""Parts of a preprocessed file that need not be read: they are taken for space.

Each header of the C++ library that a program includes has thousands of lines, and so have those of
CUDA's libraries.

Source: GCC manual, "Preprocessor Output".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .tokens import SPACE, Token, of_a_system, tokens

_MARK = re.compile(r'^# \d+ "((?:[^"\\\n]|\\.)*)"([^\n]*)$', re.MULTILINE)
_LIBRARY = re.compile(r"/c\+\+/\d")
_OWN = re.compile(r"/cuda/kernels/\w+\.hpp$")


def without_library(text: str) -> list[Token]:
    """The tokens of a preprocessed text. What is the C++ library's, or comes before every kernel,
    is space: nothing in it is changed, and most of it is precompiled and never seen."""
    return _tokens(text, _of_the_library(text))


def _tokens(text: str, unread: Iterable[tuple[int, int]]) -> list[Token]:
    found: list[Token] = []
    at = 0
    for begin, end in unread:
        found += tokens(text[at:begin])
        found.append(Token(SPACE, text[begin:end]))
        at = end
    return found + tokens(text[at:])


def _is_unread(name: str, mark: str) -> bool:
    return bool(_OWN.search(name) or (_LIBRARY.search(name) and of_a_system(mark)))


def _of_the_library(text: str) -> Iterator[tuple[int, int]]:
    outer = ""  # the file that includes, "" while none is known
    begin = -1
    for mark in _MARK.finditer(text):
        name = mark[1]
        if begin >= 0 and name == outer:
            yield begin, mark.start()
            begin = -1
        elif begin < 0 and outer and _is_unread(name, mark[0]):
            begin = mark.end()
        if begin < 0:
            outer = name
