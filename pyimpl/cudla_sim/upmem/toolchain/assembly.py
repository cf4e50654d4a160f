"""DPU instructions in asm statements: those of which every one is understood become C.

A statement is a sequence of instructions on operands, without labels and branches: additions with
carry, logic, shifts, shift-and-add, byte comparison, products of bytes, counting, DMA. Instructions
that synchronise (acquire, release, resume, stop, fault) are macros of the assembler, see dpu_asm.h.
Source of the semantics: facts of the instruction set (sections 4 and 5.4).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_START = re.compile(
    r"\b(?:__asm__|__asm|asm)\b(?:\s*(?:__volatile__|volatile|__inline__|inline))*\s*\("
)
_STRING = re.compile(r'\s*((?:"(?:\\.|[^"\\])*"\s*)+)')
_REFERENCE = re.compile(r"%(?:\[(\w+)\]|(\d+))$")
_OPERAND = re.compile(r'\s*(?:\[(\w+)\]\s*)?"([^"]*)"\s*\(', re.DOTALL)
_NOP = '__asm__ __volatile__("nop"); '
_MACROS = {"acquire", "release", "resume", "stop", "fault"}

_SHIFTS = {
    "lsl": "{a} << {s}",
    "lsr": "{a} >> {s}",
    "asr": "(unsigned int)((int){a} >> {s})",
    "rol": "({a} << {s} | {a} >> (-{s} & 31))",
    "ror": "({a} >> {s} | {a} << (-{s} & 31))",
    "lslx": "({s} ? {a} >> (-{s} & 31) : 0)",
    "lsrx": "({s} ? {a} << (-{s} & 31) : 0)",
    "lsl1": "({a} << {s} | ((1u << {s}) - 1))",
    "lsr1": "({a} >> {s} | ~(~0u >> {s}))",
}
_LOGIC = {
    "and": "{a} & {b}",
    "or": "{a} | {b}",
    "xor": "{a} ^ {b}",
    "nand": "~({a} & {b})",
    "nor": "~({a} | {b})",
    "nxor": "~({a} ^ {b})",
    "andn": "~{a} & {b}",
    "orn": "~{a} | {b}",
}
_ONE = {
    "move": "{a}",
    "cao": "(unsigned int)__builtin_popcount({a})",
    "clz": "({a} ? (unsigned int)__builtin_clz({a}) : 32u)",
    "clo": "(~{a} ? (unsigned int)__builtin_clz(~{a}) : 32u)",
    "cls": "(unsigned int)__builtin_clrsb((int){a}) + 1u",
    "extub": "(unsigned int)(unsigned char){a}",
    "extsb": "(unsigned int)(signed char){a}",
    "extuh": "(unsigned int)(unsigned short){a}",
    "extsh": "(unsigned int)(short){a}",
}
_HALVES = {
    "sl": "(int)(signed char){}",
    "ul": "(int)(unsigned char){}",
    "sh": "(int)(signed char)({} >> 8)",
    "uh": "(int)(unsigned char)({} >> 8)",
}
_BYTES = " | ".join(
    f"(({{a}} >> {n} & 255) == ({{b}} >> {n} & 255) ? {1 << n}u : 0)" for n in (0, 8, 16, 24)
)
_CONSTANTS = {"zero": "0u", "one": "1u", "lneg": "0xffffffffu", "mneg": "0x80000000u"}


class NotUnderstood(Exception):
    """The first instruction that is none of those above."""


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
    at = string.end()
    if text[at : at + 1] == ":":
        outputs, at = _operands(text, at + 1)
        rest = text[at:end].lstrip()
        if rest.startswith(":"):
            inputs, at = _operands(text, text.index(":", at) + 1)
    semicolon = re.compile(r"\s*;").match(text, end)
    return _Statement(semicolon.end() if semicolon else end, template, outputs, inputs)


class _Writer:
    """One statement as C: operands in variables of their own, then instruction by instruction."""

    def __init__(self, statement: _Statement) -> None:
        self.statement = statement
        self.all = [*statement.outputs, *statement.inputs]
        self.lines: list[str] = []

    def value(self, word: str) -> str:
        """An operand as an unsigned number."""
        if word in _CONSTANTS:
            return _CONSTANTS[word]
        if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)", word):
            return f"(unsigned int)({word})"
        return f"__r{self.index(word)}"

    def index(self, word: str) -> int:
        match = _REFERENCE.fullmatch(word)
        if match is None:
            raise NotUnderstood(word)
        if match[2] is not None:
            number = int(match[2])
            if number < len(self.all):
                return number
        for number, operand in enumerate(self.all):
            if match[1] and operand.name == match[1]:
                return number
        raise NotUnderstood(word)

    def instruction(self, line: str) -> None:
        name, _, rest = line.partition(" ")
        words = [word.strip() for word in rest.split(",")] if rest.strip() else []
        write = _find(name, len(words))
        if write is None:
            raise NotUnderstood(name)
        write(self, words)

    def assign(self, target: str, expression: str) -> None:
        self.lines.append(f"__r{self.index(target)} = {expression};")

    def text(self) -> str:
        before = [
            f"unsigned int __r{n} = "
            + (f"(unsigned int)({o.expression});" if not o.constraint.startswith("=") else "0;")
            + f" (void)__r{n};"
            for n, o in enumerate(self.all)
        ]
        after = [
            f"{o.expression} = (__typeof__({o.expression}))__r{n};"
            for n, o in enumerate(self.statement.outputs)
        ]
        body = " ".join([*before, "unsigned int __c = 0; (void)__c;", *self.lines, *after])
        return f"do {{ {body} }} while (0);"


_Write = Callable[[_Writer, list[str]], None]


def _formula(text: str) -> _Write:
    def write(writer: _Writer, words: list[str]) -> None:
        values = [writer.value(word) for word in words[1:]]
        names = dict(zip("ab", values, strict=False))
        writer.assign(words[0], text.format(**names, s=f"({values[-1]} & 31)"))

    return write


def _sum(minus: bool, carry: bool, reverse: bool) -> _Write:
    def write(writer: _Writer, words: list[str]) -> None:
        a, b = (writer.value(word) for word in words[1:])
        if reverse:
            a, b = b, a
        sign = "-" if minus else "+"
        whole = f"(unsigned long long){a} {sign} {b}" + (f" {sign} __c" if carry else "")
        writer.lines.append(
            f"{{ unsigned long long __w = {whole}; __c = (unsigned int)(__w >> 32) & 1;"
        )
        writer.assign(words[0], "(unsigned int)__w")
        writer.lines.append("}")

    return write


def _shifted(operation: str) -> _Write:
    def write(writer: _Writer, words: list[str]) -> None:
        b, a, s = (writer.value(word) for word in words[1:])
        writer.assign(words[0], operation.format(a=a, b=b, s=f"({s} & 31)"))

    return write


def _dma(function: str) -> _Write:
    def write(writer: _Writer, words: list[str]) -> None:
        values = ", ".join(writer.value(word) for word in words)
        writer.lines.append(
            f"extern void {function}(unsigned int, unsigned int, unsigned int); "
            f"{function}({values});"
        )

    return write


def _find(name: str, count: int) -> _Write | None:
    """How an instruction with ``count`` operands is written, None for all others."""
    sums = {"add": (0, 0, 0), "addc": (0, 1, 0), "sub": (1, 0, 0), "subc": (1, 1, 0),
            "rsub": (1, 0, 1), "rsubc": (1, 1, 1)}  # fmt: skip
    if name in sums and count == 3:
        minus, carry, reverse = map(bool, sums[name])
        return _sum(minus, carry, reverse)
    if name in _LOGIC and count == 3:
        return _formula(_LOGIC[name])
    if name in _SHIFTS and count == 3:
        return _formula(_SHIFTS[name])
    if name in _ONE and count == 2:
        return _formula(_ONE[name])
    if name == "cmpb4" and count == 3:
        return _formula(_BYTES)
    if (match := re.fullmatch(r"mul_([su][lh])_([su][lh])", name)) and count == 3:
        left, right = _HALVES[match[1]].format("{a}"), _HALVES[match[2]].format("{b}")
        return _formula(f"(unsigned int)({left} * {right})")
    if name in ("lsl_add", "lsl_sub", "lsr_add", "rol_add") and count == 4:
        shift, _, way = name.partition("_")
        part = _SHIFTS[shift]
        return _shifted(f"{{b}} {'-' if way == 'sub' else '+'} ({part})")  # the last one is shifted
    if name in ("ldma", "sdma") and count == 3:
        return _dma(f"__rt_asm_{name}")
    return None


def _instructions(template: str) -> list[str]:
    bare = re.sub(r"(//|#)[^\n]*|/\*.*?\*/", "", template, flags=re.DOTALL)
    return [" ".join(line.split()) for line in re.split(r"[\n;]", bare) if line.strip()]


def _translated(statement: _Statement) -> str | None:
    """C, or None for a statement that stays as it is (empty, or only macros of dpu_asm.h)."""
    lines = _instructions(statement.template)
    names = [re.split(r"[\s,]", line, maxsplit=1)[0] for line in lines]
    nops = _NOP * names.count("nop")  # loops that pass time with them have to stay
    if all(name in ("nop", "//", "") for name in names):
        return f"{{ {nops}}}" if nops else None
    if all(name in _MACROS or name == "nop" for name in names):
        return None
    writer = _Writer(statement)
    for line in lines:
        if line.split()[0] != "nop":
            writer.instruction(line)
    return f"{{ {nops}{writer.text()} }}" if nops else writer.text()


def translate(source: str) -> str:
    """Preprocessed C with asm statements as C where all of their instructions are understood.

    Raises NotUnderstood with a message that names the instruction; lines stay where they are.
    """
    if "asm" not in source:
        return source
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
            raise NotUnderstood(_message(source, match.start(), str(cause))) from None
        if text is not None:
            lost = source.count("\n", match.start(), statement.end)
            result += [source[at : match.start()], text, "\n" * lost]
            at = statement.end
    return "".join([*result, source[at:]])


def _at_file_level(source: str, at: int) -> bool:
    """Behind a declaration (a name for the assembler) or outside every function."""
    before = source[:at].rstrip()
    while before.endswith("\n") or before.rpartition("\n")[2].startswith("# "):
        before = before.rpartition("\n")[0].rstrip()
    if before.endswith(")"):
        return not re.search(r"\b(?:if|while|for)\s*$", before[: _opening(before)])
    return source.count("{", 0, at) == source.count("}", 0, at)


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
        "additions, logic, shifts, shift-and-add, cmpb4, byte products, counts and DMA without "
        "branches are translated (and acquire, release, resume, stop, fault)"
    )
