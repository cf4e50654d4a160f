"""Variables of a module of PTX as C++."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..scope import TYPES, CannotTranslate
from .assembly import Place, listed_values

_WORD = 8
"""Bytes of an address."""
_NAMED = re.compile(r"(?:generic\s*\(\s*)?([A-Za-z_$%][\w$]*)\s*\)?(?:\+(-?\w+))?")
_BYTE = re.compile(r"0[xX]([fF]{2}(?:00)*)\(\s*(.+?)\s*\)(\+\w+)?")
_REAL = re.compile(r"0[fFdD][0-9a-fA-F]+")


def alignment(place: Place) -> str:
    return f"__attribute__((aligned({place.alignment or place.element})))"


def declared(place: Place, name: str) -> str:
    """Memory of so many bytes, in the module's own name."""
    return f"{alignment(place)} uint8_t {name}[{max(place.size, 1)}]"


def defined(place: Place, name: str, address: Callable[[str], str]) -> str:
    """With what it begins as; *address* is C++ for the address of something. Raises
    CannotTranslate."""
    values = listed_values(place.values)
    if not values:
        return f"{declared(place, name)};"
    words = _as_words(place, values, address)
    if words is None:
        kind = f"uint{8 * place.element}_t"
        return (
            f"{alignment(place)} {kind} {name}[{place.count}] = "
            f"{{{', '.join(_number(value, place) for value in values)}}};"
        )
    whole, rest = words
    kind = f"struct {{ uint64_t words[{len(whole)}]; uint8_t rest[{max(len(rest), 1)}]; }}"
    if not rest:
        return f"{alignment(place)} uint64_t {name}[{len(whole)}] = {{{', '.join(whole)}}};"
    return f"{alignment(place)} {kind} {name} = {{{{{', '.join(whole)}}}, {{{', '.join(rest)}}}}};"


def _number(value: str, place: Place) -> str:
    if _REAL.fullmatch(value):
        return f"0x{value[2:]}ull"
    if place.kind in ("f32", "f64") and re.fullmatch(r"[-+\d.eE]+", value):
        kind = TYPES[place.kind]
        return f"::cudla_sim::ptx_in<uint{8 * place.element}_t>({kind}({value}))"
    return f"static_cast<uint{8 * place.element}_t>({value.rstrip('U')})"


def _as_words(
    place: Place, values: list[str], address: Callable[[str], str]
) -> tuple[list[str], list[str]] | None:
    """Where addresses are among the values: words of 64 bits, and bytes behind them."""
    if place.element == _WORD and any(_is_name(value) for value in values):
        whole = [
            address(value) if _is_name(value) else _number(value, place) for value in values
        ]
        return whole + ["0"] * ((place.count or 0) - len(whole)), []
    if not any(_BYTE.fullmatch(value) for value in values):
        if any(_is_name(value) for value in values):
            raise CannotTranslate(f"{place.name}: an address of {8 * place.element} bits")
        return None
    if place.element != 1:
        raise CannotTranslate(f"{place.name}: parts of addresses of {place.element} bytes")
    values = values + ["0"] * ((place.count or 0) - len(values))
    words = []
    for at in range(0, len(values) - len(values) % _WORD, _WORD):
        group = values[at : at + _WORD]
        part = _BYTE.fullmatch(group[0])
        if part is None:
            words.append(" | ".join(f"uint64_t({v}) << {8 * i}" for i, v in enumerate(group)))
        else:
            words.append(address(part[2] + (part[3] or "")))
    return words, values[len(values) - len(values) % _WORD :]


def _is_name(value: str) -> bool:
    return bool(_NAMED.fullmatch(value)) and not value[0].isdigit()


def named(value: str) -> tuple[str, str]:
    """The name and what is added to its address. Raises CannotTranslate."""
    found = _NAMED.fullmatch(value)
    if found is None:
        raise CannotTranslate(value)
    return found[1], found[2] or "0"
