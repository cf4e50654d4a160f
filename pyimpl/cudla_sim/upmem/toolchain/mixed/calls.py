"""Calls between C and assembly: who passes what in which register.

Without a declaration that says otherwise arguments are words: r0 to r7, and the result is r0. The
functions for this are weak; where C declares 64 bits or numbers with a point, the link makes others
(``wrappers``).
"""

from __future__ import annotations

from .signatures import ARGUMENTS, Signature

ENTRY = "__asm_entry_"
"""Of a global name of assembly: the function that takes registers."""
CALL = "__asm_call_"
"""Of a function that assembly calls: what calls it with registers."""
PARAMETERS = ", ".join(["unsigned int"] * ARGUMENTS)
_NAMED = ", ".join(f"unsigned int a{n}" for n in range(ARGUMENTS))
_WEAK = "__attribute__((weak))"


def incoming(functions: list[tuple[str, int]]) -> list[str]:
    """C that other units call, and functions for ``wrappers``."""
    if not functions:
        return []
    given = " ".join(f"__registers[{n}] = a{n};" for n in range(ARGUMENTS))
    lines = [
        f"static __attribute__((noinline)) unsigned int __asm_from_c({_NAMED}, unsigned int at)",
        f"{{ unsigned int __registers[24] = {{0}}; {given}"
        " __asm_unit(at, __registers); return __registers[0]; }",
    ]
    passed = ", ".join(f"a{n}" for n in range(ARGUMENTS))
    for name, at in functions:
        lines += [
            f"void {ENTRY}{name}(unsigned int *__registers) {{ __asm_unit({at}u, __registers); }}",
            f"{_WEAK} unsigned int {name}({_NAMED})",
            f"{{ return __asm_from_c({passed}, {at}u); }}",
        ]
    return lines


def outgoing(functions: list[str]) -> list[str]:
    passed = ", ".join(f"r[{n}]" for n in range(ARGUMENTS))
    lines = [
        "static void __asm_elsewhere(unsigned int at, unsigned int *r)",
        "{",
        f"    r[0] = ((unsigned int (*)({PARAMETERS}))(unsigned long)at)({passed});",
        "}",
    ]
    for name in functions:
        lines += [
            f"extern unsigned int {name}({PARAMETERS});",
            f"{_WEAK} void {CALL}{name}(unsigned int *r) {{ r[0] = {name}({passed}); }}",
        ]
    return lines


def wrappers(entries: dict[str, Signature], called: dict[str, Signature]) -> str:
    """C for names whose declaration is not of words alone. Raises Unpassable."""
    lines = []
    for name, signature in entries.items():
        if not signature.plain:
            lines += _entry(name, signature)
    for name, signature in called.items():
        if not signature.plain:
            lines += _call(name, signature)
    return "\n".join(lines) + "\n" if lines else ""


def _entry(name: str, signature: Signature) -> list[str]:
    given = ", ".join(f"{kind} a{n}" for n, kind in enumerate(signature.arguments)) or "void"
    lines = [
        f"void {ENTRY}{name}(unsigned int *);",
        f"{signature.result} {name}({given})",
        "{",
        "    unsigned int r[24] = {0};",
    ]
    for n, (kind, at) in enumerate(zip(signature.arguments, signature.registers, strict=True)):
        if signature.wide(kind):
            lines.append(f"    unsigned long long w{n}; __builtin_memcpy(&w{n}, &a{n}, 8);")
            lines.append(
                f"    r[{at}] = (unsigned int)(w{n} >> 32); r[{at + 1}] = (unsigned int)w{n};"
            )
        elif kind == "float":
            lines.append(f"    __builtin_memcpy(&r[{at}], &a{n}, 4);")
        else:
            lines.append(f"    r[{at}] = (unsigned int)a{n};")
    lines.append(f"    {ENTRY}{name}(r);")
    result = signature.result
    if signature.wide(result):
        lines += [
            "    unsigned long long w = (unsigned long long)r[0] << 32 | r[1];",
            f"    {result} q; __builtin_memcpy(&q, &w, 8); return q;",
        ]
    elif result == "float":
        lines.append("    float q; __builtin_memcpy(&q, &r[0], 4); return q;")
    elif result != "void":
        lines.append(f"    return ({result})r[0];")
    return [*lines, "}"]


def _call(name: str, signature: Signature) -> list[str]:
    result = signature.result
    lines = [
        f"extern {result} {name}({', '.join(signature.arguments) or 'void'});",
        f"void {CALL}{name}(unsigned int *r)",
        "{",
    ]
    passed = []
    for n, (kind, at) in enumerate(zip(signature.arguments, signature.registers, strict=True)):
        if signature.wide(kind):
            lines.append(
                f"    unsigned long long w{n} = (unsigned long long)r[{at}] << 32 | r[{at + 1}];"
            )
            lines.append(f"    {kind} a{n}; __builtin_memcpy(&a{n}, &w{n}, 8);")
        elif kind == "float":
            lines.append(f"    float a{n}; __builtin_memcpy(&a{n}, &r[{at}], 4);")
        else:
            lines.append(f"    {kind} a{n} = ({kind})r[{at}];")
        passed.append(f"a{n}")
    call = f"{name}({', '.join(passed)})"
    if signature.wide(result):
        lines.append(f"    {result} q = {call}; unsigned long long w; __builtin_memcpy(&w, &q, 8);")
        lines.append("    r[0] = (unsigned int)(w >> 32); r[1] = (unsigned int)w;")
    elif result == "float":
        lines.append(f"    float q = {call}; __builtin_memcpy(&r[0], &q, 4);")
    elif result == "void":
        lines.append(f"    {call};")
    else:
        lines.append(f"    r[0] = (unsigned int){call};")
    return [*lines, "}"]
