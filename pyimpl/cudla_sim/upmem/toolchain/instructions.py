"""Instructions of the DPU as C: what each computes, its flags, conditions and jumps.

The C works on ``__a``, ``__b`` and ``__s`` (sources), ``__q`` (result), ``__k`` (carry before),
``__y`` (zero flag before), ``__c`` and ``__z`` (the flags).
Source: facts of the instruction set, sections 3, 4 and 5.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_SHIFTS = {
    "lsl": "__a << {s}",
    "lsr": "__a >> {s}",
    "asr": "(unsigned int)((int)__a >> {s})",
    "rol": "(__a << {s} | __a >> (-{s} & 31))",
    "ror": "(__a >> {s} | __a << (-{s} & 31))",
    "lslx": "({s} ? __a >> (-{s} & 31) : 0)",
    "lsrx": "({s} ? __a << (-{s} & 31) : 0)",
    "lsl1": "(__a << {s} | ((1u << {s}) - 1))",
    "lsr1": "(__a >> {s} | ~(~0u >> {s}))",
}
_LOGIC = {
    "and": "__a & __b",
    "or": "__a | __b",
    "xor": "__a ^ __b",
    "nand": "~(__a & __b)",
    "nor": "~(__a | __b)",
    "nxor": "~(__a ^ __b)",
    "andn": "~__a & __b",
    "orn": "~__a | __b",
}
_COUNTS = {
    "cao": "(unsigned int)__builtin_popcount(__a)",
    "clz": "(__a ? (unsigned int)__builtin_clz(__a) : 32u)",
    "clo": "(~__a ? (unsigned int)__builtin_clz(~__a) : 32u)",
    "cls": "(unsigned int)__builtin_clrsb((int)__a) + 1u",
}
_EXTENSIONS = {
    "extub": "(unsigned int)(unsigned char)__a",
    "extsb": "(unsigned int)(signed char)__a",
    "extuh": "(unsigned int)(unsigned short)__a",
    "extsh": "(unsigned int)(short)__a",
}
_HALVES = {
    "sl": "(int)(signed char){}",
    "ul": "(int)(unsigned char){}",
    "sh": "(int)(signed char)({} >> 8)",
    "uh": "(int)(unsigned char)({} >> 8)",
}
_BYTES = " | ".join(
    f"((__a >> {n} & 255) == (__b >> {n} & 255) ? {1 << n}u : 0)" for n in (0, 8, 16, 24)
)
LOADS = {
    "lbu": "unsigned char",
    "lbs": "signed char",
    "lhu": "unsigned short",
    "lhs": "short",
    "lw": "unsigned int",
}
STORES = {"sb": "unsigned char", "sh": "unsigned short", "sw": "unsigned int"}
CONSTANTS = {"zero": "0u", "one": "1u", "lneg": "0xffffffffu", "mneg": "0x80000000u"}
"""Registers that hold a number."""
LOADED_BITS = "0x3fffffffu"
"""Of an address that a load looks at, as in shim/dpu_isa/access.h."""
_AT = "((volatile __w *)(__typeof__(sizeof 0))(unsigned int)"

_SUMS = {
    "add": ("__a", "+", "__b", False),
    "addc": ("__a", "+", "__b", True),
    "sub": ("__a", "-", "__b", False),
    "subc": ("__a", "-", "__b", True),
    "rsub": ("__b", "-", "__a", False),
    "rsubc": ("__b", "-", "__a", True),
}


@dataclass(frozen=True, slots=True)
class Operation:
    """*compute* is C that sets ``__q``; *sources* are operands behind the destination (where there
    is one). *kind* says which conditions it has: add, sub, logic, shift, count, multiply, or "" for
    those that have none. *chained*: Z stays only where it was (64-bit compares)."""

    sources: int
    kind: str
    compute: str
    destination: bool = True
    chained: bool = False
    left: str = "__a"
    right: str = "__b"
    names: str = "abs"
    """Letters of the sources in their order."""


def find(name: str) -> Operation | None:
    """What an instruction does, None for those that are not known."""
    if name in _SUMS:
        left, sign, right, carry = _SUMS[name]
        more = f" {sign} __k" if carry else ""
        whole = f"(unsigned long long){left} {sign} {right}{more}"
        compute = f"unsigned long long __w = {whole}; __c = (unsigned int)(__w >> 32) & 1;"
        compute += " __q = (unsigned int)__w;"
        kind = "add" if sign == "+" else "sub"
        return Operation(2, kind, compute, chained=carry, left=left, right=right)
    if name in _LOGIC:
        return _simple(2, "logic", _LOGIC[name])
    if name in _SHIFTS:
        return _simple(2, "shift", _SHIFTS[name].format(s="(__b & 31)"))
    if name in _COUNTS:
        return _simple(1, "count", _COUNTS[name])
    if name in _EXTENSIONS:
        return _simple(1, "logic", _EXTENSIONS[name])
    if name == "move":
        return _simple(1, "logic", "__a")
    if name == "cmpb4":
        return _simple(2, "logic", _BYTES)
    if match := re.fullmatch(r"mul_([su][lh])_([su][lh])", name):
        left, right = _HALVES[match[1]].format("__a"), _HALVES[match[2]].format("__b")
        return _simple(2, "multiply", f"(unsigned int)({left} * {right})")
    if name in ("lsl_add", "lsl_sub", "lsr_add", "rol_add"):
        shift, _, way = name.partition("_")
        part = _SHIFTS[shift].format(s="(__s & 31)")
        compute = f"__q = __b {'-' if way == 'sub' else '+'} ({part});"
        return Operation(3, "shift-and-add", compute, names="bas")  # the second is shifted
    if name in LOADS:
        access = _AT.replace("__w", LOADS[name])
        return _simple(2, "", f"(unsigned int)*{access}((__a + __b) & {LOADED_BITS}))")
    if name in STORES:
        access = _AT.replace("__w", STORES[name])
        stored = f"*{access}(__a + __b)) = ({STORES[name]})__s; __q = 0;"
        return Operation(3, "", stored, destination=False)
    if name in ("ldma", "sdma"):
        function = f"__rt_asm_{name}"
        declared = f"extern void {function}(unsigned int, unsigned int, unsigned int)"
        call = f'{declared} __asm__("{function}"); '
        return Operation(3, "", f"{call}{function}(__a, __b, __s); __q = 0;", destination=False)
    if name == "time":
        declared = 'extern unsigned int __rt_asm_time(void) __asm__("__rt_asm_time"); '
        return Operation(0, "", f"{declared}__q = __rt_asm_time();")
    if name == "time_cfg":
        function = "__rt_asm_time_cfg"
        declared = f'extern unsigned int {function}(unsigned int) __asm__("{function}"); '
        return Operation(1, "", f"{declared}__q = __rt_asm_time_cfg(__a);")
    return None


def _simple(sources: int, kind: str, expression: str) -> Operation:
    return Operation(sources, kind, f"__q = {expression};")


_ALL = {
    "true": "1",
    "z": "__q == 0",
    "nz": "__q != 0",
    "xz": "(__q == 0 && __y)",
    "xnz": "!(__q == 0 && __y)",
    "sz": "__a == 0",
    "snz": "__a != 0",
    "spl": "(int)__a >= 0",
    "smi": "(int)__a < 0",
}
_ALL |= {"eq": _ALL["z"], "neq": _ALL["nz"]}
_SIGN = {"pl": "(int)__q >= 0", "mi": "(int)__q < 0"}
_ADD = {
    "c": "__c",
    "nc": "!__c",
    "ov": "((__a ^ __q) & (__b ^ __q)) >> 31",
    "nov": "!(((__a ^ __q) & (__b ^ __q)) >> 31)",
}
_ADD |= {
    f"nc{n}": f"(__a & {(1 << n) - 1}u) + (__b & {(1 << n) - 1}u) + __k < {1 << n}u"
    for n in range(5, 15)
}
_SIGNED_LESS = "(long long)(int){x} - (int){y} - __k < 0"
_SUB = {
    "ltu": "__c",
    "geu": "!__c",
    "nc": "__c",
    "c": "!__c",
    "lts": f"({_SIGNED_LESS})",
    "ges": f"!({_SIGNED_LESS})",
    "les": f"(({_SIGNED_LESS}) || __q == 0)",
    "gts": f"!(({_SIGNED_LESS}) || __q == 0)",
    "leu": "(__c || __q == 0)",
    "gtu": "!(__c || __q == 0)",
    "xles": f"(({_SIGNED_LESS}) || (__q == 0 && __y))",
    "xgts": f"!(({_SIGNED_LESS}) || (__q == 0 && __y))",
    "xleu": "(__c || (__q == 0 && __y))",
    "xgtu": "!(__c || (__q == 0 && __y))",
    "ov": "(({x} ^ {y}) & ({x} ^ __q)) >> 31",
    "nov": "!((({x} ^ {y}) & ({x} ^ __q)) >> 31)",
}
_SHIFT = {
    "e": "!(__q & 1)",
    "o": "__q & 1",
    "se": "!(__a & 1)",
    "so": "__a & 1",
    "sh32": "(__b & 32) != 0",
    "nsh32": "!(__b & 32)",
}
_OF_KIND: dict[str, dict[str, str]] = {
    "add": _ALL | _SIGN | _ADD,
    "sub": _ALL | _SIGN | _SUB,
    "logic": _ALL | _SIGN,
    "shift": _ALL | _SIGN | _SHIFT,
    "count": _ALL | {"max": "__q == 32", "nmax": "__q != 32"},
    "multiply": _ALL
    | {"small": "((__a | __b) & 0xff00) == 0", "large": "((__a | __b) & 0xff00) != 0"},
    "shift-and-add": {name: _ALL[name] for name in ("true", "sz", "snz", "spl", "smi")},
}
_SETTING = ("z", "nz", "xz", "xnz", "eq", "neq")
"""Conditions that any instruction may put into its destination; a subtraction may all it has."""


def condition(operation: Operation, name: str, setting: bool = False) -> str | None:
    """A condition as C, None where the instruction does not have it."""
    if name == "false":
        return "0"
    if setting and name not in _SETTING and operation.kind != "sub":
        return None
    found = _OF_KIND.get(operation.kind, {}).get(name)
    return found and found.format(x=operation.left, y=operation.right)


JUMPS = {f"j{name}": name for name in ("eq", "neq", "ltu", "geu", "lts", "ges", "les", "gts", "leu",
                                       "gtu")}  # fmt: skip
"""Jumps that compare two operands: subtractions without destination."""
TESTS = {"jz": "sz", "jnz": "snz"}
"""Those that look at one."""
