"""What names mean in a function of a module of PTX: registers, variables, parameters."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..scope import CannotTranslate, Scope
from ..statements import Statement

_NOTHING = Statement(0, 0, "", (), 0)
BLOCK = "cudla_sim_here"
"""The name of the block's ``PtxBlock``."""
SHARED = "cudla_sim_shared"
"""That of where its shared memory is: of the function's own, as stores could change another one."""
_OF_THE_BLOCK = re.compile(r"%(?:ctaid|ntid|nctaid)\.[xyz]")
_NUMBER = re.compile(r"[-+~]?\s*(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?")


class FunctionScope(Scope):
    """*outside* is C++ for the address of what the module has under a name, "" where there is
    none."""

    def __init__(self, outside: Callable[[str], str]) -> None:
        super().__init__(_NOTHING, 0)
        self.outside = outside
        self.memory: list[dict[str, str]] = [{}]
        """C++ for the addresses of parameters and local variables, by name."""
        self.shared: set[str] = set()
        self.asks_block = self.in_shared_memory = False
        self.made = 0

    def open(self) -> None:
        self.registers.append({})
        self.memory.append({})

    def close(self) -> None:
        self.registers.pop()
        self.memory.pop()

    def declare(self, name: str) -> str:
        self.made += 1
        made = f"r{self.made}_{re.sub(r'[^A-Za-z0-9_]', '_', name)}"
        self.registers[-1][name] = made
        return made

    def label(self, name: str) -> str:
        return self.labels.setdefault(
            name, f"l{len(self.labels)}_{re.sub(r'[^A-Za-z0-9_]', '_', name)}"
        )

    def address(self, name: str) -> str:
        """C++ for the generic address of something, "" where the name is none's."""
        for known in reversed(self.memory):
            if name in known:
                return known[name]
        return self.outside(name)

    def value(self, text: str) -> str:
        for known in reversed(self.registers):
            if text in known:
                return known[text]
        if _OF_THE_BLOCK.fullmatch(text):
            self.asks_block = True
            return f"{BLOCK}.{text[1:]}"
        if _NUMBER.fullmatch(text):
            digits = text.rstrip("U")
            return f"({digits})" if digits[0] in "-+~" else digits
        named = re.fullmatch(
            r"(?:generic\s*\(\s*)?([A-Za-z_$%][\w$]*)\s*\)?\s*(?:\+\s*(-?\w+))?", text
        )
        if named and (found := self.address(named[1])):
            if named[1] in self.shared and "generic" not in text:
                found = f"__cvta_generic_to_shared((const void *){found})"
            return f"({found} + {named[2]})" if named[2] else found
        return super().value(text)

    def place(self, base: str, offset: str) -> str:
        """C++ for an address in brackets, "" where its base is a register."""
        found = "" if any(base in known for known in self.registers) else self.address(base)
        if not found and _NUMBER.fullmatch(base):
            found = f"uintptr_t({base})"
        return f"(uintptr_t({found}) + ({offset}))" if found else ""

    def in_shared(self, base: str, offset: str) -> str:
        self.in_shared_memory = self.asks_block = True
        return f"{SHARED}.generic(cudla_sim::ptx_address({base}, 0), {offset})"

    def read(self, kind: str, text: str) -> str:
        if text in ("", "_"):
            raise CannotTranslate(f"{text or 'nothing'} where a value is read")
        return super().read(kind, text)
