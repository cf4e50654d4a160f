"""What a file says that always has the same value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..tokens import WORD, Token


def constants(found: Sequence[Token]) -> set[str]:
    """Enumerators, and what a declaration with ``const`` gives a value."""
    names: set[str] = set()
    for index, token in enumerate(found):
        if token.text in ("const", "constexpr"):
            names.update(_valued(found, index + 1))
        elif token.text == "enum":
            names.update(_enumerators(found, index))
    return names


def _valued(found: Sequence[Token], index: int) -> Iterator[str]:
    last, depth, pointed, valued = "", 0, False, False
    for token in found[index : index + 256]:
        text = token.text
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
        if depth < 0 or (depth == 0 and text == ";"):
            return
        if depth:
            continue
        if text == "=" and last and not pointed and not valued:
            yield last
        valued |= text == "="
        if text == ",":
            last, pointed, valued = "", False, False
        pointed |= text == "*" and not valued
        if token.kind == WORD and not valued:
            last = text


def _enumerators(found: Sequence[Token], index: int) -> set[str]:
    names: set[str] = set()
    inside = False
    for token in found[index : index + 4096]:
        if token.text == "}" or (token.text == ";" and not inside):
            break
        inside |= token.text == "{"
        if inside and token.kind == WORD:
            names.add(token.text)
    return names
