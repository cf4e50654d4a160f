"""What a function of a module of PTX does, as statements of C++ (PTX ISA, "Instruction Set",
"Control Flow Instructions", "Performance-Tuning Directives")."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..instructions import instruction
from ..scope import TYPES, CannotTranslate, split
from . import calls, textures
from .assembly import Function, Place, closed, places, size_of
from .scope import FunctionScope
from .variables import alignment

_GUARD = re.compile(r"@\s*(!?)\s*([%\w$]+)\s+")
_LABEL = re.compile(r"([A-Za-z_$%][\w$]*)\s*:(?!:)\s*")
_ALONE = re.compile(
    r"([A-Za-z_$%][\w$]*\s*:)(?!:)(?!\s*\.(?:callprototype|branchtargets|calltargets)\b)"
)
"""A label: what follows may be of a line of its own."""
_LOCATION = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+\d+([^\n;]*)")
_KINDS = {"__half": "uint16_t", "__nv_bfloat16": "uint16_t"}
_PAIRS = {"__half2": "uint32_t", "__nv_bfloat162": "uint32_t"}


@dataclass(frozen=True)
class Piece:
    """A statement without its semicolon, or a brace; *line* is that of the text."""

    text: str
    line: int


def pieces(body: str, line: int) -> Iterator[Piece]:
    """Statements of a body, which begins on a *line*. Raises CannotTranslate."""
    at, begin = 0, 0
    while at < len(body):
        sign = body[at]
        if begin == at and (label := _ALONE.match(body, at)):
            yield Piece(label[1], line)
            begin = at = label.end()
            continue
        if begin == at and (found := _LOCATION.match(body, at)):
            yield Piece(found[0], line)
            begin = at = found.end()
            continue
        if sign == "{":
            pending = body[begin:at].strip()
            if not pending or pending.endswith(":"):
                if pending:
                    yield Piece(pending, line)
                yield Piece("{", line)
                line += body.count("\n", begin, at + 1)
                begin = at = at + 1
            else:
                at = closed(body, at) + 1
            continue
        if sign in ";}":
            text = body[begin:at].strip()
            line += body.count("\n", begin, begin + _blanks(body, begin))
            if text:
                yield Piece(text, line)
            if sign == "}":
                yield Piece("}", line)
            line += body.count("\n", begin + _blanks(body, begin), at + 1)
            begin = at = at + 1
            continue
        if sign.isspace() and begin == at:
            line += sign == "\n"
            begin = at + 1
        at += 1
    if body[begin:].strip():
        yield Piece(body[begin:].strip(), line)


def _blanks(body: str, at: int) -> int:
    begin = at
    while at < len(body) and body[at].isspace():
        at += 1
    return at - begin


def type_of(place: Place) -> str:
    """C++ for a parameter or what is returned: of so many bytes, as it is aligned."""
    if place.array:
        return f"::cudla_sim::PtxBytes<{max(place.size, 1)}, {place.alignment}>"
    return register_type(place.kind)


def register_type(kind: str) -> str:
    """The type of a register. Raises CannotTranslate."""
    if kind not in TYPES:
        raise CannotTranslate(f"a register of the type .{kind}")
    return _KINDS.get(TYPES[kind], _PAIRS.get(TYPES[kind], TYPES[kind]))


class Body:
    """Translates one function; *shown* is the name of its text, for the debugger."""

    def __init__(
        self,
        function: Function,
        scope: FunctionScope,
        known: calls.Known,
        files: dict[str, str],
        shown: str,
        hoist: Callable[[Place], None],
    ) -> None:
        self.function = function
        self.scope = scope
        self.known = known
        self.files = files
        self.shown = shown
        self.hoist = hoist
        self.prototypes: dict[str, Function] = {}
        self.targets: dict[str, list[str]] = {}
        self.local: list[str] = []
        self.location = ""

    def lines(self) -> list[str]:
        """C++ between the function's braces. Raises CannotTranslate."""
        self._returned()
        found = list(pieces(self.function.body or "", self.function.line))
        for piece in found:
            self._prepare(piece.text)
        made = [line for piece in found for line in self._piece(piece)]
        return [*self.local, *made]

    def _returned(self) -> None:
        for place in self.function.returned:
            if place.space == "param":
                self._memory(place)
            else:
                self.local.append(f"{register_type(place.kind)} {self.scope.declare(place.name)};")

    def _prepare(self, text: str) -> None:
        """What may be named before it is written: prototypes and lists of labels."""
        named = _LABEL.match(text)
        rest = text[named.end() :] if named else ""
        if named and rest.startswith(".callprototype"):
            self.prototypes[named[1]] = calls.prototype(rest)
        elif named and rest.startswith(".branchtargets"):
            self.targets[named[1]] = split(rest.removeprefix(".branchtargets"))

    def _piece(self, piece: Piece) -> list[str]:
        text = piece.text
        if text == "{":
            self.scope.open()
            return ["{"]
        if text == "}":
            self.scope.close()
            return ["}"]
        if location := _LOCATION.match(text):
            return self._location(location)
        lines = [self.location or f'#line {piece.line} "{self.shown}"']
        while label := _LABEL.match(text):
            if label[1] in self.prototypes or label[1] in self.targets:
                return []
            lines.append(f"{self.scope.label(label[1])}:;")
            text = text[label.end() :]
        if not text or text.startswith((".pragma", ".calltargets")):
            return lines
        if text.startswith("."):
            return [*lines, *self._declared(" ".join(text.split()))]
        return [*lines, self._instruction(" ".join(text.split()))]

    def _location(self, found: re.Match[str]) -> list[str]:
        """What was inlined is where it is called from: users know that line."""
        if "inlined_at" in found[3]:
            return []
        name = self.files.get(found[1])
        if name is None or found[2] == "0":
            return []
        self.location = f'#line {found[2]} "{name}"'
        return []

    def _declared(self, text: str) -> list[str]:
        if text.startswith(".reg"):
            return [self._registers(place) for place in places(text)]
        for place in places(text):
            if place.space in ("param", "local"):
                self._memory(place)
            else:
                self.hoist(place)
        return []

    def _registers(self, place: Place) -> str:
        if place.array:
            raise CannotTranslate(f"a vector of registers, {place.name}")
        return f"{register_type(place.kind)} {self.scope.declare(place.name)};"

    def _memory(self, place: Place) -> None:
        """Local memory and parameters of calls: at the function's top, as jumps cross them."""
        name = f"m{len(self.local)}"
        if place.space == "param":
            self.local.append(f"{type_of(place)} {name};")
            address = f"(uintptr_t)&{name}"
        else:
            self.local.append(f"{alignment(place)} uint8_t {name}[{max(place.size, 1)}];")
            address = f"(uintptr_t){name}"
        self.scope.memory[-1][place.name] = address

    def _instruction(self, text: str) -> str:
        guard = _GUARD.match(text)
        before = ""
        if guard:
            before = f"if ({guard[1]}{self.scope.value(guard[2])}) "
            text = text[guard.end() :]
        self.scope.number += 1
        word, _, rest = text.partition(" ")
        name = word.split(".")[0]
        try:
            if name == "ret":
                return f"{before}return{self._result()};"
            if name == "call":
                made = calls.call(rest, self.scope, self.known, self.prototypes)
            elif name == "brx":
                made = self._jump(split(rest))
            elif name in ("alloca", "stacksave", "stackrestore"):
                made = self._stack(name, word.split("."), split(rest))
            else:
                made = textures.instruction(
                    word.split("."), split(rest), self.scope
                ) or instruction(text, self.scope)
        except (ValueError, IndexError, KeyError, StopIteration) as error:  # too few operands
            raise CannotTranslate(text) from error
        return f"{before}{{ {made}; }}"

    def _result(self) -> str:
        for place in self.function.returned:
            known = self.scope.memory[0].get(place.name)
            if known is not None:
                return f" *({type_of(place)} *){known}"
            return f" {self.scope.value(place.name)}"
        return ""

    def _jump(self, operands: list[str]) -> str:
        """``brx.idx index, list``."""
        labels = self.targets[operands[1]]
        cases = " ".join(
            f"case {i}: goto {self.scope.label(name)};" for i, name in enumerate(labels)
        )
        return f"switch ({self.scope.read('uint32_t', operands[0])}) {{ {cases} }}"

    def _stack(self, name: str, parts: list[str], operands: list[str]) -> str:
        kind = TYPES[parts[1]]
        if name != "alloca":
            return (
                "(void)0" if name == "stackrestore" else self.scope.write(operands[0], f"{kind}(0)")
            )
        bytes_ = int(operands[2], 0) if len(operands) > 2 else size_of("b64")
        given = self.scope.read(kind, operands[1])
        taken = f"__builtin_alloca_with_align({given}, {8 * max(bytes_, 8)})"
        return self.scope.write(operands[0], f"{kind}((uintptr_t){taken})")
