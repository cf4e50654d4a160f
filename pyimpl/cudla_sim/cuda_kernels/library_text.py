"""Text of the C++ library in a preprocessed file: nothing in it is to be changed.

Most of its headers are precompiled and never seen; of those that a program includes itself each has
thousands of lines, and taking them for space is what makes a compilation half as long.

Source: GCC manual, "Preprocessor Output".
"""

from __future__ import annotations

import re

from .tokens import SPACE, Token, of_a_system, tokens

_MARK = re.compile(r'^# \d+ "((?:[^"\\\n]|\\.)*)"[^\n]*$', re.MULTILINE)
_LIBRARY = re.compile(r"/c\+\+/\d")


def outside(text: str) -> list[Token]:
    """The tokens of a preprocessed text, its parts that are the library's as space."""
    found: list[Token] = []
    begin = 0  # of what is the program's
    outer = ""  # the file that includes, "" while none is known
    inside = -1  # where the library's text begins
    for mark in _MARK.finditer(text):
        name = mark[1]
        if inside >= 0:
            if name != outer:
                continue
            found += tokens(text[begin:inside])
            found.append(Token(SPACE, text[inside : mark.start()]))
            begin, inside = mark.start(), -1
        elif outer and _LIBRARY.search(name) and of_a_system(mark[0]):
            inside = mark.end()
        if inside < 0:
            outer = name
    return found + tokens(text[begin:])
