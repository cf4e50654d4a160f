"""What names mean in a function of a module of PTX: registers, variables, parameters."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..scope import CannotTranslate, Scope
from ..statements import Statement

_NOTHING = Statement(0, 0, "", (), 0)
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

    def read(self, kind: str, text: str) -> str:
        if text in ("", "_"):
            raise CannotTranslate(f"{text or 'nothing'} where a value is read")
        return super().read(kind, text)
