"""One statement of inline PTX as a C++ statement: its registers, labels and guards."""

from __future__ import annotations

import re

from .instructions import instruction
from .scope import TYPES, CannotTranslate, Scope
from .statements import Statement

_GUARD = re.compile(r"@\s*(!?)\s*([%\w$]+)\s+")
_REGISTERS = re.compile(r"\.reg\s+(?:\.v([24])\s+)?\.(\w+)\s+([^;]+)")
_LABEL = re.compile(r"([A-Za-z_$%][\w$]*)\s*:(?!:)\s*")
_GLUED = re.compile(r"^([a-z][\w.:]*)(?=[%\[{])")
"""ptxas wants no blank behind an operation whose operand begins with a sign."""
_PIECES = re.compile(r"[{}]|[^;{}]+(?:\{[^}]*\}[^;{}]*)*;?")


def translate(statement: Statement, number: int) -> str:
    """A C++ statement without its semicolon; *number* tells it from others of the file. Raises
    CannotTranslate."""
    scope = Scope(statement, number)
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", statement.text, flags=re.DOTALL)
    lines: list[str] = []
    for found in _PIECES.findall(text):
        piece = found.strip().removesuffix(";").strip()
        if piece in ("{", "}"):
            lines.append(piece)
            if piece == "{":
                scope.registers.append({})
            elif len(scope.registers) > 1:
                scope.registers.pop()
            continue
        while label := _LABEL.match(piece):
            lines.append(f"{scope.label(label[1])}:;")
            piece = piece[label.end() :]
        if not piece or piece.startswith(".pragma"):
            continue
        if piece.startswith(".reg"):
            lines.append(_declared(piece, scope) + ";")
            continue
        guard = _GUARD.match(piece)
        if guard:
            lines.append(f"if ({guard[1]}{scope.value(guard[2])})")
            piece = piece[guard.end() :]
        flat = _GLUED.sub(r"\1 ", " ".join(piece.split()))
        try:
            lines.append("{ " + instruction(flat, scope) + "; }")
        except (ValueError, IndexError, KeyError, StopIteration) as error:  # too few operands
            raise CannotTranslate(flat) from error
    operands = [
        f"auto {'&' if i < statement.outputs else ''}{name} = ({operand}); (void){name};"
        for i, operand in enumerate(statement.operands)
        for name in [f"cudla_sim_{i}"]
    ]
    labels = [f"__label__ {name};" for name in scope.labels.values()]
    return "do { " + " ".join([*labels, *operands, *lines]) + " } while (0)"


def _declared(text: str, scope: Scope) -> str:
    found = _REGISTERS.fullmatch(" ".join(text.split()))
    if found is None or found[2] not in TYPES or found[1]:
        raise CannotTranslate(text)
    names: list[str] = []
    for name in found[3].replace("%%", "%").replace(" ", "").split(","):
        row = re.fullmatch(r"(.+)<(\d+)>", name)
        names += [f"{row[1]}{i}" for i in range(int(row[2]))] if row else [name]
    kind = {"__half": "uint16_t", "__nv_bfloat16": "uint16_t"}.get(TYPES[found[2]], TYPES[found[2]])
    kind = {"__half2": "uint32_t", "__nv_bfloat162": "uint32_t"}.get(kind, kind)
    return f"{kind} {', '.join(scope.declare(name) for name in names)}"
