"""Local arrays and structures whose accesses are to be told (``races.FLAGS``).

LLVM's instrumentation leaves out an element of a local variable, whatever was done with the address
of the whole. Where a function is given that address, it may be a transfer that fills the variable.
So the address of such a variable goes through an empty asm statement: behind it nobody knows that
it is local. Others stay as they are: they may become registers.
"""

from __future__ import annotations

import re

from .intermediate import Instruction, opaque_pointers

_LOCAL = re.compile(r"^(\s*)(%[\w.$-]+) = alloca ([^,\n]+)((?:, )?.*)$")
_ADDRESSES = ("getelementptr", "bitcast")
_NOT_GIVEN = ("llvm.dbg.", "llvm.lifetime.", "llvm.mem")


def expose(module: str) -> str:
    """LLVM IR as the front end makes it, with such variables behind asm statements."""
    pointers = "" if opaque_pointers(module) else "*"
    parts = re.split(r"^(define .*?^}$)", module, flags=re.MULTILINE | re.DOTALL)
    parts[1::2] = (_function(body, pointers) for body in parts[1::2])
    return "".join(parts)


def _aggregate(kind: str, more: str) -> bool:
    counted = re.match(r", i\d+ ", more) is not None  # an array of variable length
    return kind.startswith(("[", "%", "{", "<{")) or counted


def _given(lines: list[Instruction], local: str) -> bool:
    """Whether a function gets the variable's address, or a variable holds it."""
    addresses = {local}
    for line in lines:
        if line.name in _ADDRESSES and addresses.intersection(line.uses):
            addresses.add(line.result)
        elif line.name == "call" and not line.callee[0].startswith(_NOT_GIVEN):
            if addresses.intersection(line.uses):
                return True
        elif line.name == "store" and addresses.intersection(line.uses[:-1]):
            return True
    return False


def _function(body: str, star: str) -> str:
    lines = body.split("\n")
    read = [Instruction.read(line) for line in lines]
    names: dict[str, str] = {}
    for at, line in enumerate(lines):
        match = _LOCAL.match(line)
        if match is None or not _aggregate(match[3], match[4]) or not _given(read, match[2]):
            continue
        names[match[2]] = f"%__told_{len(names)}"
        kind = f"{match[3]}{star}" if star else "ptr"
        lines[at] += (
            f'\n{match[1]}{names[match[2]]} = call {kind} asm "", "=r,0"({kind} {match[2]})'
        )
    if not names:
        return body
    pattern = re.compile("|".join(rf"{re.escape(x)}(?![\w.$-])" for x in names))
    return "\n".join(
        line if " = alloca " in line or "llvm.dbg." in line or "llvm.lifetime." in line
        else pattern.sub(lambda found: names[found[0]], line)
        for line in lines
    )  # fmt: skip
