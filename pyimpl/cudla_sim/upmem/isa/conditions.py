"""Conditions: per class of instructions, the numbers that a word may hold, with their names.

Notation of ``MEANINGS``: a and b the two sources, r the 32-bit result, Z the zero flag before.
"""

from __future__ import annotations

from types import MappingProxyType

FALSE = 0
"""No condition: the plain operation."""
TRUE, Z, NZ = 1, 2, 3
SETTING = MappingProxyType({6: "z", 7: "nz", 10: "xz", 11: "xnz"})
"""Numbers that write 1 or 0 to the destination instead of the result; they never branch."""

_SOURCE = {12: "sz", 13: "snz", 14: "spl", 15: "smi"}
_ALWAYS_AND_SOURCE = {1: "true", **_SOURCE}
_COMMON = {2: "z", 3: "nz", 4: "xz", 5: "xnz", **_ALWAYS_AND_SOURCE}
_SIGNED = {8: "pl", 9: "mi", **_COMMON}
_OVERFLOW = {18: "ov", 19: "nov", **_SIGNED}
_SHIFTED = {24: "e", 25: "o", 30: "se", 31: "so", **_SIGNED}

CLASSES: dict[str, dict[int, str]] = {
    "NONE": {},
    "TRUE": {1: "true"},
    "ACQUIRE": {1: "true", 2: "z", 3: "nz"},
    "STEP": {2: "z", 3: "nz", **_ALWAYS_AND_SOURCE},
    "SHIFT_ADD": _ALWAYS_AND_SOURCE,
    "COMMON": _COMMON,
    "LOGIC": _SIGNED,
    "COUNT": {8: "max", 9: "nmax", **_COMMON},
    "MULTIPLY": {30: "small", 31: "large", **_COMMON},
    "SHIFT": _SHIFTED,
    "SHIFT_BY_REGISTER": {28: "nsh32", 29: "sh32", **_SHIFTED},
    "ADD": {20: "c", 21: "nc", **{n + 17: f"nc{n}" for n in range(5, 15)}, **_OVERFLOW},
    "SUB": {
        20: "ltu", 21: "geu", 22: "lts", 23: "ges", 24: "les", 25: "gts", 26: "leu", 27: "gtu",
        28: "xles", 29: "xgts", 30: "xleu", 31: "xgtu", **_OVERFLOW,
    },
}  # fmt: skip
"""Class -> number -> name, of conditions that branch."""

ALIASES = {"t": "true", "nsz": "snz"}
SUB_ALIASES = {"eq": "z", "neq": "nz", "nc": "ltu", "c": "geu"}
"""Further names, of all classes and of subtractions."""

SET_BY_OPERATION = {n: name for n, name in CLASSES["SUB"].items() if n not in (2, 3, 4, 5)}
"""Subtractions set by these numbers with bit 30; z, nz, xz, xnz have numbers of their own."""

MEANINGS = {
    "true": "always",
    "z": "r == 0",
    "nz": "r != 0",
    "xz": "r == 0 and Z",
    "xnz": "not (r == 0 and Z)",
    "pl": "r >= 0, signed",
    "mi": "r < 0, signed",
    "max": "r == 32",
    "nmax": "r != 32",
    "sz": "a == 0",
    "snz": "a != 0",
    "spl": "a >= 0, signed",
    "smi": "a < 0, signed",
    "ov": "signed overflow",
    "nov": "no signed overflow",
    "c": "carry out",
    "nc": "no carry out",
    **{f"nc{n}": f"no carry out of the low {n} bits" for n in range(5, 15)},
    "ltu": "x < y unsigned, x - y being the subtraction done, borrow included",
    "geu": "not ltu",
    "lts": "x - y < 0 in exact signed arithmetic, borrow included",
    "ges": "not lts",
    "les": "lts or r == 0",
    "gts": "not les",
    "leu": "ltu or r == 0",
    "gtu": "not leu",
    "xles": "lts or (r == 0 and Z)",
    "xgts": "not xles",
    "xleu": "ltu or (r == 0 and Z)",
    "xgtu": "not xleu",
    "e": "r even",
    "o": "r odd",
    "nsh32": "bit 5 of b is 0",
    "sh32": "bit 5 of b is 1",
    "se": "a even",
    "so": "a odd",
    "small": "bits 15-8 of a and of b are 0",
    "large": "not small",
}


def numbers(class_name: str, name: str, setting: bool) -> frozenset[int]:
    """The numbers of a condition by any of its names, for setting forms or for branching ones."""
    name = ALIASES.get(name, name)
    if class_name == "SUB":
        name = SUB_ALIASES.get(name, name)
    known = {**CLASSES[class_name], **SETTING} if setting else CLASSES[class_name]
    return frozenset(n for n, called in known.items() if called == name)


def name_of(class_name: str, number: int) -> str:
    """The name of a number that the class has."""
    return SETTING.get(number) or CLASSES[class_name][number]
