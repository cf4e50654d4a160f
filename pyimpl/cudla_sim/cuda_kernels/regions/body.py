"""The body of a kernel: its statements and its variables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..kernels import CLOSING, SHARED, Kernel
from ..tokens import MARK, NUMBER, SPACE, STRING, WORD, Token
from .declarations import BUILT_IN, Declarator, declarators
from .names import BY_VALUE, OF_A_THREAD, OF_THE_BLOCK
from .waiting import BARRIERS, STEP, Waiting

_NO_OPERANDS = ("return", "else", "do", "case", "throw", "delete", "new", "goto", "co_return")
_NOT_SPLIT = ("goto", "try", "catch", "throw", "co_return", "co_yield", "co_await")
_HOISTED = (
    "using", "typedef", "static_assert", "enum", "static", "extern", "constexpr", "namespace",
    SHARED,
)  # fmt: skip


class Unsplit(Exception):
    """The kernel stays as it is; why."""


@dataclass(eq=False, slots=True)
class Node:
    """A statement: the places of its first text and behind its last. *heads* are what stands in the
    brackets of an ``if`` or a loop, *parts* the statements within."""

    kind: str
    first: int
    end: int
    parts: list[Node] = field(default_factory=list)
    heads: list[tuple[int, int]] = field(default_factory=list)
    waits: bool = False
    declares: list[Variable] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Variable:
    """A name that is declared in the body, from one place of it to another. *changes* are where it
    may get another value. A parameter has no declarator."""

    name: str
    begin: int
    end: int
    declared: Declarator | None
    node: Node | None = None
    shared: bool = False
    changes: list[int] = field(default_factory=list)
    mentions: list[int] = field(default_factory=list)
    addressed: bool = False


class Body:
    """Raises Unsplit where something is not understood. *texts* are the tokens that count."""

    def __init__(self, found: list[Token], kernel: Kernel, waiting: Waiting) -> None:
        self.found = found
        self.kernel = kernel
        self.waiting = waiting
        self.places = [
            index
            for index in range(kernel.body, kernel.end + 1)
            if (found[index].kind not in (SPACE, MARK) and found[index].text)
            or STEP in found[index].text
        ]
        self.tokens = [found[index] for index in self.places]
        self.texts = [token.text for token in self.tokens]
        self.match = self._brackets()
        self._understood()
        self.blocks = self._groups()
        self.parameters = self._parameters()
        self.variables: dict[str, list[Variable]] = {v.name: [v] for v in self.parameters}
        self.root = self._statement(0)
        self._declared(self.root, self.root.end)
        self._mentioned()
        if not any(node.kind == "barrier" for node in nodes(self.root)):
            raise Unsplit("no barrier")

    # --- texts

    def is_operand(self, at: int) -> bool:
        """Whether what is there ends an operand: what follows is an operator of two."""
        token = self.tokens[at]
        if token.kind == WORD:
            return token.text not in _NO_OPERANDS
        return token.kind in (NUMBER, STRING) or token.text in (")", "]")

    def joined(self, at: int) -> bool:
        """Whether nothing lies between what is there and what follows."""
        return self.places[at + 1] == self.places[at] + 1

    def text(self, begin: int, end: int) -> str:
        """What stands there, on one line."""
        if begin >= end:
            return ""
        taken = self.found[self.places[begin] : self.places[end - 1] + 1]
        return " ".join("".join(" " if t.kind in (SPACE, MARK) else t.text for t in taken).split())

    def variable(self, at: int) -> Variable | None:
        """What the name there means, if it is declared in the body."""
        name = self.texts[at]
        if name not in self.variables or self.texts[at - 1] in (".", "->", "::"):
            return None
        fitting = [v for v in self.variables[name] if v.begin <= at < v.end]
        return max(fitting, key=lambda v: v.begin, default=None)

    def conjuncts(self, begin: int, end: int) -> list[tuple[int, int]]:
        """What && joins there; the whole where something else does."""
        parts, first, at = [], begin, begin
        while at < end:
            if self.texts[at] in CLOSING:
                at = self.match[at]
            elif self.texts[at] in ("|", "?", ","):
                return [(begin, end)]
            elif self.texts[at] == self.texts[at + 1] == "&" and self.joined(at):
                parts.append((first, at))
                first = at = at + 2
                continue
            at += 1
        return [*parts, (first, end)]

    def angle(self, at: int, end: int) -> int:
        """Where the < there is closed; -1 where it compares."""
        depth = 0
        while at < end:
            text = self.texts[at]
            if text in CLOSING:
                at = self.match[at]
            elif text == "<":
                depth += 1
            elif text in (">", ">>>"):
                depth -= len(text)
                if depth <= 0:
                    return at
            elif text in (";", "=", "&", "|"):
                return -1
            at += 1
        return -1

    def _brackets(self) -> dict[int, int]:
        match: dict[int, int] = {}
        stack: list[int] = []
        for at, text in enumerate(self.texts):
            if text in CLOSING:
                stack.append(at)
            elif text in CLOSING.values():
                if not stack or CLOSING[self.texts[stack[-1]]] != text:
                    raise Unsplit("brackets")
                match[stack[-1]] = at
                match[at] = stack.pop()
        if stack:
            raise Unsplit("brackets")
        return match

    def _understood(self) -> None:
        for at, text in enumerate(self.texts):
            if text in _NOT_SPLIT or text == "<<<":
                raise Unsplit(text)
            if text == "[" and not self.is_operand(at - 1):
                raise Unsplit("a lambda or an attribute")
            if (
                text == "auto"
                and self.texts[at + 1] in ("[", "&")
                and "[" in self.texts[at : at + 4]
            ):
                raise Unsplit("structured bindings")
            if text in ("struct", "class", "union"):
                raise Unsplit(f"a {text} of its own")

    # --- statements

    def _statement(self, at: int) -> Node:
        text = self.texts[at]
        if STEP in text:
            return self._step(at)
        if text == "{":
            return self._block(at)
        if text == "if":
            return self._if(at)
        if text in ("for", "while", "switch"):
            return self._loop(at, text)
        if text == "do":
            return self._do(at)
        if text in ("case", "default"):
            end = self.texts.index(":", at)
            return self._plain("label", at, end + 1)
        if text in ("break", "continue"):
            return Node(text, at, at + 2)
        if text == "return":
            if self.texts[at + 1] != ";":
                raise Unsplit("a value is returned")
            return Node("return", at, at + 2)
        if text == "else":
            raise Unsplit("else")
        end = at
        while self.texts[end] != ";":
            end = self.match[end] if self.texts[end] in CLOSING else end
            end += 1
            if self.texts[end] in CLOSING.values():
                raise Unsplit("a statement without its end")
        if self.texts[at + 1] == ":" and self.texts[at + 2] != ":":
            raise Unsplit("a label")
        return self._simple(at, end + 1)

    def _simple(self, at: int, end: int) -> Node:
        if self._is_barrier(self.texts[at:end]):
            return Node("barrier", at, end, waits=True)
        if self.texts[at] in _HOISTED:
            return self._plain("hoisted", at, end)
        return self._plain("plain", at, end)

    def _plain(self, kind: str, at: int, end: int) -> Node:
        self._no_waiting(at, end)
        return Node(kind, at, end)

    def _no_waiting(self, at: int, end: int) -> None:
        for place in range(at, end):
            token = self.tokens[place]
            of_block = self.texts[place - 1] == "." and self.texts[place - 2] in self.blocks
            if of_block and token.text in (*OF_THE_BLOCK, *OF_A_THREAD):
                continue
            if STEP in token.text or self.waiting.may(token, self.texts[place + 1]):
                raise Unsplit(f"{token.text.strip()} within a statement")

    def _step(self, at: int) -> Node:
        text = self.texts[at].replace(" ", "").replace("\n", "")
        if not all(part.startswith("::cudla_sim::in_step(") for part in text.split(";")[:-1]) or (
            text[-1] != ";"
        ):
            raise Unsplit("lanes wait within a statement")
        return Node("step", at, at + 1, waits=True)

    def _is_barrier(self, texts: list[str]) -> bool:
        texts = texts[texts[0] == "::" :]
        if texts[0] in BARRIERS:
            return texts[1] == "(" and texts[-2:] == [")", ";"] and "(" not in texts[2:]
        if texts[:3] in (["cg", "::", "sync"], ["cooperative_groups", "::", "sync"]):
            texts = texts[2:]
        if texts[:2] == ["sync", "("] and texts[-2:] == [")", ";"]:
            return self._is_block(texts[2:-2])
        return texts[-5:] == [".", "sync", "(", ")", ";"] and self._is_block(texts[:-5])

    def _is_block(self, texts: list[str]) -> bool:
        """Whether that is all threads of the block."""
        if len(texts) == 1:
            return texts[0] in self.blocks
        return texts[-3:] == ["this_thread_block", "(", ")"] and "." not in texts

    def _groups(self) -> set[str]:
        """Names of variables that are all threads of the block."""
        names: set[str] = set()
        others: set[str] = set()
        for at, text in enumerate(self.texts):
            if text == "=" and self.texts[at + 1] != "=" and self.tokens[at - 1].kind == WORD:
                end = self.texts.index(";", at)
                value = self.texts[at + 1 : end]
                is_block = value[-3:] == ["this_thread_block", "(", ")"] and len(value) <= 5
                (names if is_block else others).add(self.texts[at - 1])
        return names - others

    def _block(self, at: int) -> Node:
        end = self.match[at]
        parts, inner = [], at + 1
        while inner < end:
            parts.append(self._statement(inner))
            inner = parts[-1].end
        return _with_parts(Node("block", at, end + 1), parts)

    def _if(self, at: int) -> Node:
        opening = at + 2 if self.texts[at + 1] == "constexpr" else at + 1
        close = self._head(opening)
        parts = [self._statement(close + 1)]
        end = parts[0].end
        if self.texts[end] == "else":
            parts.append(self._statement(end + 1))
            end = parts[1].end
        return _with_parts(Node("if", at, end, heads=[(opening + 1, close)]), parts)

    def _head(self, opening: int) -> int:
        if self.texts[opening] != "(":
            raise Unsplit("no condition")
        close = self.match[opening]
        self._no_waiting(opening, close)
        return close

    def _loop(self, at: int, kind: str) -> Node:
        close = self._head(at + 1)
        heads = [(at + 2, close)]
        if kind == "for":
            ends = [i for i in range(at + 2, close) if self.texts[i] == ";"]
            if len(ends) != 2:
                raise Unsplit("for of a range")
            heads = [(at + 2, ends[0]), (ends[0] + 1, ends[1]), (ends[1] + 1, close)]
        part = self._statement(close + 1)
        if kind == "switch" and part.waits:
            raise Unsplit("a barrier in a switch")
        return _with_parts(Node(kind, at, part.end, heads=heads), [part])

    def _do(self, at: int) -> Node:
        part = self._statement(at + 1)
        if self.texts[part.end] != "while":
            raise Unsplit("do without while")
        close = self._head(part.end + 1)
        return _with_parts(Node("do", at, close + 2, heads=[(part.end + 2, close)]), [part])

    # --- variables

    def _parameters(self) -> list[Variable]:
        found, kernel = self.found, self.kernel
        texts = [t for t in found[kernel.place + 1 : kernel.body] if t.kind not in (SPACE, MARK)]
        parts: list[list[Token]] = [[]]
        depth = 0
        for token in texts[1:]:
            depth += (token.text in ("(", "[", "<", "{")) - (token.text in (")", "]", ">", "}"))
            if depth < 0:
                break
            if token.text == "," and depth == 0:
                parts.append([])
            else:
                parts[-1].append(token)
        names = []
        for part in parts:
            own = [token.text for token in part]
            own = own[: own.index("=")] if "=" in own else own
            if "&" in own or "." in own:
                raise Unsplit("a parameter that is a reference or a pack")
            words = [text for text in own if text.replace("_", "a").isalnum()]
            if len(words) > 1:
                names.append(words[-1])
        return [Variable(name, 0, len(self.texts), None) for name in names]

    def _declared(self, node: Node, end: int) -> None:
        """*end*: behind the block that the statement is in."""
        if node.kind in ("plain", "hoisted"):
            self._add(node, node.first, node.end - 1, end)
        elif node.kind == "for":
            self._add(node, *node.heads[0], node.end)
        elif node.heads and declarators(self, *node.heads[-1]):
            raise Unsplit("a condition that declares something")
        for part in node.parts:
            inner = node.end if node.kind in ("block", "for", "if", "while", "do") else end
            self._declared(part, inner)

    def _add(self, node: Node, begin: int, end: int, visible: int) -> None:
        shared = node.kind == "hoisted"
        found = declarators(self, begin, end)
        if found is None:
            if not shared and self._looks_declared(begin, end):
                raise Unsplit("a declaration that is not understood")
            if shared and self.texts[begin] not in ("using", "typedef", "static_assert", "enum"):
                raise Unsplit("a declaration that is not understood")
            return
        for declared in found:
            made = Variable(declared.name, declared.at, visible, declared, node, shared)
            node.declares.append(made)
            self.variables.setdefault(declared.name, []).append(made)

    def _looks_declared(self, begin: int, end: int) -> bool:
        if self.texts[begin] in BUILT_IN or self.texts[begin + 1 : begin + 3] == ["(", "*"]:
            return True
        at = begin
        while at < end - 1:
            if self.texts[at] in CLOSING:
                at = self.match[at]
            elif (
                self.tokens[at].kind == self.tokens[at + 1].kind == WORD
                and self.texts[at] not in (*_NO_OPERANDS, "sizeof", "asm", "__asm__", "volatile")
                and self.texts[at + 1] not in ("volatile", "__volatile__")
            ):
                return True
            at += 1
        return False

    def _mentioned(self) -> None:
        calls = self._calls()
        for at, token in enumerate(self.tokens):
            if token.kind != WORD:
                continue
            variable = self.variable(at)
            if variable is None:
                continue
            variable.mentions.append(at)
            if variable.declared is not None and variable.declared.at == at:
                continue
            if token.text in self.blocks:
                continue
            if self._is_addressed(at):
                variable.addressed = True
                variable.changes.append(at)
            elif self._is_changed(at) or (
                calls.get(at, False) and not (variable.declared and variable.declared.constant)
            ):
                variable.changes.append(at)

    def _is_changed(self, at: int) -> bool:
        texts = self.texts
        if at >= 2 and texts[at - 1] == texts[at - 2] and texts[at - 1] in ("+", "-"):
            return True
        behind = at + 1
        while True:
            if texts[behind] == "." and texts[behind + 2] == "(":
                return True  # a function of the object
            if texts[behind] == ".":
                behind += 2
            elif texts[behind] == "[" and not self._is_pointer(at):
                behind = self.match[behind] + 1
            else:
                break
        return self.assigns(behind) > 0 or (
            texts[behind] == texts[behind + 1] and texts[behind] in ("+", "-")
        )

    def assigns(self, at: int) -> int:
        """How many texts the operator there has that gives the operand before it a value; 0."""
        texts = self.texts
        if texts[at] == "=":
            return 0 if texts[at + 1] == "=" else 1
        if texts[at] in "+-*/%&|^" and texts[at + 1] == "=" and texts[at + 2] != "=":
            return 2
        if texts[at] in "<>" and texts[at + 1] == texts[at] and texts[at + 2] == "=":
            return 3
        return 0

    def _is_pointer(self, at: int) -> bool:
        variable = self.variable(at)
        if variable is None or variable.declared is None:
            return True
        return "*" in variable.declared.prefix or variable.shared

    def _is_addressed(self, at: int) -> bool:
        if self.texts[at - 1] != "&":
            return False
        before = at - 2
        if self.texts[before] == "&" and self.joined(before):
            before -= 1
            return not self.is_operand(before)
        return not self.is_operand(before)

    def _calls(self) -> dict[int, bool]:
        """Places of names that are arguments, by themselves, of functions that may change them."""
        given: dict[int, bool] = {}
        for opening, text in enumerate(self.texts):
            if text != "(" or opening == 0:
                continue
            if not self._may_change(opening):
                continue
            for at in range(opening + 1, self.match[opening]):
                if self.texts[at - 1] in ("(", ",") and self.texts[at + 1] in (",", ")"):
                    given[at] = True
        return given

    def _may_change(self, opening: int) -> bool:
        """Whether what is called with that bracket may change what it is given."""
        behind = self.tokens[opening - 1]
        if behind.kind == STRING:  # inline PTX
            return True
        if behind.text == ")":  # a function that is pointed to; else a cast
            return self.texts[self.match[opening - 1] + 1] == "*"
        at = opening - 1
        if behind.text in (">", ">>>"):
            depth = 0
            while at > 0 and self.texts[at] not in (";", "{", "}"):
                depth += self.texts[at].count(">") - (self.texts[at] == "<")
                at -= 1
                if depth == 0:
                    break
        name = self.tokens[at]
        return (
            name.kind == WORD and name.text not in BY_VALUE and self.waiting.may_change(name.text)
        )


def nodes(node: Node) -> Iterator[Node]:
    """The statement and all in it."""
    yield node
    for part in node.parts:
        yield from nodes(part)


def _with_parts(node: Node, parts: list[Node]) -> Node:
    node.parts = parts
    node.waits = any(part.waits for part in parts)
    return node
