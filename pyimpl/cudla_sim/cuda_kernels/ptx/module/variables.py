"""Variables of a module of PTX as C++."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ..scope import TYPES, CannotTranslate
from .assembly import Place, listed_values

_WORD = 8
"""Bytes of an address."""
_MANY = 64
_NAMED = re.compile(r"(?:generic\s*\(\s*)?([A-Za-z_$%][\w$]*)\s*\)?(?:\+(-?\w+))?")
_BYTE = re.compile(r"0[xX]([fF]{2}(?:00)*)\(\s*(.+?)\s*\)(\+\w+)?")
_REAL = re.compile(r"0[fFdD][0-9a-fA-F]+")


def alignment(place: Place) -> str:
    return f"__attribute__((aligned({place.alignment or place.element})))"


@dataclass(frozen=True)
class Memory:
    """A variable in C++: *structure* is defined before it, *initial* is what it begins as."""

    place: Place
    kind: str
    count: int = 0
    initial: str = ""
    structure: str = ""

    def named(self, name: str) -> str:
        kind = f"{name}_type" if self.structure else self.kind
        array = f"[{self.count}]" if self.count else ""
        return f"{alignment(self.place)} {kind} {name}{array}"

    def types(self, name: str) -> str:
        """What has to be defined first."""
        return f"struct {name}_type {self.structure};" if self.structure else ""

    def definition(self, name: str) -> str:
        return f"{self.named(name)}{f' = {self.initial}' if self.initial else ''};"


def plain(place: Place) -> Memory:
    """So many bytes."""
    return Memory(place, "uint8_t", max(place.size, 1))


def memory(place: Place, address: Callable[[str], str]) -> Memory:
    """With what it begins as; *address* is C++ for the address of something. Raises
    CannotTranslate."""
    values = listed_values(place.values)
    if not values:
        return plain(place)
    words = _plain_words(place, values) or _as_words(place, values, address)
    if words is None:
        bits = 8 * place.element
        given = ", ".join(_number(value, place.kind, bits) for value in values)
        return Memory(place, f"uint{bits}_t", place.count or 0, f"{{{given}}}")
    whole, rest = words
    if not rest:
        return Memory(place, "uint64_t", len(whole), f"{{{', '.join(whole)}}}")
    return Memory(
        place,
        "",
        0,
        f"{{{{{', '.join(whole)}}}, {{{', '.join(rest)}}}}}",
        f"{{ uint64_t words[{len(whole)}]; uint8_t rest[{len(rest)}]; }}",
    )


def _number(value: str, kind: str, bits: int) -> str:
    if _REAL.fullmatch(value):
        return f"0x{value[2:]}ull"
    if kind in ("f32", "f64") and re.fullmatch(r"[-+\d.eE]+", value):
        return f"::cudla_sim::ptx_in<uint{bits}_t>({TYPES[kind]}({value}))"
    return f"static_cast<uint{bits}_t>({value.rstrip('U')})"


def _plain_words(place: Place, values: list[str]) -> tuple[list[str], list[str]] | None:
    """Many bytes that are numbers: words of 64 bits, which a compiler takes in a fraction of the
    time, and bytes behind them."""
    if place.kind not in ("b8", "u8") or len(values) < _MANY or place.count is None:
        return None
    if not all(value.isdecimal() for value in values):
        return None
    given = bytes(int(value) & 255 for value in values).ljust(place.count, b"\0")
    end = len(given) - len(given) % _WORD
    whole = [
        f"0x{int.from_bytes(given[at : at + _WORD], 'little'):x}" for at in range(0, end, _WORD)
    ]
    return whole, [str(value) for value in given[end:]]


def _as_words(
    place: Place, values: list[str], address: Callable[[str], str]
) -> tuple[list[str], list[str]] | None:
    """Where addresses are among the values: words of 64 bits, and bytes behind them."""
    if place.element == _WORD and any(_is_name(value) for value in values):
        whole = [
            address(value) if _is_name(value) else _number(value, place.kind, 8 * _WORD)
            for value in values
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
