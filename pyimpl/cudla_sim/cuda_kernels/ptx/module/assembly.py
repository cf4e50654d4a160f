"""What a module of PTX is made of: variables and functions (PTX ISA, "Syntax", "State Spaces,
Types, and Variables", "Kernel and Function Directives")."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..scope import TYPES, CannotTranslate

SPACES = ("global", "const", "shared", "local", "param", "reg")
_LINKAGE = ("visible", "extern", "weak", "common")
_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LINE = re.compile(r"\.(version|target|address_size|file)\b[^\n]*|@@\w+[^\n]*")
_WORD = re.compile(r"\.?[\w$%]+")
_THREADS = re.compile(r"\.(?:maxntid|reqntid)\s+([\d\s,]+)")
_FILE = re.compile(r'\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"(?:\s*;)?')
_NAME = re.compile(r"^[A-Za-z_$%][\w$]*$")


@dataclass(frozen=True)
class Place:
    """A variable or parameter: *count* elements of *kind*; None where the number is not given."""

    space: str
    kind: str
    name: str
    count: int | None = 1
    alignment: int = 0
    array: bool = False
    linkage: str = ""
    values: str = ""
    """What it begins as, as it is written."""

    @property
    def element(self) -> int:
        """Bytes of one element."""
        return size_of(self.kind)

    @property
    def size(self) -> int:
        return self.element * (self.count or 0)


@dataclass(frozen=True)
class Function:
    """*body* is None of a declaration; *line* is where it begins in the text of the module."""

    entry: bool
    name: str
    linkage: str
    returned: tuple[Place, ...]
    parameters: tuple[Place, ...]
    threads: int
    body: str | None
    line: int


@dataclass
class Assembly:
    """A module: *files* are those that ``.loc`` names by number."""

    variables: list[Place] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)


def size_of(kind: str) -> int:
    """Bytes of a register or element of a type. Raises CannotTranslate."""
    bits = re.search(r"\d+", kind)
    if kind not in TYPES or bits is None:
        raise CannotTranslate(f"the type .{kind}")
    return int(bits[0]) // 8 * (2 if kind.endswith("x2") else 1)


def parse(text: str) -> Assembly:
    """Raises CannotTranslate."""
    text = _COMMENT.sub(_blank, text)
    made = Assembly()
    at = 0
    while (at := _behind_space(text, at)) < len(text):
        line = _LINE.match(text, at)
        if line is not None:
            if found := _FILE.match(line[0]):
                made.files[found[1]] = found[2]
            at = line.end()
            continue
        if text.startswith(".section", at):
            at = closed(text, text.index("{", at)) + 1
            continue
        at = _declaration(text, at, made)
    return made


def _blank(found: re.Match[str]) -> str:
    """Comments away, lines kept."""
    return found[0] if found[0].startswith('"') else " " + "\n" * found[0].count("\n")


def _behind_space(text: str, at: int) -> int:
    while at < len(text) and (text[at].isspace() or text[at] in ";\0"):
        at += 1
    return at


def closed(text: str, at: int) -> int:
    """The place of the bracket that closes the one at *at*. Raises CannotTranslate."""
    opening = text[at]
    closing = {"{": "}", "(": ")", "[": "]"}[opening]
    depth = 0
    for found in re.finditer(rf'"(?:[^"\\\n]|\\.)*"|[{re.escape(opening + closing)}]', text[at:]):
        depth += (found[0] == opening) - (found[0] == closing)
        if depth == 0:
            return at + found.start()
    raise CannotTranslate(f"{opening} without {closing}")


def _declaration(text: str, at: int, made: Assembly) -> int:
    """Reads one; the place behind it."""
    begin, linkage = at, ""
    while True:
        word = _WORD.match(text, at)
        if word is None:
            raise CannotTranslate(text[begin:].split("\n")[0][:80])
        name = word[0].removeprefix(".")
        if name not in _LINKAGE:
            break
        linkage, at = name, _behind_space(text, word.end())
    if name in ("entry", "func"):
        return _function(text, word.end(), name == "entry", linkage, made)
    end = _ended(text, at)
    statement = " ".join(text[at:end].split())
    if name == "alias":
        to, of = statement.removeprefix(".alias").split(",")
        made.aliases[to.strip()] = of.strip()
    elif name in SPACES:
        made.variables += places(statement, linkage)
    elif name != "pragma":
        raise CannotTranslate(statement[:80])
    return end + 1


def _ended(text: str, at: int) -> int:
    """The place of the next ; outside of braces."""
    while at < len(text) and text[at] != ";":
        at = closed(text, at) + 1 if text[at] == "{" else at + 1
    return at


def _function(text: str, at: int, entry: bool, linkage: str, made: Assembly) -> int:
    at = _behind_attributes(text, at)
    returned = ""
    if text[at] == "(":
        end = closed(text, at)
        returned, at = text[at + 1 : end], _behind_space(text, end + 1)
    name = _WORD.match(text, at)
    if name is None:
        raise CannotTranslate(f"a function without a name: {text[at : at + 40]}")
    at = _behind_space(text, name.end())
    given = ""
    if at < len(text) and text[at] == "(":
        end = closed(text, at)
        given, at = text[at + 1 : end], end + 1
    begin = at
    while at < len(text) and text[at] not in "{;":
        at += 1
    limits = _THREADS.search(text[begin:at])
    threads = 1
    for number in re.findall(r"\d+", limits[1]) if limits else ():
        threads *= int(number)
    body = None
    end = at
    if at < len(text) and text[at] == "{":
        end = closed(text, at)
        body = text[at + 1 : end]
    made.functions.append(
        Function(
            entry,
            name[0],
            linkage,
            _listed(returned),
            _listed(given),
            threads if limits else 0,
            body,
            text.count("\n", 0, at) + 1,
        )
    )
    return end + 1


def _behind_attributes(text: str, at: int) -> int:
    at = _behind_space(text, at)
    while text.startswith(".attribute", at):
        at = _behind_space(text, text.index(")", at) + 1)
    return at


def _listed(text: str) -> tuple[Place, ...]:
    """Parameters between commas."""
    return tuple(
        place
        for part in text.split(",")
        if part.strip()
        for place in places(" ".join(part.split()))
    )


def places(statement: str, linkage: str = "") -> list[Place]:
    """What ``.space {.align n} {.v2} .type name[count] {= values}, ...`` declares.

    Raises CannotTranslate.
    """
    words, rest = _words(statement)
    space = words[0]
    kinds = [word for word in words[1:] if word in TYPES]
    if space not in SPACES or len(kinds) != 1:
        raise CannotTranslate(statement[:80])
    alignment = 0 if "ptr" in words else _alignment(statement)  # that of what it points to
    factor = next((int(word[1]) for word in words if word in ("v2", "v4")), 1)
    made = []
    for part in _parts(rest):
        named, _, values = part.partition("=")
        name, *sizes = (piece.strip() for piece in named.replace("]", "").split("["))
        row = re.fullmatch(r"(.+)<(\d+)>", name)
        names = [f"{row[1]}{i}" for i in range(int(row[2]))] if row else [name]
        count: int | None = factor
        for size in sizes:
            count = None if not size or count is None else count * int(size, 0)
        if count is None and values:
            count = len(listed_values(values)) or None
        for each in names:
            if not _NAME.match(each):
                raise CannotTranslate(statement[:80])
            made.append(
                Place(
                    space,
                    kinds[0],
                    each,
                    count,
                    alignment or size_of(kinds[0]) * factor if kinds[0] != "pred" else 0,
                    bool(sizes) or factor > 1,
                    linkage,
                    values.strip(),
                )
            )
    return made


def _words(statement: str) -> tuple[list[str], str]:
    """The words with a point before the names, and what is behind the last one."""
    words, at = [], 0
    pattern = re.compile(
        r"\s*(?:\.(align)\s+\d+|\.(attribute)\s*\([^)]*\)|\.(\w+(?:::\w+)?))", re.ASCII
    )
    while found := pattern.match(statement, at):
        words.append(found[1] or found[2] or found[3])
        at = found.end()
    return words, statement[at:].strip()


def _alignment(statement: str) -> int:
    found = re.search(r"\.align\s+(\d+)", statement.partition("=")[0])
    return int(found[1]) if found else 0


def _parts(text: str) -> list[str]:
    """Between commas outside of braces."""
    parts, depth, begin = [], 0, 0
    for at, sign in enumerate(text):
        depth += (sign in "{([") - (sign in "})]")
        if sign == "," and depth == 0:
            parts.append(text[begin:at].strip())
            begin = at + 1
    return [part for part in [*parts, text[begin:].strip()] if part]


def listed_values(text: str) -> list[str]:
    """Values of an array, of whatever dimensions, in order."""
    return [part for part in re.split(r"[\s,{}]+", re.sub(r"\s*\+\s*", "+", text)) if part]
