"""DPU instructions in asm statements: those of which every one is understood become C.

A statement is a sequence of instructions on operands (and on registers that it says it clobbers),
with jumps to labels of its own. Instructions that synchronise (acquire, release, resume, stop,
fault) are macros of the assembler, see dpu_asm.h; among others they become statements of their own.
Source of the semantics: facts of the instruction set (sections 3 to 6).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from . import instructions

_START = re.compile(
    r"\b(?:__asm__|__asm|asm)\b(?:\s*(?:__volatile__|volatile|__inline__|inline))*\s*\("
)
_STRING = re.compile(r'\s*((?:"(?:\\.|[^"\\])*"\s*)+)')
_REFERENCE = re.compile(r"%(?:\[(\w+)\]|(\d+))$")
_OPERAND = re.compile(r'\s*(?:\[(\w+)\]\s*)?"([^"]*)"\s*\(', re.DOTALL)
_LABEL = re.compile(r"([\w.$%=]+)\s*:\s*")
_NOP = '__asm__ __volatile__("nop"); '
_SYMBOL = re.compile(r"(?![rd]\d+\b)([A-Za-z_]\w*)\s*([-+]\s*(?:0[xX][0-9a-fA-F]+|\d+))?")
_OWN_NUMBER = {"id": 1, "id2": 2, "id4": 4, "id8": 8}
"""Registers with the number of the tasklet."""
_OUTER = re.compile(r'\b(?:extern\s*"C(?:\+\+)?"|namespace(?:\s+[\w:]+)?)\s*\{')
"""C++'s braces that functions stand in."""
_MACROS = {"acquire", "release", "resume", "stop", "fault"}

_SYNCHRONISES = re.compile('"[^"]*\\b(?:' + "|".join(sorted(_MACROS)) + r")\b")
_EXPRESSION = re.compile(
    r"[-+~(\s]*(?:0[xX][0-9a-fA-F]+|\d+)(?:[-+*/&|^~<>()\s]+(?:0[xX][0-9a-fA-F]+|\d+))*[)\s]*"
)
REFUSED = "__dpu_asm_refused_"
"""How the functions are called that stand for statements nobody understood."""


class NotUnderstood(Exception):
    """What cannot be translated: an instruction, an operand, a condition or a jump."""


@dataclass
class _Operand:
    name: str
    constraint: str
    expression: str


@dataclass
class _Statement:
    end: int
    template: str
    outputs: list[_Operand]
    inputs: list[_Operand]
    clobbers: frozenset[str]


def _closing(text: str, at: int) -> int:
    """Behind the parenthesis that ends what begins before ``at``; the end where none does."""
    depth = 1
    while depth and at < len(text):
        char = text[at]
        if char in "\"'":
            at += 1
            while at < len(text) and text[at] != char:
                at += 2 if text[at] == "\\" else 1
        depth += (char == "(") - (char == ")")
        at += 1
    return min(at, len(text))


def _operands(text: str, at: int) -> tuple[list[_Operand], int]:
    found = []
    while match := _OPERAND.match(text, at):
        end = _closing(text, match.end())
        found.append(_Operand(match[1] or "", match[2], text[match.end() : end - 1].strip()))
        at = end
        comma = re.compile(r"\s*,").match(text, at)
        if comma is None:
            break
        at = comma.end()
    return found, at


def _parse(text: str, at: int) -> _Statement | None:
    """The statement whose parenthesis opens before ``at``; None for what has another form."""
    string = _STRING.match(text, at)
    if string is None:
        return None
    pieces = re.findall(r'"((?:\\.|[^"\\])*)"', string[1])
    template = "".join(pieces).replace("\\n", "\n").replace("\\t", " ")
    end = _closing(text, at)
    outputs: list[_Operand] = []
    inputs: list[_Operand] = []
    clobbers: frozenset[str] = frozenset()
    at = string.end()
    if text[at : at + 1] == ":":
        outputs, at = _operands(text, at + 1)
        if text[at:end].lstrip().startswith(":"):
            inputs, at = _operands(text, text.index(":", at) + 1)
            if text[at:end].lstrip().startswith(":"):
                clobbers = frozenset(re.findall(r'"([^"]*)"', text[at:end]))
    semicolon = re.compile(r"\s*;").match(text, end)
    after = semicolon.end() if semicolon else end
    return _Statement(after, template, outputs, inputs, clobbers)


@dataclass
class _Line:
    """An instruction of a statement."""

    name: str
    words: list[str]
    labels: list[str]
    """Those in front of it."""


class _Writer:
    """One statement as C: operands in variables of their own, then instruction by instruction."""

    def __init__(self, statement: _Statement, lines: list[_Line]) -> None:
        self.statement = statement
        self.all = [*statement.outputs, *statement.inputs]
        self.lines = lines
        self.targets: set[int] = set()
        self.registers: set[str] = set()
        self.symbols: dict[str, str] = {}
        self.written = self._written()

    def value(self, word: str) -> str:
        """An operand as an unsigned number."""
        if word in instructions.CONSTANTS:
            return instructions.CONSTANTS[word]
        if _EXPRESSION.fullmatch(word):
            return f"(unsigned int)({word})"
        if word in _OWN_NUMBER:
            self.symbols["__rt_me"] = "unsigned int __x___rt_me"
            return f"__x___rt_me * {_OWN_NUMBER[word]}u"
        if (match := _SYMBOL.fullmatch(word)) and word not in self.statement.clobbers:
            self.symbols[match[1]] = f"char __x_{match[1]}[]"
            address = f"(unsigned int)(__typeof__(sizeof 0))__x_{match[1]}"
            return f"({address} + (unsigned int)({match[2]}))" if match[2] else address
        return self.place(word)

    def place(self, word: str) -> str:
        """The variable of an operand or register."""
        if re.fullmatch(r"r\d+", word) and word in self.statement.clobbers:
            self.registers.add(word)
            return f"__{word}_"
        match = _REFERENCE.fullmatch(word)
        if match is None:
            raise NotUnderstood(word)
        if match[2] is not None:
            number = int(match[2])
            if number < len(self.all):
                return f"__r{self._tied(number)}"
        for number, operand in enumerate(self.all):
            if match[1] and operand.name == match[1]:
                return f"__r{self._tied(number)}"
        raise NotUnderstood(word)

    def _tied(self, number: int) -> int:
        """The output that an input shares its register with: by its constraint, or because the
        statement writes to it, and it has the value of an operand that is read and written."""
        operand = self.all[number]
        if operand.constraint.isdigit() and int(operand.constraint) < number:
            return int(operand.constraint)
        if number in self.written:
            for other, output in enumerate(self.statement.outputs):
                if "+" in output.constraint and output.expression == operand.expression:
                    return other
        return number

    def _written(self) -> set[int]:
        """The inputs that instructions write to."""
        inputs = range(len(self.statement.outputs), len(self.all))
        named = {self.all[n].name: n for n in inputs if self.all[n].name}
        found = set()
        for line in self.lines:
            operation = instructions.find(line.name)
            if operation is None or not operation.destination or not line.words:
                continue
            match = _REFERENCE.fullmatch(line.words[0])
            if match:
                found.add(named.get(match[1], -1) if match[1] else int(match[2]))
        return found & set(inputs)

    def goto(self, word: str, number: int) -> str:
        """A jump from an instruction to a label."""
        found = self._target(word, number)
        if found is None:
            raise NotUnderstood(f"{self.lines[number].name} ... {word}")
        self.targets.add(found)
        return f"goto __l{found};"

    def _target(self, word: str, number: int) -> int | None:
        """The instruction (or the end) that a label of this statement stands before."""
        if word == ".":
            return number
        if match := re.fullmatch(r"\.\s*([-+])\s*(\d+)", word):  # in instructions
            found = number + int(match[1] + match[2])
            return found if 0 <= found <= len(self.lines) else None
        places = [(label, n) for n, line in enumerate(self.lines) for label in line.labels]
        if match := re.fullmatch(r"(\d+)([fb])", word):
            same = [n for label, n in places if label == match[1]]
            if match[2] == "f":
                return min((n for n in same if n > number), default=None)
            return max((n for n in same if n <= number), default=None)
        return next((n for label, n in places if label == word), None)

    def instruction(self, number: int) -> str:
        """The C of an instruction."""
        line = self.lines[number]
        name, words = line.name, line.words
        if name in ("", "nop"):
            return ";"
        if name in _MACROS:
            return self._synchronise(number)
        if name == "jump" and len(words) == 1:
            return self.goto(words[0], number)
        if name in instructions.JUMPS and len(words) == 3:
            name, words = "sub", ["zero", *words[:2], instructions.JUMPS[name], words[2]]
        elif name in instructions.TESTS and len(words) == 2:
            name, words = "move", ["zero", words[0], instructions.TESTS[name], words[1]]
        operation = instructions.find(name)
        count = 0 if operation is None else operation.sources + operation.destination
        if operation is None or not count <= len(words) <= count + 2:
            raise NotUnderstood(line.name)
        return self._computed(operation, words, count, number)

    def _computed(
        self, operation: instructions.Operation, words: list[str], count: int, number: int
    ) -> str:
        sources = [self.value(word) for word in words[operation.destination : count]]
        sources += ["0"] * (2 - len(sources))
        names = [f"__{n} = {v}" for n, v in zip(operation.names, sources, strict=False)]
        parts = [
            f"unsigned int {', '.join(names)}, __q, __k = __c, __y = __z;",
            " ".join(f"(void){n};" for n in ("__a", "__b", "__k", "__y")),
        ]
        if not operation.chained:
            parts.append("__k = 0;")
        parts.append(operation.compute)
        jump, asked = "", words[count:]
        result = "__q"
        if asked:
            condition = instructions.condition(operation, asked[0], len(asked) == 1)
            if condition is None:
                raise NotUnderstood(f"{self.lines[number].name} ... {asked[0]}")
            if len(asked) == 1:
                result = f"({condition}) ? 1u : 0u"
            elif condition != "0":
                jump = f"if ({condition}) {self.goto(asked[1], number)}"
        if operation.destination and words[0] not in instructions.CONSTANTS:
            parts.append(f"{self.place(words[0])} = {result};")
        if operation.kind:  # loads and stores leave the flags
            parts.append(f"__z = __q == 0{' && __y' if operation.chained else ''};")
        else:
            parts.append("(void)__q;")
        return f"{{ {' '.join([*parts, jump])} }}"

    def _synchronise(self, number: int) -> str:
        """A macro of dpu_asm.h. Its calls wait, so what loops until it succeeds does not jump."""
        line = self.lines[number]
        name, words = line.name, list(line.words)
        operands = {"stop": 0, "fault": 1}.get(name, 2)
        given, asked = words[:operands], words[operands:]
        if len(given) < operands or len(asked) not in (0, 2):
            raise NotUnderstood(name)
        jump = ""
        if asked and asked[0] != "false":
            to = self._target(asked[1], number)
            again = asked[0] == "nz" and to == number
            always = asked[0] == ("true" if name == "stop" else "z")
            if always:
                jump = self.goto(asked[1], number)
            elif not again and name != "release":
                raise NotUnderstood(f"{name} ... {asked[0]}")
        if operands < 2:
            return f'__asm__ __volatile__("{" ".join([name, *given])}" ::: "memory"); {jump}'
        where = given[0]
        if where in instructions.CONSTANTS:
            if where != "zero":
                raise NotUnderstood(where)
            return f'__asm__ __volatile__("{name} zero, {given[1]}" ::: "memory"); {jump}'
        value = self.value(where)
        return f'__asm__ __volatile__("{name} %0, {given[1]}" :: "r"({value}) : "memory"); {jump}'

    def text(self) -> str:
        body = [self.instruction(number) for number in range(len(self.lines))]
        for number in sorted(self.targets):
            place = f"__l{number}: ;"
            if number < len(body):
                body[number] = f"{place} {body[number]}"
            else:
                body.append(place)
        shared = {self._tied(n): o for n, o in enumerate(self.all) if self._tied(n) != n}
        before = []
        for n, o in enumerate(self.all):
            read = shared.get(n, o if not o.constraint.startswith("=") else None)
            first = "0" if read is None else f"(unsigned int)({read.expression})"
            before.append(f"unsigned int __r{n} = {first}; (void)__r{n};")
        before += [f"unsigned int __{r}_ = 0; (void)__{r}_;" for r in sorted(self.registers)]
        after = [
            f"{o.expression} = (__typeof__({o.expression}))__r{n};"
            for n, o in enumerate(self.statement.outputs)
        ]
        flags = "unsigned int __c = 0, __z = 0; (void)__c; (void)__z;"
        labels = ", ".join(f"__l{number}" for number in sorted(self.targets))
        local = [f"__label__ {labels};"] if labels else []
        local += [f'extern {x} __asm__("{name}");' for name, x in self.symbols.items()]
        return f"do {{ {' '.join([*local, *before, flags, *body, *after])} }} while (0);"


def _lines(template: str) -> list[_Line]:
    """The instructions of a statement, and an empty one where labels stand at the end."""
    bare = re.sub(r"(//|#)[^\n]*|/\*.*?\*/", "", template, flags=re.DOTALL)
    lines: list[_Line] = []
    labels: list[str] = []
    for text in re.split(r"[\n;]", bare):
        rest = " ".join(text.split())
        while match := _LABEL.match(rest):
            labels.append(match[1])
            rest = rest[match.end() :]
        if rest:
            name, _, words = rest.partition(" ")
            given = [word.strip() for word in words.split(",")] if words.strip() else []
            lines.append(_Line(name, given, labels))
            labels = []
    return [*lines, _Line("", [], labels)] if labels else lines


def _translated(statement: _Statement) -> str | None:
    """C, or None for a statement that stays as it is (empty, or only macros of dpu_asm.h)."""
    lines = _lines(statement.template)
    names = [line.name for line in lines]
    nops = _NOP * names.count("nop")  # loops that pass time with them have to stay
    if all(name in ("nop", "") for name in names):
        return f"{{ {nops}}}" if nops else None
    spins = all(len(line.words) < 3 or line.words[-1] == "." for line in lines)
    if spins and all(name in _MACROS or name == "nop" for name in names):
        return None
    writer = _Writer(statement, lines)
    return f"{{ {nops}{writer.text()} }}" if nops else writer.text()


def wants_macros(source: str) -> bool:
    """Whether preprocessed C uses macros of dpu_asm.h without having included it."""
    return (
        "asm" in source and "__rt_asm_macros" not in source and bool(_SYNCHRONISES.search(source))
    )


def translate(source: str) -> tuple[str, dict[str, str]]:
    """Preprocessed C with asm statements as C where all of their instructions are understood; lines
    stay where they are. A call of a function stands for each of the others, with a message that
    names the instruction: what nobody calls may hold what nobody understands.
    """
    refused: dict[str, str] = {}
    if "asm" not in source:
        return source, refused
    result, at = [], 0
    for match in _START.finditer(source):
        if match.start() < at:
            continue
        statement = _parse(source, match.end())
        if statement is None or _at_file_level(source, match.start()):
            continue
        try:
            text = _translated(statement)
        except NotUnderstood as cause:
            name = f"{REFUSED}{len(refused)}"
            refused[name] = _message(source, match.start(), str(cause))
            text = f'do {{ extern void {name}(void) __asm__("{name}"); {name}(); }} while (0);'
        if text is not None:
            lost = source.count("\n", match.start(), statement.end)
            result += [source[at : match.start()], text, "\n" * lost]
            at = statement.end
    return "".join([*result, source[at:]]), refused


def _at_file_level(source: str, at: int) -> bool:
    """Behind a declaration (a name for the assembler) or outside every function."""
    before = source[:at].rstrip()
    while before.endswith("\n") or before.rpartition("\n")[2].startswith("# "):
        before = before.rpartition("\n")[0].rstrip()
    if before.endswith(")"):
        return not re.search(r"\b(?:if|while|for)\s*$", before[: _opening(before)])
    if _OUTER.search(source, 0, at) is None:
        return source.count("{", 0, at) == source.count("}", 0, at)
    outer = {match.end() - 1 for match in _OUTER.finditer(source, 0, at)}
    inside: list[bool] = []
    for match in re.finditer("[{}]", source[:at]):
        if match[0] == "{":
            inside.append(match.start() not in outer)
        elif inside:
            inside.pop()
    return not any(inside)


def _opening(text: str) -> int:
    """Where the parenthesis opens that the text ends with."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if depth == 0:
            return at
    return 0


def _message(source: str, at: int, what: str) -> str:
    place, line = "", 0
    for text in source[:at].split("\n"):
        if marker := re.match(r'#\s*(?:line\s*)?(\d+)\s+"([^"]*)"', text):
            line, place = int(marker[1]), marker[2]
        else:
            line += 1
    return (
        f"{place}:{line - 1 if place else line}: error: asm statement with the DPU instruction or "
        f"operand '{what}': programs run natively here, and of the DPU's instructions only "
        "additions, logic, shifts, shift-and-add, cmpb4, byte products, counts, loads, stores, "
        "DMA, time and jumps to labels of the statement are translated (and acquire, release, "
        "resume, stop, fault, which wait)"
    )
