"""A text of DPU assembly as one unit of C.

All instructions become one function, ``unit``: registers are its variables, labels its labels, and
``jump r23`` goes where r23 says. Each global name among the instructions gets a function that C can
call: arguments in r0 and so on, the result in r0. Source of the convention: facts of the
instruction set, section 9.
"""

from __future__ import annotations

import contextlib

from ...assembler.assembling import Assembler
from ...assembler.expressions import AsmError, Expression
from ...assembler.operands import Instruction
from ...assembler.sections import NOP, TEXT, Item
from ...assembler.statements import LineError
from ...isa.fields import REGISTERS, WORD_BYTES
from . import calls, data
from .code import LOAD, RETURN, SAVE, Code
from .values import Values

_FRAME_BYTES, _CALLS_BYTES, _MOST_FRAME = 64, 1024, 8192
"""Stack of the assembly's own for one call from C: at least, what calls within it add, and at
most."""
_STACK = 22
"""The register that points to it."""
_NOP = NOP.to_bytes(WORD_BYTES, "little")


def translate(text: str, file: str, tasklets: int, counted: bool = False) -> str:
    """The C of preprocessed assembly. ``counted``: with the instructions that it executes.

    Raises AsmError; its text is a line, with file and line number where it has a place.
    """
    assembler = Assembler()
    assembler.define("NR_TASKLETS", tasklets)
    assembler.read(text, file)
    assembler.finish()
    values = Values(assembler)
    code = Code(values)
    items = _instructions(assembler)
    code.count = len(items)
    body = [_statement(code, item, n) for n, item in enumerate(items)]
    contents = data.directives(values)
    functions = _functions(assembler)
    entries = {at for _, at in functions}
    numbers = entries | code.returns | {n for n in values.code_labels if n < len(items)}
    labels = numbers | code.targets
    lines = [
        *_declarations(assembler, values, code, dict(functions)),
        *calls.outgoing(sorted(code.functions)),
        *_unit(items, body, labels, numbers, _frame(items, bool(code.returns)), counted),
        *calls.incoming(functions),
    ]
    if contents:
        quoted = [
            '"' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"' for line in contents
        ]
        lines.append("__asm__(" + "\n".join(quoted) + ");")
    return "\n".join(lines) + "\n"


def _instructions(assembler: Assembler) -> list[Item | None]:
    """By their numbers; None for room between them."""
    found: list[Item | None] = []
    for item in assembler.sections[TEXT].items:
        if isinstance(item.content, bytes) and item.content == _NOP * (
            len(item.content) // WORD_BYTES
        ):
            found += [None] * (len(item.content) // WORD_BYTES)
        else:
            found.append(item)
    return found


def _statement(code: Code, item: Item | None, number: int) -> str:
    if item is None:
        return ";"
    try:
        return code.c(item, number)
    except AsmError as error:
        raise LineError(item.where, str(error)) from None


def _functions(assembler: Assembler) -> list[tuple[str, int]]:
    """Global names among the instructions, with the instruction that each stands before."""
    text = assembler.sections[TEXT]
    found = [(s.name, s.value // WORD_BYTES) for s in assembler.symbols.values()
             if s.section is text and s.shared]  # fmt: skip
    if any(name == "__bootstrap" for name, _ in found):
        raise AsmError("__bootstrap brings start code of its own: link such files alone")
    return found


def _declarations(
    assembler: Assembler, values: Values, code: Code, own: dict[str, int]
) -> list[str]:
    lines = [
        "extern unsigned int __rt_me;",
        "extern void __rt_acquire(unsigned int), __rt_release(unsigned int);",
        "extern void __rt_resume(unsigned int), __rt_stop(void), __rt_program_fault(unsigned int);",
        "extern unsigned int __rt_try_acquire(unsigned int);",
        "extern void __rt_asm_ldma(unsigned int, unsigned int, unsigned int);",
        "extern void __rt_asm_sdma(unsigned int, unsigned int, unsigned int);",
    ]
    for name in sorted(values.addresses):
        if name in own:
            lines.append(f"extern unsigned int {name}({calls.PARAMETERS});")
        elif name in code.functions:
            continue
        else:
            lines.append(f"extern char {name}[];")
    return lines


def _frame(items: list[Item | None], recursive: bool) -> int:
    """Bytes of stack for one call from C: as far as instructions reach behind r22, once for all of
    them, and more where they call each other."""
    reach = 0
    for item in items:
        if item is None or not isinstance(item.content, Instruction):
            continue
        form, given = item.content.form, dict(item.content.operands)
        offset = given.get("offset" if form.operation in ("SB", "SH", "SW", "SD") else "imm")
        if given.get("a") == _STACK and isinstance(offset, Expression):
            with contextlib.suppress(AsmError):
                reach += max(0, offset.value(_no_symbol))
    return min(_FRAME_BYTES + (reach + 7 & ~7) + (_CALLS_BYTES if recursive else 0), _MOST_FRAME)


def _no_symbol(name: str) -> int:
    raise AsmError(name)


def _unit(
    items: list[Item | None],
    body: list[str],
    labels: set[int],
    numbers: set[int],
    frame: int,
    counted: bool,
) -> list[str]:
    registers = range(REGISTERS)
    lines = [
        "extern unsigned long long __rt_count;" if counted else "",
        "static void __asm_unit(unsigned int __at, unsigned int *__registers)",
        "{",
        f"    unsigned long long __frame[{frame // 8}];",
        f"    unsigned int {', '.join(f'r{n}' for n in registers)}, __c = 0, __z = 0;",
        f"    {LOAD}",
        "    r22 = (unsigned int)(unsigned long)__frame;",
        f"    r23 = {RETURN:#x}u;",
        "dispatch:",
        "    switch (__at) {",
        *(f"    case {n}u: goto L{n};" for n in sorted(numbers)),
        f"    case {RETURN:#x}u: goto finished;",
        "    default: break;",
        "    }",
        f"    {SAVE} __asm_elsewhere(__at, __registers); {LOAD} __at = r23; goto dispatch;",
    ]
    for number, (item, statement) in enumerate(zip(items, body, strict=True)):
        label = f"L{number}: " if number in labels else ""
        count = "__rt_count += 2; " if counted else ""
        if item is not None:
            lines.append(f'# {item.where.line} "{item.where.file}"')
        lines.append(f"    {label}{count}{statement}")
    lines += [
        "    __at = 0xffffffffu; goto dispatch; /* behind the last instruction */",
        "finished: ;",
        f"    {SAVE}",
        "    (void)__c, (void)__z;",
        "}",
    ]
    return lines
