"""What nvcc's reading of C++ takes where a template's member is defined behind its class, and g++
does not: types of the result without ``typename`` in every standard, and defaults of parameters.
And calls of members that are templates, and objects of types that an argument has, without these
words.

Source: P0634R3, "Down with typename!"; [dcl.fct.default], which wants such defaults in the class;
[temp.names].
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from .bodies import angle_closed, beginnings
from .kernels import GLOBAL, after, before, closed
from .linkage import DEVICE, HOST
from .tokens import WORD, Token

REFUSED = re.compile(
    "error: (?:need .typename. before |.*may not have default arguments|.* changes meaning of "
    "|(?:no match for|invalid operands) .*.<unresolved overloaded function type>"
    "|dependent-name .* is parsed as a non-type)"
)
_TYPE = re.compile(r"error: dependent-name .([\w:]+). is parsed as a non-type")
"""As g++ says it."""
_BEFORE_TYPES = {
    "const", "constexpr", "explicit", "extern", "friend", "inline", "mutable", "static", "virtual",
    "volatile", "__forceinline__", "__noinline__", DEVICE, GLOBAL, HOST,
}  # fmt: skip
_WITH_GROUP = ("__attribute__", "alignas", "__launch_bounds__", "decltype", "noexcept")
_INSIDE = ("::", ".", "->", "typename")
_NO_NAMES = {"operator", "template"}
_LONGEST = 200
"""Tokens of a list of arguments; what goes on is a comparison."""


def types(said: str) -> frozenset[str]:
    """Names that are types in each instance, by what g++ *said*: ``Set::slot``."""
    return frozenset(_TYPE.findall(said))


def as_nvcc_reads(found: Sequence[Token], types: Set[str] = frozenset()) -> None:
    """Adds the words and takes out the defaults. *types*: names that are types where they are
    called, too."""
    for begin in beginnings(found):
        at, template = _type_of(found, begin)
        if template:
            _typename(found, at)
            _member(found, at)
    for index, token in enumerate(found):
        if token.text in (".", "->"):
            _called(found, after(found, index + 1))
    firsts = {name.partition("::")[0] for name in types}
    for index, token in enumerate(found):
        if token.text in firsts and found[before(found, index - 1)].text not in _INSIDE:
            behind, _, _ = _path(found, index)
            name = "".join(token.text for token in found[index:behind]).strip()
            if name in types and found[behind].text in ("(", "{"):
                token.text = f"typename {token.text}"


def _called(found: Sequence[Token], name: int) -> None:
    """``object.function<...>(...)`` says ``template`` where the object's type is not known."""
    if name >= len(found) or found[name].kind != WORD or found[name].text in ("template", "~"):
        return
    angle = after(found, name + 1)
    if found[name].text == "operator" and angle < len(found) and found[angle].text == "(":
        angle = after(found, closed(found, angle) + 1)
    if angle >= len(found) or found[angle].text != "<":
        return
    end = angle_closed(found, angle, min(len(found), angle + _LONGEST))
    compares = any(token.text in ("&", "|", ";", "?") for token in found[angle:end])
    behind = after(found, end + 1)
    if not compares and behind < len(found) and found[behind].text == "(":
        found[name].text = f"template {found[name].text}"


def _type_of(found: Sequence[Token], at: int) -> tuple[int, bool]:
    """Where the type of a declaration is, and whether that is a template's."""
    template = False
    at = after(found, at)
    while at < len(found):
        text = found[at].text
        ahead = after(found, at + 1)
        if text == "template" and ahead < len(found) and found[ahead].text == "<":
            template = True
            at = angle_closed(found, ahead, len(found))
        elif text in _WITH_GROUP and ahead < len(found) and found[ahead].text == "(":
            at = closed(found, ahead)
        elif text not in _BEFORE_TYPES and found[at].text.strip():
            break
        at = after(found, at + 1)
    return at, template


def _path(found: Sequence[Token], at: int) -> tuple[int, bool, bool]:
    """Behind a qualified name; whether it is a member of a template's instance; whether it ends
    with arguments of a template."""
    arguments = member = False
    if at < len(found) and found[at].text == "::":
        at = after(found, at + 1)
    while at < len(found) and found[at].kind == WORD and found[at].text not in _NO_NAMES:
        at = after(found, at + 1)
        of_template = at < len(found) and found[at].text == "<"
        if of_template:
            at = after(found, angle_closed(found, at, len(found)) + 1)
        if at >= len(found) or found[at].text != "::":
            return at, member, of_template
        arguments |= of_template
        member = arguments
        at = after(found, at + 1)
    return at, False, False


def _typename(found: Sequence[Token], at: int, ends: tuple[str, ...] = ()) -> None:
    """For what can only be a type: a name, or a pointer or reference, follows, or *ends*."""
    if at >= len(found) or found[at].text == "typename":
        return
    behind, member, _ = _path(found, at)
    if not member or behind >= len(found):
        return
    text = found[behind].text
    name = found[behind].kind == WORD and text not in _NO_NAMES
    if name or text in ("*", "&", *ends):
        found[at].text = f"typename {found[at].text}"


def _member(found: Sequence[Token], at: int) -> None:
    """Parameters without defaults, and a result behind an arrow."""
    while at < len(found) and found[at].text not in (";", "{", "=", "("):
        at = angle_closed(found, at, len(found)) if found[at].text == "<" else at
        at += 1
    if at >= len(found) or found[at].text != "(":
        return
    name = before(found, at - 1)
    colons = before(found, name - 1)
    of = before(found, colons - 1)
    if of < 0 or found[name].kind != WORD or found[colons].text != "::" or found[of].text != ">":
        return
    end = closed(found, at)
    arrow = after(found, end + 1)
    if arrow < len(found) and found[arrow].text == "->":
        _typename(found, after(found, arrow + 1), ends=("{", ";"))
    angles, default, index = 0, False, at + 1
    while index < end:
        text = found[index].text
        last = closed(found, index) if text in ("(", "[", "{") else index
        if not angles and text in ("=", ","):
            default = text == "="
        angles += (text == "<") - (text == ">")
        for token in found[index : last + 1] if default else ():
            token.text = token.text if token.text.isspace() else ""
        index = last + 1
