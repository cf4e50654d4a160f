"""The kernels of a file: what is declared ``__global__``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .tokens import MARK, SPACE, STRING, WORD, Token

GLOBAL, SHARED = "__cudla_sim_global__", "__cudla_sim_shared__"
"""What kernels.hpp makes of ``__global__`` and ``__shared__``."""
_ATTRIBUTES = ("__attribute__", "alignas", "__launch_bounds__")
_BEHIND_PARAMETERS = ("const", "noexcept", "override", "final")
CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(slots=True)
class Kernel:
    """*parameters* are the names of a template's, None where there is none; [] where a pack or an
    unnamed one is among them. *body* is the index of its brace, -1 of a declaration. *place* is the
    index of its name, *end* of its last } or ;. *signature*: its parameters without defaults."""

    name: str
    place: int
    end: int
    parameters: list[str] | None
    defaults: bool
    body: int
    commas: int
    signature: str


def after(found: Sequence[Token], index: int) -> int:
    """The next token that is no space or mark, from *index* on."""
    while index < len(found) and found[index].kind in (SPACE, MARK):
        index += 1
    return index


def before(found: Sequence[Token], index: int) -> int:
    """The last token that is no space or mark, up to *index*."""
    while index >= 0 and found[index].kind in (SPACE, MARK):
        index -= 1
    return index


def closed(found: Sequence[Token], index: int) -> int:
    """The index of the sign that closes the bracket at *index*; the end where none does."""
    opening, closing = found[index].text, CLOSING[found[index].text]
    depth = 0
    for i in range(index, len(found)):
        depth += (found[i].text == opening) - (found[i].text == closing)
        if depth == 0:
            return i
    return len(found) - 1


def opened(found: Sequence[Token], index: int) -> int:
    """The index of the bracket that the one at *index* closes; 0 where none does."""
    closing = found[index].text
    opening = next(a for a, b in CLOSING.items() if b == closing)
    depth = 0
    for i in range(index, -1, -1):
        depth += (found[i].text == closing) - (found[i].text == opening)
        if depth == 0:
            return i
    return 0


def angle_opened(found: Sequence[Token], index: int) -> int:
    """The index of the < that the > or >>> at *index* closes, -1 where none does."""
    depth = 0
    while index >= 0:
        text = found[index].text
        if text in (")", "]", "}"):
            index = opened(found, index)
        elif text in (">", ">>>"):
            depth += len(text)
        elif text == "<":
            depth -= 1
            if depth == 0:
                return index
        elif text in (";", "{"):
            return -1
        index -= 1
    return -1


def begins_body(found: Sequence[Token], index: int) -> bool:
    """Whether the brace at *index* begins what a function does."""
    behind = before(found, index - 1)
    while behind >= 0 and found[behind].text in _BEHIND_PARAMETERS:
        behind = before(found, behind - 1)
    return behind >= 0 and found[behind].text == ")"


def kernels(found: Sequence[Token]) -> list[Kernel]:
    """In the order of the file."""
    return [
        kernel
        for index, token in enumerate(found)
        if token.text == GLOBAL and (kernel := _kernel(found, index)) is not None
    ]


def _kernel(found: Sequence[Token], index: int) -> Kernel | None:
    at = index + 1
    name, place = "", at
    while at < len(found) and found[at].text not in ("(", ";", "{"):
        if found[at].kind == WORD:
            name, place = found[at].text, at
        at += 1
        if at < len(found) and found[at].text == "(" and name in ("__attribute__", "alignas"):
            at = closed(found, at) + 1
    if at >= len(found) or found[at].text != "(" or not name:
        return None
    if found[before(found, at - 1)].text in (">", ">>>"):
        return None  # an instance of a template, which is known itself
    end = closed(found, at)
    defaults = any(token.text == "=" for token in found[at:end])
    behind = after(found, end + 1)
    while behind < len(found) and found[behind].text == "__attribute__":
        behind = after(found, closed(found, after(found, behind + 1)) + 1)
    behind = min(behind, len(found) - 1)
    body = behind if found[behind].text == "{" else -1
    return Kernel(
        name,
        place,
        behind if body < 0 else closed(found, body),
        _template(found, index),
        defaults,
        body,
        _commas(found, at, end),
        _without_defaults(found, at, end),
    )


def _without_defaults(found: Sequence[Token], opening: int, end: int) -> str:
    """The parameters from ( to ), on one line."""
    texts, default, depth = [], False, 0
    for token in found[opening + 1 : end]:
        depth += (token.text in ("(", "{", "[", "<")) - (token.text in (")", "}", "]", ">"))
        if depth == 0 and token.text in ("=", ","):
            default = token.text == "="
        if not default and token.kind != MARK:
            texts.append(" " if token.kind == SPACE else token.text)
    return " ".join("".join(texts).split())


def _commas(found: Sequence[Token], opening: int, end: int) -> int:
    """Between the parameters of a function: overloads mostly differ in them."""
    count, at = 0, opening + 1
    while at < end:
        at = closed(found, at) if found[at].text in CLOSING else at
        count += found[at].text == ","
        at += 1
    return count


def _template(found: Sequence[Token], index: int) -> list[str] | None:
    """Names of the parameters of the template whose function begins at *index*."""
    at = before(found, index - 1)
    while at >= 0 and (found[at].kind in (WORD, STRING) or found[at].text in (")", "]")):
        if found[at].text in ("else", "do", "return"):
            return None
        if found[at].text in (")", "]"):  # of an attribute
            at = opened(found, at)
            if found[at].text == "(" and found[before(found, at - 1)].text not in _ATTRIBUTES:
                return None
        at = before(found, at - 1)
    if at < 0 or found[at].text not in (">", ">>>"):
        return None
    begin = angle_opened(found, at)
    if begin < 0 or found[before(found, begin - 1)].text != "template":
        return None
    names: list[str] = []
    part: list[Token] = []
    depth = 0
    for token in [*found[begin + 1 : at], Token("sign", ",")]:
        depth += (token.text in ("<", "(")) - (token.text in (">", ")"))
        if token.text == "," and depth == 0:
            names.append(_name(part))
            part = []
        elif token.kind not in (SPACE, MARK):
            part.append(token)
    packs = [name for name in names[:-1] if name.endswith(PACK)]  # they would take what follows
    return names if all(names) and not packs else []


PACK = "..."


def _name(part: Sequence[Token]) -> str:
    """Of one parameter, as it is given on; "" of one without a name."""
    texts = [token.text for token in part]
    if "." in texts:
        return texts[-1] + PACK if part[-1].kind == WORD else ""
    words = part[: texts.index("=")] if "=" in texts else part
    return words[-1].text if len(words) > 1 and words[-1].kind == WORD else ""
