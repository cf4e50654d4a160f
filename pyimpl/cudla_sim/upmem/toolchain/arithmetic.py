"""Gives a program the arithmetic of the DPU's library, on LLVM's intermediate code.

A DPU has no instruction for division or floating point: subroutines do that, whose results are
defined where C's are not. In the code as the front end wrote it, before any optimisation draws
conclusions, those operations become calls of small functions that are inlined.

Source of the rules: the SDK's subroutines, run on operands of all kinds (facts of the instruction
set): the smallest integer divided by -1 is itself, the remainder 0; a conversion to an integer
saturates, a NaN by its sign; a quotient below the normal numbers is 0; NaNs are those of
compiler-rt: the first operand that is one, made quiet, otherwise positive and quiet; a widened NaN
stays as quiet as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

_FLAGS = r"(?:(?:fast|nnan|ninf|nsz|arcp|contract|afn|reassoc|exact|nuw|nsw) )*"
_BINARY = re.compile(
    rf"^(\s*%\S+ = )(sdiv|srem|fadd|fsub|fmul|fdiv) ({_FLAGS})(i32|i64|float|double) (.*)$"
)
_CAST = re.compile(
    r"^(\s*%\S+ = )(fptosi|fptoui|fpext) (float|double) (.*?) to (i8|i16|i32|i64|double)(.*)$"
)
_BITS = {"float": "i32", "double": "i64"}
_SHORT = {"float": "f32", "double": "f64", "i32": "i32", "i64": "i64"}


def _operands(text: str) -> tuple[str, str, str]:
    """``a, b, !dbg !7``: two operands, which may hold commas in parentheses, and the rest."""
    cuts, depth = [], 0
    for at, char in enumerate(text):
        depth += (char in "([{<") - (char in ")]}>")
        if char == "," and depth == 0:
            cuts.append(at)
    first = cuts[0]
    second = cuts[1] if len(cuts) > 1 else len(text)
    return text[:first].strip(), text[first + 1 : second].strip(), text[second:]


def _divide(kind: str, name: str) -> str:
    other = f"sub {kind} 0, %a" if name == "sdiv" else f"add {kind} 0, 0"
    return f"""
  %m = icmp eq {kind} %b, -1
  %s = select i1 %m, {kind} 1, {kind} %b
  %q = {name} {kind} %a, %s
  %n = {other}
  %r = select i1 %m, {kind} %n, {kind} %q
  ret {kind} %r"""


def _float(kind: str, name: str) -> str:
    """NaNs come from a function of the runtime (shim/dpu_run/floats.c)."""
    bits = _BITS[kind]
    flush = ""
    result = "%q"
    if name == "fdiv":
        width = int(bits[1:])
        sign, least = 1 << (width - 1), 1 << (23 if kind == "float" else 52)
        result = "%z"
        flush = f"""
  %i = bitcast {kind} %q to {bits}
  %p = and {bits} %i, {sign - 1}
  %t = icmp ult {bits} %p, {least}
  %g = and {bits} %i, -{sign}
  %o = bitcast {bits} %g to {kind}
  %z = select i1 %t, {kind} %o, {kind} %q"""
    return f"""
  %q = {name} {kind} %a, %b
  %u = fcmp uno {kind} %q, %q
  br i1 %u, label %nan, label %number
nan:
  %x = call {kind} @__rt_nan_{name}_{_SHORT[kind]}({kind} %a, {kind} %b)
  ret {kind} %x
number:{flush}
  ret {kind} {result}"""


def _power(kind: str, exponent: int) -> str:
    """2 to a power as a constant: both types are written as the bits of a double."""
    return f"0x{(1023 + exponent) << 52:016X}"


def _to_integer(kind: str, name: str, target: str) -> str:
    bits, width = _BITS[kind], int(target[1:])
    signed = name == "fptosi"
    high = width - 1 if signed else width
    least = -(1 << high) if signed else 0
    most = (1 << high) - 1 if signed else -1
    floor = f"0x{((1 << 63) | (1023 + high) << 52):016X}" if signed else "0.0"
    return f"""
  %r = {name} {kind} %a to {target}
  %l = fcmp ole {kind} %a, {floor}
  %m = select i1 %l, {target} {least}, {target} %r
  %h = fcmp oge {kind} %a, {_power(kind, high)}
  %n = select i1 %h, {target} {most}, {target} %m
  %u = fcmp uno {kind} %a, %a
  %i = bitcast {kind} %a to {bits}
  %g = icmp slt {bits} %i, 0
  %s = select i1 %g, {target} {least}, {target} {most}
  %z = select i1 %u, {target} %s, {target} %n
  ret {target} %z"""


_WIDEN = """
  %r = fpext float %a to double
  %u = fcmp uno float %a, %a
  %i = bitcast float %a to i32
  %w = zext i32 %i to i64
  %s = shl i64 %w, 32
  %g = and i64 %s, -9223372036854775808
  %f = and i64 %w, 8388607
  %p = shl i64 %f, 29
  %o = or i64 %g, %p
  %q = or i64 %o, 9218868437227405312
  %n = bitcast i64 %q to double
  %z = select i1 %u, double %n, double %r
  ret double %z"""


class Kind(NamedTuple):
    """How the functions are defined."""

    linkage: str
    attributes: str


INLINE = Kind("internal ", "alwaysinline nounwind")
PURE = Kind("", "noinline nounwind readnone willreturn")
"""Their calls stay, and the optimiser treats these like the operations themselves. Not internal: it
would leave out arguments that it knows."""


class _Functions:
    """Those that a module needs, each once."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.text: dict[str, str] = {}

    def binary(self, name: str, kind: str) -> str:
        symbol = f"__dpu_{name}_{_SHORT[kind]}"
        integer = name in ("sdiv", "srem")
        body = _divide if integer else _float
        self._add(symbol, kind, f"{kind} %a, {kind} %b", lambda: body(kind, name))
        if not integer:
            slow = f"__rt_nan_{name}_{_SHORT[kind]}"
            self.text[slow] = f"declare {kind} @{slow}({kind}, {kind})\n"
        return symbol

    def cast(self, name: str, kind: str, target: str) -> str:
        symbol = f"__dpu_{name}_{_SHORT[kind]}_{target}"
        self._add(
            symbol,
            target,
            f"{kind} %a",
            lambda: _WIDEN if name == "fpext" else _to_integer(kind, name, target),
        )
        return symbol

    def _add(self, symbol: str, result: str, arguments: str, body: Callable[[], str]) -> None:
        if symbol not in self.text:
            self.text[symbol] = (
                f"define {self.kind.linkage}{result} @{symbol}({arguments}) "
                f"{self.kind.attributes} {{"
                f"{body()}\n}}\n"
            )


def _line(line: str, functions: _Functions, number: int) -> str:
    match = _BINARY.match(line)
    if match:
        target, name, flags, kind, rest = match.groups()
        integer = kind in ("i32", "i64")
        if integer != (name in ("sdiv", "srem")) or "exact" in flags:
            return line
        left, right, metadata = _operands(rest)
        symbol = functions.binary(name, kind)
        return f"{target}call {kind} @{symbol}({kind} {left}, {kind} {right}){metadata}"
    match = _CAST.match(line)
    if match is None:
        return line
    target, name, kind, value, to, metadata = match.groups()
    if (name == "fpext") != (to == "double"):
        return line
    if to in ("i8", "i16"):  # by way of 32 bits, as calls of the library are
        symbol = functions.cast(name, kind, "i32")
        between = f"%dpu.narrow.{number}"
        indent = target[: len(target) - len(target.lstrip())]
        return (
            f"{indent}{between} = call i32 @{symbol}({kind} {value}){metadata}\n"
            f"{target}trunc i32 {between} to {to}{metadata}"
        )
    symbol = functions.cast(name, kind, to)
    return f"{target}call {to} @{symbol}({kind} {value}){metadata}"


def lower(module: str, kind: Kind = INLINE) -> str:
    """The module (text of LLVM IR) with the DPU's arithmetic; ``kind``: of its functions."""
    functions = _Functions(kind)
    lines = [_line(line, functions, n) for n, line in enumerate(module.split("\n"))]
    return "\n".join([*lines, *functions.text.values()])
