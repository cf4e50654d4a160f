"""``using Name = Name<...>`` in a class, where Name is a template of a namespace.

g++ refuses that ("changes the meaning of Name"); nvcc's front end names what is meant in full, and
so does this.
"""

from __future__ import annotations

from collections.abc import Sequence

from .kernels import after, before, closed
from .tokens import WORD, Token

_Path = tuple[str, ...]


def name_in_full(found: Sequence[Token]) -> None:
    """Changes the tokens of such declarations."""
    places = [place for index in range(len(found)) if (place := _repeated(found, index)) >= 0]
    if not places:
        return
    wanted = {found[place].text for place in places}
    scopes: list[_Path | None] = []  # of the braces around; None where it is no namespace
    templates: dict[str, list[_Path]] = {}
    pending = set(places)
    for index, token in enumerate(found):
        if token.text == "{":
            scopes.append(_namespace(found, index))
        elif token.text == "}" and scopes:
            scopes.pop()
        elif token.text in ("struct", "class") and None not in scopes:
            name = found[min(after(found, index + 1), len(found) - 1)]
            if name.text in wanted and found[before(found, index - 1)].text in (">", ">>>"):
                templates.setdefault(name.text, []).append(_path(scopes))
        elif index in pending:
            here = _path(scopes)
            around = [p for p in templates.get(token.text, []) if here[: len(p)] == p]
            if around:
                token.text = "".join(f"::{part}" for part in (*max(around, key=len), token.text))


def _path(scopes: Sequence[_Path | None]) -> _Path:
    return tuple(part for scope in scopes for part in scope or ())


def _namespace(found: Sequence[Token], brace: int) -> _Path | None:
    """What the brace opens; () of one without a name, and of ``extern "C"``."""
    names: list[str] = []
    index = before(found, brace - 1)
    while index >= 0 and (found[index].kind == WORD or found[index].text == "::"):
        if found[index].text == "namespace":
            return tuple(reversed(names))
        if found[index].kind == WORD and found[index].text != "inline":
            names.append(found[index].text)
        index = before(found, index - 1)
        if index >= 0 and found[index].text == ")" and names[-1:] == ["__attribute__"]:
            return None
    linkage = index >= 0 and found[index].kind == "string" and not names
    return () if linkage and found[before(found, index - 1)].text == "extern" else None


def _repeated(found: Sequence[Token], index: int) -> int:
    """The place of the second ``Name`` of a ``using Name = Name<``, of the first of a
    ``typedef Name<...> Name;``; -1 where *index* begins neither."""
    word = found[index].text
    if word == "using":
        name = after(found, index + 1)
        sign = after(found, name + 1)
        if sign >= len(found) or found[sign].text != "=":
            return -1
        again = after(found, sign + 1)
        if again < len(found) and found[again].text == "typename":
            again = after(found, again + 1)
        opening = after(found, again + 1)
        same = opening < len(found) and found[again].text == found[name].text
        return again if same and found[opening].text == "<" else -1
    if word == "typedef":
        first = after(found, index + 1)
        opening = after(found, first + 1)
        if opening >= len(found) or found[first].kind != WORD or found[opening].text != "<":
            return -1
        end = opening
        while end < len(found) and found[end].text != ";":
            end = closed(found, end) + 1 if found[end].text in "([{" else end + 1
        last = before(found, end - 1)
        same = found[last].kind == WORD and found[last].text == found[first].text
        return first if same and last > opening else -1
    return -1
