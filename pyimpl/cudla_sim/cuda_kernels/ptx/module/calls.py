"""Calls of functions (PTX ISA, "call", ".callprototype"), and those that every GPU has."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..scope import CannotTranslate
from .assembly import Function, Place, closed, places
from .scope import FunctionScope

BUILT_IN = {
    "vprintf": "::cudla_sim::ptx_vprintf",
    "malloc": "::cudla_sim::ptx_malloc",
    "free": "::cudla_sim::ptx_free",
    "__assertfail": "::cudla_sim::ptx_assertfail",
    "__assert_fail": "::cudla_sim::ptx_assertfail",
    "cudaGraphSetConditional": "::cudaGraphSetConditional",
}
"""Functions that no module defines (CUDA C++ Programming Guide, "Formatted Output", "Dynamic
Global Memory Allocation and Operations", "Assertion", "Conditional Graph Nodes")."""


@dataclass(frozen=True)
class Known:
    """Functions by name, and C++ for what calls them; *type_of* is C++ for a parameter's type."""

    functions: Mapping[str, Function]
    spelled: Callable[[str], str]
    type_of: Callable[[Place], str]


def prototype(text: str) -> Function:
    """What ``.callprototype (returned) _ (parameters)`` says."""
    rest = text.removeprefix(".callprototype").strip()
    returned: tuple[Place, ...] = ()
    if rest.startswith("("):
        end = closed(rest, 0)
        returned, rest = _unnamed(rest[1:end]), rest[end + 1 :].strip()
    at = rest.find("(")
    given = _unnamed(rest[at + 1 : closed(rest, at)]) if at >= 0 else ()
    return Function(False, "_", "", returned, given, 0, None, 0)


def _unnamed(text: str) -> tuple[Place, ...]:
    return tuple(
        place
        for part in text.split(",")
        if part.strip()
        for place in places(" ".join(part.split()))
    )


def call(text: str, scope: FunctionScope, known: Known, prototypes: Mapping[str, Function]) -> str:
    """``(returned), function, (arguments){, prototype}`` as C++. Raises CannotTranslate."""
    returned, named, given, prototyped = _taken(text)
    function = known.functions.get(named)
    if named in BUILT_IN and (function is None or function.body is None):
        called, signature = BUILT_IN[named], function
    elif function is not None:
        called, signature = known.spelled(named), function
    elif prototyped in prototypes:
        signature = prototypes[prototyped]
        called = f"(({_pointer(signature, known)})(uintptr_t){scope.value(named)})"
    else:
        raise CannotTranslate(f"call {text}: no image has {named}")
    if signature is None or len(signature.parameters) != len(given):
        raise CannotTranslate(f"call {text}: other parameters than those of {named}")
    arguments = [
        _argument(name, place, scope, known)
        for name, place in zip(given, signature.parameters, strict=True)
    ]
    made = f"{called}({', '.join(arguments)})"
    if not returned or not signature.returned:
        return made
    place = signature.returned[0]
    where = scope.address(returned)
    if where:
        return f"*({known.type_of(place)} *){where} = {made}"
    return scope.write(returned, made)


def _taken(text: str) -> tuple[str, str, list[str], str]:
    returned = ""
    text = text.strip()
    if text.startswith("("):
        end = closed(text, 0)
        returned, text = text[1:end].strip(), text[end + 1 :].strip(" ,")
    named = re.match(r"[\w$%]+", text)
    if named is None:
        raise CannotTranslate(f"call {text}")
    rest = text[named.end() :].strip(" ,")
    given: list[str] = []
    if rest.startswith("("):
        end = closed(rest, 0)
        given = [part.strip() for part in rest[1:end].split(",") if part.strip()]
        rest = rest[end + 1 :].strip(" ,")
    return returned, named[0], given, rest


def _pointer(signature: Function, known: Known) -> str:
    taken = ", ".join(known.type_of(place) for place in signature.parameters)
    result = known.type_of(signature.returned[0]) if signature.returned else "void"
    return f"{result} (*)({taken})"


def _argument(name: str, place: Place, scope: FunctionScope, known: Known) -> str:
    where = scope.address(name)
    kind = known.type_of(place)
    return f"*({kind} *){where}" if where else scope.read(kind, name)
