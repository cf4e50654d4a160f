"""Inline PTX: the instructions that programs write themselves, as C++.

What each does is declared in ``include/cuda/kernels/ptx.hpp``. Source: PTX ISA 8.8, "Instruction
set" and "Special registers"; CUDA's "Inline PTX assembly".
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from .kernels import after, closed
from .tokens import SPACE, STRING, WORD, Token

_TYPES = {
    **{f"{kind}{bits}": f"uint{bits}_t" for kind in "ub" for bits in (8, 16, 32, 64)},
    **{f"s{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)},
    "f32": "float",
    "f64": "double",
}
_SPECIAL = {
    **{f"%{name}.{d}": f"{value}.{d}" for name, value in (
        ("tid", "threadIdx"), ("ntid", "blockDim"), ("ctaid", "blockIdx"), ("nctaid", "gridDim"),
    ) for d in "xyz"},
    "%laneid": "cudla_sim::lane()",
    "%warpid": "(cudla_sim::rank() / 32)",
    "%nwarpid": "((cudla_sim::block->threads + 31) / 32)",
    "%smid": "0u",
    "%nsmid": "1u",
    "%gridid": "0u",
    "%clock": "clock64()",
    "%clock64": "clock64()",
    "%globaltimer": "::cudla_sim::nanoseconds()",
    "%lanemask_eq": "(1u << cudla_sim::lane())",
    "%lanemask_lt": "((1u << cudla_sim::lane()) - 1u)",
    "%lanemask_le": "((2u << cudla_sim::lane()) - 1u)",
    "%lanemask_gt": "~((2u << cudla_sim::lane()) - 1u)",
    "%lanemask_ge": "~((1u << cudla_sim::lane()) - 1u)",
}  # fmt: skip
_WHOLE = {
    "membar": "__threadfence()",
    "fence": "__threadfence()",
    "trap": "__trap()",
    "prefetch": "(void)0",
    "prefetchu": "(void)0",
    "nanosleep": "(void)0",
}
"""By their first word: instructions whose operands do not matter."""
_ROUNDINGS = ("rni", "rzi", "rmi", "rpi")
_BARRIERS = ("bar.sync", "barrier.sync", "barrier.sync.aligned", "bar.warp.sync")
_NUMBERS = {
    *("abs", "add", "and", "bfe", "bfi", "bfind", "brev", "clz", "cos", "div", "ex2", "fma", "lg2"),
    *("lop3", "mad", "max", "min", "mul", "neg", "not", "or", "popc", "prmt", "rcp", "rem"),
    *("rsqrt", "shl", "shr", "sin", "sqrt", "sub", "tanh", "xor"),
}
_TYPED = re.compile(r"\.(?:[usbf](?:8|16|32|64)|pred)\b")


class CannotTranslate(Exception):
    """An instruction that is not known; the text says which."""


@dataclass(frozen=True)
class Statement:
    """An ``asm`` statement: indexes of its tokens, its text, and its operands' expressions."""

    first: int
    last: int
    text: str
    operands: tuple[str, ...]


def statements(found: Sequence[Token]) -> list[Statement]:
    """Those that look like PTX: other processors' instructions stay as they are."""
    result = []
    for index, token in enumerate(found):
        if token.kind == WORD and token.text in ("asm", "__asm__", "__asm"):
            statement = _statement(found, index)
            if statement is not None and _is_ptx(statement):
                result.append(statement)
    return result


def _is_ptx(statement: Statement) -> bool:
    first = re.match(r"[\s{]*([a-z][\w.:]*)", statement.text)
    word = first[1].partition(".")[0] if first else ""
    if word in ("membar", "fence", "bar", "barrier", "nanosleep"):
        return True
    return bool(_TYPED.search(statement.text)) or statement.text.strip() == "trap;"


def _statement(found: Sequence[Token], index: int) -> Statement | None:
    at = after(found, index + 1)
    while at < len(found) and found[at].text in ("volatile", "__volatile__", "goto", "inline"):
        at = after(found, at + 1)
    if at >= len(found) or found[at].text != "(":
        return None
    end = closed(found, at)
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in found[at + 1 : end]:
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if depth == 0 and token.text in (":", "::"):
            parts += [[] for _ in token.text]
        else:
            parts[-1].append(token)
    strings = [t.text for t in parts[0] if t.kind != SPACE]
    if not strings or any(t.kind not in (STRING, SPACE) for t in parts[0]):
        return None
    try:
        text = "".join(ast.literal_eval(s) for s in strings)
    except (ValueError, SyntaxError):
        return None
    operands: list[str] = []
    for part in parts[1:3]:
        operands += _operands(part)
    return Statement(index, end, text, tuple(operands))


def _operands(part: Sequence[Token]) -> list[str]:
    """The expressions in parentheses behind each constraint."""
    found, at = [], 0
    while at < len(part):
        if part[at].text == "(":
            end = closed(part, at)
            found.append("".join(t.text for t in part[at + 1 : end]).replace("\n", " "))
            at = end
        at += 1
    return found


def translate(statement: Statement) -> str:
    """A C++ statement without its semicolon. Raises CannotTranslate."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", statement.text, flags=re.DOTALL)
    lines = []
    for piece in re.findall(r"[{}]|[^;{}]+(?:\{[^}]*\}[^;{}]*)*;?", text):
        piece = piece.strip().rstrip(";").strip()
        if piece in ("{", "}"):
            lines.append(piece)
        elif piece:
            lines.append(_instruction(piece, statement.operands) + ";")
    return "do { " + " ".join(lines) + " } while (0)"


def _instruction(text: str, operands: tuple[str, ...]) -> str:
    word, _, rest = text.replace("\t", " ").partition(" ")
    parts = word.split(".")
    if parts[0] in _WHOLE:
        return _WHOLE[parts[0]]
    places = _split(rest)
    types = [_TYPES[p] for p in parts[1:] if p in _TYPES]
    register = re.fullmatch(r"\.reg\s+\.(\w+)\s+([\w\s,]+)", text)
    if register and register[1] in _TYPES:
        return f"{_TYPES[register[1]]} {register[2]}"
    if parts[0] in ("ld", "st") and len(places) == 2 and len(types) == 1:
        return _memory(parts[0] == "ld", places, types[0], operands)
    values = [_value(place, operands) for place in places]
    if word in _BARRIERS:
        return f"__syncwarp({values[0]})" if word == "bar.warp.sync" else "__syncthreads()"
    if not values or not types:
        raise CannotTranslate(text)
    if parts[0] == "mov" and len(values) == 2:
        return _out(values[0], _in(types[0], values[1]))
    if parts[0] == "cvt" and len(types) == 2:
        rounding = next((p for p in parts[1:] if p in _ROUNDINGS), "rzi")
        return _out(
            values[0], f"cudla_sim::ptx_cvt_{rounding}<{types[0]}>({_in(types[1], values[1])})"
        )
    if parts[0] in _NUMBERS or word == "vabsdiff4.u32.u32.u32.add":
        high = next((f"_{p}" for p in parts[1:] if p in ("hi", "wide")), "")
        taken = ", ".join(_in(types[0], value) for value in values[1:])
        return _out(values[0], f"cudla_sim::ptx_{parts[0]}{high}<{types[0]}>({taken})")
    raise CannotTranslate(text)


def _in(kind: str, value: str) -> str:
    return f"cudla_sim::ptx_in<{kind}>({value})"


def _out(target: str, value: str) -> str:
    return f"cudla_sim::ptx_out({target}, {value})"


def _memory(load: bool, places: list[str], kind: str, operands: tuple[str, ...]) -> str:
    """A load or a store through [register] or [register+number]."""
    place, other = reversed(places) if load else places
    inside = re.fullmatch(r"\[(.*)\]", place)
    if inside is None:
        raise CannotTranslate(place)
    address, _, more = inside[1].partition("+")
    cell = f"cudla_sim::ptx_at<{kind}>({_value(address.strip(), operands)}, {more or 0})"
    value = _value(other, operands)
    return _out(value, cell) if load else f"{cell} = {_in(kind, value)}"


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _value(text: str, operands: tuple[str, ...]) -> str:
    number = re.fullmatch(r"%(\d+)", text)
    if number:
        if int(number[1]) >= len(operands):
            raise CannotTranslate(f"{text}: there are {len(operands)} operands")
        return f"({operands[int(number[1])]})"
    text = text.replace("%%", "%")
    if text.startswith("%"):
        if text not in _SPECIAL:
            raise CannotTranslate(f"the special register {text}")
        return _SPECIAL[text]
    if re.fullmatch(r"0[fF][0-9a-fA-F]{8}", text):
        return f"cudla_sim::ptx_in<float>(uint32_t(0x{text[2:]}u))"
    return text
