"""What C units say of functions, kept in their objects for links with assembly.

A section that no program keeps holds a line for each function that a unit declares or defines: its
name, the result and the arguments as C types.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...assembler.expressions import AsmError

SECTION = ".cudla_sim.functions"
MARK = b"cudla_sim function "
_LINE = re.compile(rb"cudla_sim function ([^\0\n]*)\0")
_HEADER = re.compile(r"^(?:declare|define) (?P<before>.*?)@(?P<name>[\w.$]+)\((?P<arguments>.*)\)")
_KINDS = {
    "void": "void", "i1": "_Bool", "i8": "unsigned char", "i16": "unsigned short",
    "i32": "unsigned int", "i64": "unsigned long long", "float": "float", "double": "double",
    "ptr": "void *",
}  # fmt: skip
_SIGNED = {"unsigned char": "signed char", "unsigned short": "short"}
_LOCAL = ("internal", "private")
_WIDE = ("unsigned long long", "double")
ARGUMENTS = 8
"""Registers in which arguments are passed, from r0. Source: facts of the instruction set,
section 9."""


@dataclass(frozen=True)
class Signature:
    """Of a function: types in C, ``?`` for one that does not go in registers."""

    name: str
    result: str
    arguments: tuple[str, ...]

    @property
    def plain(self) -> bool:
        """Whether arguments and result are words, and as many as there are registers."""
        kinds = (self.result, *self.arguments)
        return len(self.arguments) <= ARGUMENTS and not any(
            kind in (*_WIDE, "float", "?") for kind in kinds
        )

    @staticmethod
    def wide(kind: str) -> bool:
        return kind in _WIDE

    @property
    def registers(self) -> list[int]:
        """The first register of each argument: pairs begin at even ones. Raises AsmError."""
        found, at = [], 0
        for kind in self.arguments:
            if kind in _WIDE:
                at += at & 1
            found.append(at)
            at += 2 if kind in _WIDE else 1
        if at > ARGUMENTS or "?" in (self.result, *self.arguments):
            raise AsmError(
                f"{self.name} is called between C and assembly, and its arguments are not "
                f"numbers and pointers in r0 to r{ARGUMENTS - 1}"
            )
        return found

    def line(self) -> str:
        return ";".join((self.name, self.result, *self.arguments))


def _kind(text: str) -> str:
    """The C type of an argument or result of IR."""
    words = [w for w in text.split() if not w.startswith(("%", "align"))]
    if any(w.startswith(("byval", "sret", "...")) for w in words):
        return "?"
    bare = [w for w in words if w in _KINDS or w.endswith("*")]
    if not bare:
        return "?"
    kind = "void *" if bare[-1].endswith("*") else _KINDS[bare[-1]]
    return _SIGNED.get(kind, kind) if "signext" in words else kind


def _split(text: str) -> list[str]:
    parts, depth, part = [], 0, ""
    for char in text:
        depth += (char in "([{<") - (char in ")]}>")
        if char == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += char
    return [*parts, part] if text.strip() else []


def of_module(module: str) -> list[Signature]:
    """Functions with names of other units in text of LLVM IR."""
    found = []
    for line in module.split("\n"):
        if not line.startswith(("declare ", "define ")):
            continue
        match = _HEADER.match(line)
        if match is None or match["name"].startswith(("llvm.", "__rt_")):
            continue
        before = match["before"]
        if any(word in _LOCAL for word in before.split()):
            continue
        arguments = tuple(_kind(part) for part in _split(match["arguments"]))
        found.append(Signature(match["name"], _kind(before), arguments))
    return found


def marked(module: str) -> str:
    """IR with lines for the assembler that keep what it says of functions in the object."""
    found = of_module(module)
    if not found:
        return module
    lines = [f".pushsection {SECTION},\\22e\\22,@progbits"]
    for signature in found:
        lines.append(f".asciz \\22{MARK.decode()}{signature.line()}\\22")
    lines.append(".popsection")
    return "\n".join([module, *(f'module asm "{line}"' for line in lines), ""])


def of_object(contents: bytes) -> dict[str, Signature]:
    """What an object (or an archive of them) keeps, by name."""
    found: dict[str, Signature] = {}
    for match in _LINE.finditer(contents):
        name, result, *arguments = match[1].decode("latin-1").split(";")
        signature = Signature(name, result, tuple(arguments))
        if name not in found or found[name].plain:
            found[name] = signature
    return found
