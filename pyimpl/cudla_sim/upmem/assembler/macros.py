"""Macros, repetitions and conditions of assembly text, as GNU as and LLVM have them.

Values are asked for line by line, because a condition sees the symbols as the lines before it have
set them. Source: GNU as manual, "Macro", "Rept", "Irp", "Irpc", "If", "Include".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from .expressions import AsmError, unescape
from .statements import LABEL, LineError, Where, codes, split

DEEPEST = 100
"""Macros in macros, and repetitions in them."""
MOST = 1 << 20
"""Lines that macros may become: a program has 4,096 instructions."""

Code = tuple[str, Where]
"""A statement's text, and where it is written."""

_NAME = re.compile(r"[A-Za-z_.$][\w.$]*")
_ENDS = {".macro": ".endm", ".rept": ".endr", ".irp": ".endr", ".irpc": ".endr"}
_ENDINGS = {".endm": ".endm", ".endmacro": ".endm", ".endr": ".endr"}
_COMPARED: dict[str, Callable[[int], bool]] = {
    ".if": lambda n: n != 0,
    ".ifne": lambda n: n != 0,
    ".ifeq": lambda n: n == 0,
    ".ifgt": lambda n: n > 0,
    ".ifge": lambda n: n >= 0,
    ".iflt": lambda n: n < 0,
    ".ifle": lambda n: n <= 0,
}
_CONDITIONS = {
    *_COMPARED,
    *(".ifdef", ".ifndef", ".ifnotdef", ".ifb", ".ifnb", ".ifc", ".ifnc", ".ifeqs", ".ifnes"),
}


@dataclass(frozen=True)
class Parameter:
    name: str
    default: str | None = None
    required: bool = False
    rest: bool = False


@dataclass(frozen=True)
class Macro:
    parameters: tuple[Parameter, ...]
    body: tuple[Code, ...]


@dataclass
class _Level:
    """Text that is being read: the file, or what a macro or a repetition became."""

    lines: Iterator[Code]
    macro: bool = False
    conditions: int = 0
    """How many were open when it began."""


@dataclass
class _Condition:
    where: Where
    outer: bool
    """The text around it is taken."""
    taken: bool
    """One of its parts was."""
    now: bool
    otherwise: bool = False


@dataclass
class Macros:
    """``value``: of an expression, at this place of the text. ``defined``: whether a symbol is."""

    value: Callable[[str], int]
    defined: Callable[[str], bool]
    _known: dict[str, Macro] = field(default_factory=dict)
    _levels: list[_Level] = field(default_factory=list)
    _conditions: list[_Condition] = field(default_factory=list)
    _used: int = 0
    _lines: int = 0

    def expand(self, text: str, file: str) -> Iterator[Code]:
        """The statements that are left. Raises LineError."""
        self._known.clear()
        self._conditions.clear()
        self._levels = [_Level(codes(text, file))]
        while (code := self._next()) is not None:
            text, where = code
            try:
                yield from self._take(text, where)
            except LineError:
                raise
            except AsmError as error:
                raise LineError(where, str(error)) from None
        if self._conditions:
            raise LineError(self._conditions[-1].where, "this condition has no .endif")

    def _next(self) -> Code | None:
        while self._levels:
            level = self._levels[-1]
            code = next(level.lines, None)
            if code is not None:
                return code
            if len(self._conditions) > level.conditions and len(self._levels) > 1:
                where = self._conditions[-1].where
                raise LineError(where, "this condition has no .endif in its macro or repetition")
            self._levels.pop()
        return None

    def _take(self, text: str, where: Where) -> Iterator[Code]:
        match = LABEL.match(text)
        labels = ""
        while match:
            labels += match[0]
            text = text[match.end() :]
            match = LABEL.match(text)
        word, rest = _word(text)
        if self._condition(word, rest, where) or not self._taking():
            return
        if labels:
            yield labels, where
        if word in _ENDS:
            self._block(word, rest, where)
        elif word in _ENDINGS:
            raise AsmError(f"{word} without {'.macro' if 'm' in word else '.rept or .irp'}")
        elif word == ".exitm":
            self._leave()
        elif word == ".purgem":
            if self._known.pop(rest.strip().lower(), None) is None:
                raise AsmError(f"there is no macro {rest.strip()!r}")
        elif word == ".include":
            self._include(rest, where)
        elif word in (".error", ".err"):
            raise AsmError(_said(rest) or f"{word} was met")
        elif word in self._known:
            self._call(word, self._known[word], rest, where)
        elif text.strip():
            yield text, where

    # -- conditions

    def _taking(self) -> bool:
        return not self._conditions or self._conditions[-1].now

    def _condition(self, word: str, rest: str, where: Where) -> bool:
        """Whether it was one of these words."""
        if word in _CONDITIONS:
            outer = self._taking()
            holds = outer and self._holds(word, rest)
            self._conditions.append(_Condition(where, outer, holds, holds))
            return True
        if word not in (".else", ".elseif", ".endif"):
            return False
        base = self._levels[-1].conditions if self._levels else 0
        if len(self._conditions) <= base:
            raise AsmError(f"{word} without .if")
        if word == ".endif":
            self._conditions.pop()
            return True
        here = self._conditions[-1]
        if here.otherwise:
            raise AsmError(f"{word} after .else")
        here.otherwise = word == ".else"
        here.now = here.outer and not here.taken and (here.otherwise or self._holds(".if", rest))
        here.taken = here.taken or here.now
        return True

    def _holds(self, word: str, rest: str) -> bool:
        if word in _COMPARED:
            return _COMPARED[word](self.value(rest))
        if word in (".ifdef", ".ifndef", ".ifnotdef"):
            return self.defined(rest.strip()) == (word == ".ifdef")
        if word in (".ifb", ".ifnb"):
            return (not rest.strip()) == (word == ".ifb")
        pair = split(rest)
        if len(pair) != 2:
            raise AsmError(f"{word} compares two texts, with a comma between them")
        if word in (".ifeqs", ".ifnes"):
            return (_said(pair[0]) == _said(pair[1])) == (word == ".ifeqs")
        return (_unquoted(pair[0]) == _unquoted(pair[1])) == (word == ".ifc")

    # -- what is read again

    def _block(self, word: str, rest: str, where: Where) -> None:
        body = tuple(self._body(word, where))
        if word == ".macro":
            name, parameters = _head(rest)
            self._known[name] = Macro(parameters, body)
            return
        if word == ".rept":
            count = self.value(rest)
            if count < 0:
                raise AsmError(f"{rest.strip()} is {count}: it cannot be repeated so often")
            self._enter(code for _ in range(count) for code in body)
            return
        name, _, values = rest.partition(",")
        parameter = Parameter(name.strip().lstrip("\\"))
        if not _NAME.fullmatch(parameter.name):
            raise AsmError(f"{word} needs a name and, behind a comma, its values")
        each = [_unquoted(v) for v in _arguments(values)]
        if word == ".irpc":
            each = list(_unquoted(values.strip()))
        self._enter(
            code
            for value in each or [""]
            for code in _filled(body, {parameter.name: value}, self._used, None)
        )

    def _body(self, word: str, where: Where) -> Iterator[Code]:
        """Up to the end that belongs to it."""
        open_ones = [word]
        level = self._levels[-1]
        for text, place in level.lines:
            behind = LABEL.sub("", text)
            inner = _word(behind)[0]
            if inner in _ENDS:
                open_ones.append(inner)
            elif inner in _ENDINGS:
                if _ENDS[open_ones[-1]] != _ENDINGS[inner]:
                    raise LineError(place, f"{inner} inside {open_ones[-1]}")
                open_ones.pop()
                if not open_ones:
                    return
            yield text, place
        raise LineError(where, f"{word} has no {_ENDS[word]}")

    def _enter(self, lines: Iterator[Code], macro: bool = False) -> None:
        if len(self._levels) > DEEPEST:
            raise AsmError(f"macros are nested more than {DEEPEST} deep: one that uses itself?")
        self._levels.append(_Level(self._counted(lines), macro, len(self._conditions)))

    def _counted(self, lines: Iterator[Code]) -> Iterator[Code]:
        for line in lines:
            self._lines += 1
            if self._lines > MOST:
                raise LineError(line[1], f"macros and repetitions give more than {MOST} lines")
            yield line

    def _leave(self) -> None:
        while self._levels and not self._levels[-1].macro:
            self._levels.pop()
        if not self._levels:
            raise AsmError(".exitm outside a macro")
        del self._conditions[self._levels.pop().conditions :]

    def _include(self, rest: str, where: Where) -> None:
        name = _said(rest)
        for folder in (Path(where.file).parent, Path()):
            try:
                text = (folder / name).read_text()
            except (OSError, UnicodeDecodeError):
                continue
            self._enter(codes(text, str(folder / name)))
            return
        raise AsmError(f"{name!r} cannot be read, neither beside {where.file} nor here")

    def _call(self, name: str, macro: Macro, rest: str, where: Where) -> None:
        given = _given(name, macro.parameters, rest)
        number = self._used
        self._used += 1
        self._enter(_filled(macro.body, given, number, where), macro=True)


def _word(text: str) -> tuple[str, str]:
    """The first word, in lower case, and what is behind it."""
    word, _, rest = text.strip().replace("\t", " ").partition(" ")
    return word.lower(), rest.strip()


def _said(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        return unescape(text[1:-1])
    return text


def _unquoted(text: str) -> str:
    """An argument: quotation marks hold it together and are none of it."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1].replace('\\"', '"')
    return text


def _head(text: str) -> tuple[str, tuple[Parameter, ...]]:
    match = _NAME.match(text)
    if match is None:
        raise AsmError(".macro needs a name")
    found: list[Parameter] = []
    for piece in _arguments(re.sub(r"\s*([=:])\s*", r"\1", text[match.end() :].lstrip(" ,"))):
        name, equals, default = piece.partition("=")
        name, _, kind = name.partition(":")
        if not _NAME.fullmatch(name) or kind not in ("", "req", "vararg"):
            raise AsmError(f"{piece!r} is no parameter: name, name=default, name:req, name:vararg")
        if found and found[-1].rest:
            raise AsmError(f"{found[-1].name}:vararg must be the last parameter")
        if any(p.name == name for p in found):
            raise AsmError(f"the parameter {name!r} is named twice")
        found.append(
            Parameter(name, _unquoted(default) if equals else None, kind == "req", kind == "vararg")
        )
    return match[0].lower(), tuple(found)


def _arguments(text: str) -> list[str]:
    """Between commas, or between spaces that no operator is beside."""
    found: list[str] = []
    for piece in split(text):
        words = re.findall(r'"(?:\\.|[^"\\])*"|[^\s"]+|\s+', piece)
        current, depth = "", 0
        for n, word in enumerate(words):
            if (
                word.isspace()
                and depth == 0
                and not re.search(r"[-+*/%&|^~(<>=!:]$", words[n - 1])
                and not re.match(r"[+*/%&|^)<>=!:]|-\s", words[n + 1] + " ")
            ):
                found.append(current)
                current = ""
                continue
            depth += word.count("(") - word.count(")")
            current += word
        found.append(current)
    return found


def _given(name: str, parameters: tuple[Parameter, ...], rest: str) -> dict[str, str]:
    given = {p.name: p.default for p in parameters}
    arguments = _arguments(rest)
    if parameters and parameters[-1].rest and len(arguments) >= len(parameters):
        pieces = split(rest)
        kept = len(parameters) - 1
        arguments = [*pieces[:kept], ", ".join(pieces[kept:])] if len(pieces) > kept else arguments
    place = 0
    for argument in arguments:
        named = re.match(r"([A-Za-z_.$][\w.$]*)\s*=(?!=)\s*", argument)
        if named and named[1] in given:
            given[named[1]] = _unquoted(argument[named.end() :])
            continue
        if place == len(parameters):
            raise AsmError(f"the macro {name!r} takes {len(parameters)} arguments: "
                           f"{argument!r} is one more")  # fmt: skip
        if argument:
            rest_of_all = parameters[place].rest
            given[parameters[place].name] = argument if rest_of_all else _unquoted(argument)
        place += 1
    for p in parameters:
        if p.required and not given[p.name]:
            raise AsmError(f"the macro {name!r} needs its argument {p.name!r}")
    return {key: value or "" for key, value in given.items()}


def _filled(
    body: tuple[Code, ...], given: dict[str, str], number: int, used: Where | None
) -> Iterator[Code]:
    """``used``: where the macro is; a repetition's lines are where they are written."""

    def put(match: re.Match[str]) -> str:
        if match[0] == "\\()":
            return ""
        if match[0] == "\\@":
            return str(number) if used is not None else match[0]
        return given.get(match[1], match[0])

    for text, where in body:
        place = replace(where, used=used) if used is not None else where
        yield re.sub(r"\\(?:([A-Za-z_$][\w$]*)|@|\(\))", put, text), place
