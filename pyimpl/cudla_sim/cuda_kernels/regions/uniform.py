"""Which numbers all threads of a block have in common, and which a thread can compute again.

All variables are taken for common ones until something tells otherwise: a value that depends on
the thread, or a change where only some threads come by.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..tokens import WORD
from .body import Body, Node, Unsplit, Variable, nodes
from .names import OF_A_THREAD, OF_THE_BLOCK, PURE, TYPES

_SHAPE = ("blockIdx", "blockDim", "gridDim", "warpSize")
_WORDS = TYPES | {"const", "true", "false", "nullptr", "typename", "std", "cg"}
_WHOLE = ("const", "unsigned", "int", "long", "auto", "uint", "size_t", "uint32_t", "int32_t")


class Uniform:
    """Raises Unsplit where threads may go different ways around a barrier."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.all = [v for same in body.variables.values() for v in same]
        self.common = set(self.all)
        self.inside = [False] * len(body.texts)
        self.constants = body.waiting.constants | set(body.kernel.parameters or ())
        self.loads_until = len(body.texts)
        self.again: set[Variable] = set()
        self._settle()
        self._check(body.root, None)

    def is_common(self, node: Node) -> bool:
        """Whether it is done once for all threads."""
        return node.kind == "hoisted" or self._is_uniform(node)

    # --- what is common

    def _settle(self) -> None:
        before = None
        while before != (len(self.common), self.loads_until):
            before = len(self.common), self.loads_until
            self.loads_until = self._first_return()
            self.inside = [False] * len(self.body.texts)
            self._mark(self.body.root)
            self.again = self._computed_again()
            self.common = {v for v in self.common if self._stays(v)}

    def _stays(self, variable: Variable) -> bool:
        declared = variable.declared
        if variable.shared:
            return True
        if declared is not None and (
            declared.prefix[-1:] == ("&",)
            or declared.dimensions[0] < declared.dimensions[1]
            or "volatile" in self.body.texts[declared.base[0] : declared.base[1]]
            or not (self.inside[declared.at] or self._is_beside(variable))
        ):
            return False
        return all(self.inside[at] for at in variable.changes)

    def _is_beside(self, variable: Variable) -> bool:
        """Whether only others of its declaration depend on the thread."""
        return variable in self.again and not variable.changes and self._declares_uniform(variable)

    def _mark(self, node: Node) -> None:
        """What is done once, from a statement around a barrier on."""
        if node.waits:
            for begin, end in node.heads:
                for at in range(begin, end):
                    self.inside[at] = True
            for part in node.parts:
                self._mark(part)
        elif self.is_common(node):
            for at in range(node.first, node.end):
                self.inside[at] = True

    def _first_return(self) -> int:
        """Where the first thread may be gone: it does not read what others have in common then."""
        return self._return_in(self.body.root, None)

    def _return_in(self, node: Node, loop: Node | None) -> int:
        last = len(self.body.texts)
        if not node.waits and node is not self.body.root:
            returns = any(inner.kind == "return" for inner in nodes(node))
            if returns and not self.is_common(node):
                return (loop or node).first
            return last
        if node.kind in ("for", "while", "do"):
            loop = loop or node
        return min((self._return_in(part, loop) for part in node.parts), default=last)

    def _is_uniform(self, node: Node) -> bool:
        if node.waits or node.kind in ("switch", "label", "hoisted"):
            return False
        if node.kind in ("break", "continue", "return"):
            return True
        if node.kind == "plain":
            return self._does_uniform(node, node.first, node.end - 1)
        heads = list(node.heads)
        if node.kind == "for":
            (begin, end), condition, step = heads
            heads = [condition]
            if not (self._does_uniform(node, begin, end) and self._does_uniform(None, *step)):
                return False
        return all(self.is_value(*head) for head in heads) and all(
            map(self._is_uniform, node.parts)
        )

    def _does_uniform(self, node: Node | None, begin: int, end: int) -> bool:
        """Declarations and assignments, separated by commas."""
        if begin == end:
            return True
        if node is not None and node.declares and node.declares[0].begin < end:
            return all(self._declares_uniform(variable) for variable in node.declares)
        return all(self._assigns_uniform(*part) for part in self._parts(begin, end))

    def _declares_uniform(self, variable: Variable) -> bool:
        declared = variable.declared
        if variable not in self.common or declared is None:
            return False
        begin, end = declared.value
        if begin == end:
            return True
        if self.body.texts[begin] == "=":
            return self.is_value(begin + 1, end)
        return self.body.texts[begin] == "(" and self.is_value(begin + 1, end - 1)

    def _assigns_uniform(self, begin: int, end: int) -> bool:
        texts = self.body.texts
        step = texts[begin] == texts[begin + 1] and texts[begin] in ("+", "-")
        at = begin + 2 if step else begin
        variable = self.body.variable(at)
        if variable is None or variable not in self.common or variable.shared:
            return False
        if step:
            return at + 1 == end
        if at + 3 == end and texts[at + 1] == texts[at + 2] and texts[at + 1] in ("+", "-"):
            return True
        length = self.body.assigns(at + 1)
        return length > 0 and self.is_value(at + 1 + length, end)

    def _parts(self, begin: int, end: int) -> list[tuple[int, int]]:
        parts, first, at = [], begin, begin
        while at < end:
            if self.body.texts[at] in ("(", "[", "{"):
                at = self.body.match[at]
            elif self.body.texts[at] == ",":
                parts.append((first, at))
                first = at + 1
            at += 1
        return [*parts, (first, end)]

    # --- values

    def is_value(self, begin: int, end: int, *, again: bool = False) -> bool:
        """Whether all threads of a block compute the same there; with *again*, whether a thread
        computes the same whenever it does: nothing is read that others may store."""
        return all(self._is_part(at, begin, end, again=again) for at in range(begin, end))

    def is_number(self, begin: int, end: int) -> bool:
        """Whether all threads compute the same there, from what is no memory."""
        signs = any(text in ("[", "->", "*", "&") for text in self.body.texts[begin:end])
        return begin < end and not signs and self.is_value(begin, end)

    def is_thread_x(self, begin: int, end: int) -> bool:
        """Whether that is threadIdx.x, by a name or not."""
        texts = self.body.texts
        if texts[begin:end] == ["threadIdx", ".", "x"]:
            return True
        variable = self.body.variable(begin) if end - begin == 1 else None
        if variable is None or variable not in self.again or variable.declared is None:
            return False
        declared = variable.declared
        value = texts[declared.value[0] : declared.value[1]]
        words = texts[declared.base[0] : declared.base[1]]
        return value == ["=", "threadIdx", ".", "x"] and all(word in _WHOLE for word in words)

    def _is_part(self, at: int, begin: int, end: int, *, again: bool) -> bool:
        body = self.body
        text, token = body.texts[at], body.tokens[at]
        behind = body.texts[at + 1]
        if token.kind == WORD:
            return self._is_name(at, end, again=again)
        loads = not again and at < self.loads_until
        if text == "[" or text == "->":
            return loads
        if text == "*" and (at == begin or not body.is_operand(at - 1) or self._is_cast(at - 1)):
            return loads
        if text == "=":
            return behind == "=" or (body.texts[at - 1] in ("=", "<", ">", "!"))
        if text in ("+", "-") and behind == text and body.joined(at):
            return False
        return text not in ("{", "<<<")

    def _is_cast(self, at: int) -> bool:
        """Whether a ) ends the name of a type."""
        if self.body.texts[at] != ")":
            return False
        words = self.body.texts[self.body.match[at] + 1 : at]
        return all(word in (*TYPES, "const", "*") for word in words)

    def _is_name(self, at: int, end: int, *, again: bool) -> bool:
        body = self.body
        text, before, behind = body.texts[at], body.texts[at - 1], body.texts[at + 1]
        closing = body.angle(at + 1, end) if behind == "<" else -1
        called = behind == "(" or (closing > 0 and body.texts[closing + 1] == "(")
        if before in (".", "->"):
            if not called:
                return True
            return body.texts[at - 2] in (*body.blocks, ")") and (
                text in OF_THE_BLOCK or (again and text in OF_A_THREAD)
            )
        if called:
            return text in PURE or text in TYPES
        if text == "threadIdx":
            return again
        if text in _SHAPE or text in _WORDS:
            return True
        variable = body.variable(at)
        if variable is None:
            return not again or behind == "::" or text in self.constants
        if variable.shared:
            return not again or self._is_address(variable)
        if variable in self.common:
            return not again or not variable.changes
        return again and variable in self._found_again

    def _is_address(self, variable: Variable) -> bool:
        declared = variable.declared
        if declared is None:
            return False
        words = self.body.texts[declared.base[0] : declared.base[1]]
        return declared.dimensions[0] < declared.dimensions[1] or "constexpr" in words

    # --- what a thread computes again

    def _computed_again(self) -> set[Variable]:
        self._found_again: set[Variable] = set()
        if self.body.root.kind == "block":
            self._add_again(self.body.root)
        return self._found_again

    def _add_again(self, node: Node) -> None:
        if not node.waits:
            return
        for part in node.parts:
            if node.kind == "block" and part.kind == "plain" and not self.is_common(part):
                # all of them or none: the statement is left out of the regions
                fresh = [v for v in part.declares if self._is_again(v, part.declares)]
                if part.declares and len(fresh) == len(part.declares):
                    self._found_again.update(fresh)
            self._add_again(part)

    def _is_again(self, variable: Variable, together: Sequence[Variable]) -> bool:
        declared = variable.declared
        if declared is None or variable.changes or "&" in declared.prefix:
            return False
        words = self.body.texts[declared.base[0] : declared.base[1]]
        begin, end = declared.value
        if declared.dimensions[0] < declared.dimensions[1] or "volatile" in words or begin == end:
            return False
        if variable in self.common:
            return True
        earlier = together[: together.index(variable)]
        self._found_again.update(earlier)
        opening = self.body.texts[begin]
        computed = (
            self.is_value(begin + 1, end, again=True)
            if opening == "="
            else opening == "(" and self.is_value(begin + 1, end - 1, again=True)
        )
        self._found_again.difference_update(earlier)
        return computed

    # --- ways around barriers

    def _check(self, node: Node, loop: Node | None) -> None:
        """*loop*: the innermost one around barriers."""
        if not node.waits:
            if not self.is_common(node) and _leaves_loop(node):
                raise Unsplit("some threads leave a loop with a barrier")
            return
        if node.kind == "for":
            (begin, end), condition, step = node.heads
            if not (self._does_uniform(node, begin, end) and self._does_uniform(None, *step)):
                raise Unsplit("a loop with a barrier that depends on the thread")
            heads = [condition]
        else:
            heads = node.heads
        if not all(self.is_value(*head) for head in heads):
            raise Unsplit("a barrier where only some threads may come")
        for part in node.parts:
            self._check(part, node if node.kind in ("for", "while", "do") else loop)


def _leaves_loop(node: Node) -> bool:
    """Whether a ``break`` or ``continue`` is for a loop around the statement."""
    if node.kind in ("break", "continue"):
        return True
    if node.kind in ("for", "while", "do"):
        return False
    if node.kind == "switch":
        return any(inner.kind == "continue" for inner in nodes(node))
    return any(map(_leaves_loop, node.parts))
