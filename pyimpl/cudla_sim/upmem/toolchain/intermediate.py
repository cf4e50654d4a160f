"""Optimised LLVM IR of a function: its instructions, where values come from, what they cost."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

ONE = 2
"""One instruction, in the unit of all costs: half instructions."""

FLAGS = r"(?:(?:fast|nnan|ninf|nsz|arcp|contract|afn|reassoc|exact|nuw|nsw|inbounds|volatile) )*"
_INSTRUCTION = re.compile(
    r"^\s*(?:(%\S+) = )?(?:(?:tail|musttail|notail) )?([a-z_0-9]+)(?: (.*))?$"
)
_TYPED = re.compile(rf"{FLAGS}(\S+) (.*)")
_CALLEE = re.compile(r"@([\w.$]+|\"[^\"]+\")\((.*)\)")
_NAME = re.compile(r"%[\w.$-]+")
_VERSION = re.compile(r"^!\d+ = !\{!\".*clang version (\d+)", re.MULTILINE)


def opaque_pointers(module: str) -> bool:
    """Whether pointers have the type ``ptr``, a word that programs use for names as well."""
    version = _VERSION.search(module)
    return version is not None and int(version[1]) >= 15


@dataclass
class Cost:
    """``halves`` known now; ``lines``: IR in front of the instruction that adds what is not;
    ``events``: IR in front of it for which time passes, when all before has been counted."""

    halves: int = 0
    lines: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)


@dataclass
class Instruction:
    """One line (a ``switch`` is put on one) of a function."""

    text: str
    result: str = ""
    name: str = ""
    rest: str = ""

    @classmethod
    def read(cls, text: str) -> Instruction:
        bare = text.split(", !", 1)[0].split(" !dbg", 1)[0]
        match = _INSTRUCTION.match(bare)
        if match is None:
            return cls(text)
        return cls(text, match[1] or "", match[2], match[3] or "")

    @property
    def uses(self) -> list[str]:
        return _NAME.findall(self.rest)

    @property
    def typed(self) -> tuple[str, str]:
        """Type of an arithmetic instruction, and its operands."""
        match = _TYPED.match(self.rest)
        return (match[1], match[2]) if match else ("", "")

    @property
    def callee(self) -> tuple[str, str]:
        """Function and arguments of a call; without a name for a pointer."""
        match = _CALLEE.search(self.rest)
        return (match[1].strip('"'), match[2]) if match else ("", "")


@dataclass
class Values:
    """Where the values of a function come from and who uses them.

    ``mram``: names of variables in MRAM; ``loop``: values that the innermost loop around the
    block that is looked at makes, None outside of loops."""

    mram: frozenset[str] = frozenset()
    made: dict[str, Instruction] = field(default_factory=dict)
    users: dict[str, list[Instruction]] = field(default_factory=dict)
    loop: frozenset[str] | None = None
    names: int = 0

    def fresh(self) -> str:
        """A name that no other value of the function has."""
        self.names += 1
        return f"%__rt_v{self.names}"

    def changes(self, name: str) -> bool:
        """Whether a value is another one in each round of the loop; outside of loops all are."""
        return self.loop is None or name in self.loop

    def address(self, pointer: str) -> tuple[list[str], str]:
        """IR that makes 32 bits of a pointer (type and value), and their name."""
        name = self.fresh()
        return [f"{name} = ptrtoint {pointer} to i32"], name

    def add(self, instruction: Instruction) -> None:
        if instruction.result:
            self.made[instruction.result] = instruction
        for name in instruction.uses:
            self.users.setdefault(name, []).append(instruction)

    def only_used_by(self, instruction: Instruction, names: set[str]) -> bool:
        return all(user.name in names for user in self.users.get(instruction.result, []))

    def narrow(self, operand: str) -> int:
        """Bits of the value that an extension made wider; 0: no extension made it."""
        maker = self.made.get(operand)
        if maker is not None and maker.name in ("sext", "zext"):
            found = re.match(r"i(\d+) ", maker.rest)
            return int(found[1]) if found else 0
        return 0


def bits(kind: str) -> int:
    match = re.match(r"i(\d+)", kind)
    return int(match[1]) if match else 32


def arguments(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "([{<") - (char in ")]}>")
        if char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def value(argument: str) -> str:
    """``i32 noundef 12`` -> ``12``; a constant expression stays whole."""
    return argument if argument.endswith(")") else argument.rsplit(" ", 1)[-1]


def constant(argument: str) -> bool:
    return not value(argument).startswith("%")
