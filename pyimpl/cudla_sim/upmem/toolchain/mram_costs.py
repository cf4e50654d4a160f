"""What accesses to MRAM cost: transfers, variables in MRAM, copies from and to it.

A transfer is one instruction. A variable in MRAM is read and written through a word of WRAM that
each tasklet has: the compiler puts a transfer, and what finds the bytes in that word, in place. The
time of the DMA engine passes in the runtime (``shim/dpu_run/mram_times.c``).

Source: the DPU's back end and run-time library (public), published listings of loops of transfers.
"""

from __future__ import annotations

import re
from collections.abc import Set

from .intermediate import ONE, Cost, Instruction, Values, arguments, bits, constant, value

SIZE = 2 * ONE
"""A size that is no constant becomes a field of the WRAM address: shift and sum; a sum more when
only the address changes."""
LOAD, LOAD_WORD = 5 * ONE, 3 * ONE
"""Below 8 bytes: address of the word in WRAM, transfer, place in the word (2), load."""
STORE, STORE_WORD = 6 * ONE, 3 * ONE
"""The same, and the transfer back."""

_ATTRIBUTE = re.compile(
    r"\b(?:noundef|nonnull|nocapture|readonly|writeonly|noalias|align \d+"
    r"|dereferenceable(?:_or_null)?\(\d+\)) "
)
_GLOBAL = re.compile(r"^@([\w.$]+) = .*section \"[^\"]*\.mram", re.MULTILINE)
_REFERENCE = re.compile(r"@([\w.$]+)")
_SAME = {
    "bitcast",
    "inttoptr",
    "ptrtoint",
    "addrspacecast",
    "freeze",
    "phi",
    "select",
    "add",
    "sub",
}


def variables(module: str) -> frozenset[str]:
    """Names of the module's variables in MRAM; the heap begins at one of them."""
    return frozenset({*_GLOBAL.findall(module), "__sys_used_mram_end"})


def _based(text: str, values: Values, seen: set[str]) -> bool:
    """Whether an operand is the address of a variable in MRAM, or an offset from one."""
    if any(name in values.mram for name in _REFERENCE.findall(text)):
        return True
    for name in re.findall(r"%[\w.$-]+", text):
        maker = values.made.get(name)
        if name in seen or maker is None:
            continue
        seen.add(name)
        operands = arguments(maker.rest)
        if maker.name in _SAME:
            found = _based(maker.rest, values, seen)
        else:
            found = maker.name == "getelementptr" and _based(operands[1], values, seen)
        if found:
            return True
    return False


def _frame(argument: str, values: Values) -> str:
    """The array on the stack, or the variable, whose address is made anew for it; "" for others."""
    name = value(argument)
    for _ in range(20):
        if not name.startswith("%"):
            found = _REFERENCE.search(argument)
            return found[0] if found else ""
        maker = values.made.get(name)
        if maker is None or maker.name not in ("alloca", "bitcast", "getelementptr"):
            return ""
        if maker.name == "alloca":
            return name
        operands = arguments(maker.rest)
        if maker.name == "getelementptr" and not all(constant(x) for x in operands[2:]):
            return ""
        argument = operands[1 if maker.name == "getelementptr" else 0].split(" to ")[0]
        name = value(argument)
    return ""


def array(base: str, values: Values, seen: set[tuple[str, str]]) -> int:
    """The address of an array on the stack: stack pointer and offset, once in a block."""
    maker = values.made.get(value(base))
    key = ("array", value(base))
    if maker is None or maker.name != "alloca" or key in seen:
        return 0
    seen.add(key)
    return ONE


def transfer(i: Instruction, values: Values, seen: set[tuple[str, str]]) -> Cost:
    """``mram_read`` or ``mram_write``; what a loop does not change is worked out before it."""
    name, text = i.callee
    operands = arguments(text)
    wram, size = operands[1 if name == "mram_read" else 0], operands[2]
    halves = ONE
    frame = _frame(wram, values)
    if frame and ("array", frame) not in seen:
        seen.add(("array", frame))
        halves += ONE
    if not constant(size):
        halves += SIZE if values.changes(value(size)) else 0
        halves += ONE if values.changes(value(size)) or values.changes(value(wram)) else 0
    return Cost(halves)


def _width(kind: str) -> int:
    return 64 if kind == "double" else 32 if kind.endswith("*") else bits(kind)


def access(i: Instruction, values: Values) -> Cost | None:
    """A load or store of a variable in MRAM; None for one of WRAM."""
    operands = arguments(re.sub(r"^(?:volatile|atomic) ", "", i.rest))
    if len(operands) < 2 or not _based(operands[1], values, set()):
        return None
    kind = operands[0].split(" ", 1)[0]
    whole, write = _width(kind) > 32, i.name == "store"
    costs = (STORE_WORD if whole else STORE) if write else (LOAD_WORD if whole else LOAD)
    made, name = values.address(operands[1])
    what = 3 if write and not whole else 2 if write else 1
    return Cost(costs, events=[*made, f"call void @__rt_mram_variable(i32 {name}, i32 {what})"])


def _size(argument: str, values: Values) -> tuple[list[str], str]:
    argument = _ATTRIBUTE.sub("", argument)
    if not argument.startswith("i64") or constant(argument):
        return [], value(argument)
    name = values.fresh()
    return [f"{name} = trunc {argument} to i32"], name


def block(name: str, operands: list[str], values: Values) -> Cost | None:
    """memcpy, memmove or memset; None for one of a few bytes of WRAM, which is done in place."""
    pointers = [_ATTRIBUTE.sub("", x) for x in operands[:2]]
    copy = "memset" not in name
    pointers = pointers if copy else pointers[:1]
    size = value(operands[2])
    known: Set[bool] = {_based(x, values, set()) for x in pointers}
    if size.isdigit() and int(size) <= 64 and True not in known:
        return None
    lines, names = [], []
    for made, found in (values.address(x) for x in pointers):
        lines += made
        names.append(f"i32 {found}")
    made, found = _size(operands[2], values)
    function = "__rt_copied" if copy else "__rt_filled"
    names.append(f"i32 {found}")
    return Cost(0, events=[*lines, *made, f"call void @{function}({', '.join(names)})"])
