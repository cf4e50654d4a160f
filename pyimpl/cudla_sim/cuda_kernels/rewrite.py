"""CUDA C++, preprocessed, to C++: launches, shared memory, kernels by their addresses.

The text keeps its lines, so messages and debuggers name the user's. What things become is declared
in ``include/cuda/kernels/``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from . import inline_ptx
from .kernels import (
    CLOSING,
    GLOBAL,
    SHARED,
    Kernel,
    after,
    angle_opened,
    before,
    begins_body,
    closed,
    kernels,
    opened,
)
from .linkage import as_attributes
from .tokens import MARK, SPACE, WORD, Token, tokens
from .unread import without_library

_WORDS = {
    "__forceinline__": "inline __attribute__((always_inline))",
    "__noinline__": "__attribute__((noinline))",
}
"""No macros: the standard library's headers have them inside ``__attribute__``."""
_DROPPED = ("__attribute__", "alignas")
_ALIGNED = "__attribute__((aligned(128)))"
"""A GPU's shared memory begins at 0: programs read an array of floats as vectors, and exchange low
bits of addresses, without a word about it."""
_ASSERTED = "__assert_fail"


class CannotRewrite(Exception):
    """What is not understood, and where."""


def rewrite(text: str, *, forced_inline: bool = True, separate: bool = False) -> str:
    """Returns C++ for a preprocessed text. Raises CannotRewrite.

    Without *forced_inline* ``__forceinline__`` is a hint only: g++ refuses functions that cannot be
    inlined. *separate* is nvcc's ``-rdc=true``.
    """
    found = without_library(text)
    as_attributes(found, separate=separate)
    return _Rewriter(found, forced_inline).run()


class _Rewriter:
    def __init__(self, found: list[Token], forced_inline: bool) -> None:
        self.found = found
        self.words = _WORDS if forced_inline else {**_WORDS, "__forceinline__": "inline"}
        self.kernels = kernels(found)
        self.overloaded = self._overloaded()
        self.generic = self.overloaded | {
            k.name for k in self.kernels if k.parameters is not None or k.defaults
        }
        self.functions = self._in_functions()
        self.known = {kernel.name for kernel in self.kernels}
        self.shared = self.overloaded | self._declared_on_the_host()
        self.aliases: dict[str, str] = {}

    def run(self) -> str:
        self._words()
        self._asserts()
        self._ptx()
        self._shared()
        self._notes()
        self._launches()
        return "".join(token.text for token in self.found)

    # --- words

    def _words(self) -> None:
        inside = 0  # of an __attribute__
        for index, token in enumerate(self.found):
            if token.text == "__attribute__":
                inside = max(inside, closed(self.found, after(self.found, index + 1)))
            elif token.kind == WORD and token.text in self.words and index > inside:
                token.text = self.words[token.text]
            elif token.text == GLOBAL:
                token.text = ""

    def _asserts(self) -> None:
        """What <cassert>'s macro calls ends a launch in a kernel; headers may declare it again."""
        for index, token in enumerate(self.found):
            if token.text != _ASSERTED or not self._is_called(index):
                continue
            behind = before(self.found, index - 1)
            if behind >= 0 and self.found[behind].text == "::":
                behind = before(self.found, behind - 1)
            word = behind >= 0 and self.found[behind].kind == WORD
            if not word or self.found[behind].text in ("return", "else", "do"):
                token.text = "cudla_sim::assertion_failed"

    def _ptx(self) -> None:
        """Translates inline PTX; an unknown instruction is an error where it is compiled."""
        for number, statement in enumerate(list(inline_ptx.statements(self.found))):
            try:
                text = inline_ptx.translate(statement)
            except inline_ptx.UnknownPtx as error:
                said = f"inline PTX is not supported: {_quoted(str(error))}"
                name = f"__cudla_sim_ptx_{number}"
                text = (
                    f'do {{ void {name}() __attribute__((error("{said}"))); {name}(); }} while (0)'
                )
            _replace(self.found[statement.first : statement.last + 1], text)

    # --- kernels by their addresses

    def _notes(self) -> None:
        """A kernel is noted when the program starts. An instance of a template is noted by its own
        body, which also tells a launch which instance it is."""
        for number, kernel in enumerate(self.kernels):
            if kernel.name in self.shared - self.generic and kernel.name not in self.aliases:
                self._alias(kernel)
            if kernel.body < 0:
                continue
            brace = self.found[kernel.body]
            if kernel.parameters and not self._hides_itself(kernel):
                own = self._address(kernel, f"<{', '.join(kernel.parameters)}>")
                brace.text += f" if (::cudla_sim::Registered<{own}>::asked()) return;"
            elif kernel.parameters is None:
                end = self.found[kernel.end]
                noted = f"cudla_sim_noted_{kernel.name}_{number}"
                value = f"::cudla_sim::Registered<{self._address(kernel)}>::noted"
                end.text += f" [[maybe_unused]] static const bool {noted} = {value};"

    def _hides_itself(self, kernel: Kernel) -> bool:
        """Whether a parameter has the kernel's name, which means that one in its body."""
        return any(token.text == kernel.name for token in tokens(kernel.signature))

    def _address(self, kernel: Kernel, arguments: str = "") -> str:
        """Also where functions share its name: its parameters tell which is meant."""
        own = f"&{kernel.name}{arguments}"
        return (
            f"static_cast<void (*)({kernel.signature})>({own})"
            if kernel.name in self.shared
            else own
        )

    def _alias(self, kernel: Kernel) -> None:
        """What launches name: a function of the library may fit their arguments better."""
        alias = f"cudla_sim_kernel_{kernel.name}"
        value = self._address(kernel)
        self.found[kernel.end].text += f" [[maybe_unused]] static constexpr auto {alias} = {value};"
        self.aliases[kernel.name] = alias

    def _overloaded(self) -> set[str]:
        """Names that do not tell which kernel is meant."""
        bodies = Counter(kernel.name for kernel in self.kernels if kernel.body >= 0)
        shapes = Counter(name for name, _ in {(k.name, k.commas) for k in self.kernels})
        return {name for name in bodies if bodies[name] > 1 or shapes[name] > 1}

    def _declared_on_the_host(self) -> set[str]:
        """Names of kernels that functions have, too: ``raise`` of <signal.h>."""
        places = {kernel.place for kernel in self.kernels}
        return {
            token.text
            for index, token in enumerate(self.found)
            if token.text in self.known
            and index not in places
            and not self.functions[index]
            and self._is_called(index)
            and self._ends_a_type(before(self.found, index - 1))
        }

    def _ends_a_type(self, index: int) -> bool:
        return self.found[index].kind == WORD or self.found[index].text in ("*", "&", "&&", ">")

    def _is_called(self, index: int) -> bool:
        ahead = after(self.found, index + 1)
        return ahead < len(self.found) and self.found[ahead].text == "("

    # --- shared memory

    def _shared(self) -> None:
        functions = self.functions
        for index, token in enumerate(self.found):
            if token.text != SHARED:
                continue
            ahead = after(self.found, index + 1)
            behind = before(self.found, index - 1)
            if self.found[ahead].text == "extern":
                token.text = ""
                self._dynamic(ahead, index, ahead + 1, functions[index])
            elif self._extern(behind) is not None:
                self._dynamic(self._extern(behind) or 0, index, index + 1, functions[index])
            else:
                token.text = f"{self._alignment(ahead)}{_ALIGNED} " + (
                    "thread_local" if self.found[behind].text == "static" else "static thread_local"
                )

    def _alignment(self, index: int) -> str:
        """An ``alignas(...)`` at *index* is taken out: it has to come before ``static``."""
        if self.found[index].text != "alignas":
            return ""
        end = closed(self.found, after(self.found, index + 1))
        taken = self.found[index : end + 1]
        text = " ".join("".join(t.text for t in taken if t.kind != MARK).split())
        for token in taken:
            token.text = "\n" * token.text.count("\n")
        return f"{text} "

    def _extern(self, index: int) -> int | None:
        """The ``extern`` of the declaration that goes on at *index*."""
        while index >= 0 and self.found[index].text not in (";", "{", "}"):
            if self.found[index].text == "extern":
                return index
            index -= 1
        return None

    def _dynamic(self, extern: int, shared: int, begin: int, in_function: bool) -> None:
        """``extern __shared__ T name[];`` is where the block's dynamic memory begins."""
        end = begin
        while self.found[end].text != ";":
            if self.found[end].text in CLOSING:
                end = closed(self.found, end)
            end += 1
        words = [
            t for i, t in enumerate(self.found[extern:end], extern) if i not in (extern, shared)
        ]
        kept = _without_attributes([t for t in words if t.kind not in (SPACE, MARK) and t.text])
        bracket = next((i for i, token in enumerate(kept) if token.text == "["), len(kept))
        if bracket < 2 or kept[bracket - 1].kind != WORD:
            text = " ".join(token.text for token in kept)
            raise CannotRewrite(f"extern __shared__ {text}: a type and one name with [] expected")
        name = kept[bracket - 1].text
        kind = " ".join(token.text for token in kept[: bracket - 1])
        rest = "".join(token.text for token in kept[bracket:])[2:]  # further dimensions
        made = f"::cudla_sim::Dynamic<{kind}>"
        if rest:
            text = f"auto {name} = reinterpret_cast<{kind} (*){rest}>({made}::start())"
        elif in_function:
            text = f"{kind} *{name} = {made}::start()"
        else:
            text = f"static {made} {name}"
        _replace(self.found[extern:end], text)

    def _in_functions(self) -> list[bool]:
        """For each token, whether it is inside the body of a function."""
        stack: list[bool] = []
        result = []
        for index, token in enumerate(self.found):
            if token.text == "{":
                stack.append(bool(stack and stack[-1]) or begins_body(self.found, index))
            elif token.text == "}" and stack:
                stack.pop()
            result.append(bool(stack and stack[-1]))
        return result

    # --- launches

    def _launches(self) -> None:
        self._spaced()
        index = 0
        while index < len(self.found):
            if self.found[index].text == "<<<":
                self._launch(index)
            index += 1

    def _spaced(self) -> None:
        """nvcc takes ``<< <`` and ``>> >``, too, which tools that arrange code make of launches."""
        for index, token in enumerate(self.found):
            if token.text == "<" and (others := self._run(index, "<")):
                behind = before(self.found, index - 1)
                if behind >= 0 and self.found[behind].text != "operator":
                    self._join(index, others)

    def _run(self, index: int, sign: str) -> list[int]:
        """Where two more of a sign follow, with nothing but space between them."""
        places: list[int] = []
        at = index
        while len(places) < 2:
            at = after(self.found, at + 1)
            if at >= len(self.found) or self.found[at].text != sign:
                return []
            places.append(at)
        return places

    def _join(self, index: int, others: Sequence[int]) -> None:
        self.found[index].text *= 3
        for place in others:
            self.found[place].text = ""
            self.found[place].kind = SPACE

    def _untyped(self, opening: int, kernel: str) -> None:
        """Arguments whose type the parameter tells: a 0 or NULL and nothing else, braces."""
        end = closed(self.found, opening)
        at, place = opening, -1
        while at < end:
            place += 1
            first = after(self.found, at + 1)  # where the macro NULL was there are marks
            token, behind = self.found[first], after(self.found, first + 1)
            if token.text in ("0", "__null") and self.found[behind].text in (",", ")"):
                token.text = "::cudla_sim::Zero()"
            elif token.text == "{":
                behind = after(self.found, closed(self.found, first) + 1)
                token.text = f"::cudla_sim::Parameter<{place}, decltype({kernel})>{{"
                at = behind
                continue
            at = first
            while at < end and self.found[at].text != ",":
                at = closed(self.found, at) if self.found[at].text in CLOSING else at
                at += 1

    def _launch(self, index: int) -> None:
        begin, name = self._callee(before(self.found, index - 1))
        end = index + 1
        while end < len(self.found) and self.found[end].text != ">>>":
            others = self._run(end, ">") if self.found[end].text == ">" else []
            if others and self.found[after(self.found, others[-1] + 1)].text == "(":
                self._join(end, others)
                break
            end = closed(self.found, end) + 1 if self.found[end].text in CLOSING else end + 1
        opening = after(self.found, end + 1)
        if opening >= len(self.found) or self.found[opening].text != "(":
            raise CannotRewrite(f"the launch of {name or 'a kernel'}: no arguments behind >>>")
        callee = "".join(t.text for t in self.found[begin:index] if t.kind != MARK).strip()
        flat = " ".join(callee.split())
        if name in self.aliases:
            flat = flat.removesuffix(name) + self.aliases[name]
        quoted = " ".join(callee.split()).replace("\\", "\\\\").replace('"', '\\"')
        comma = "" if self.found[after(self.found, opening + 1)].text == ")" else ", "
        given = "static_cast<decltype(cudla_sim_a)>(cudla_sim_a)..."
        self._untyped(opening, flat)
        done = f"static_cast<void>({flat}({given}))"
        # [&] for constants of the function around it, in template arguments: nothing is captured
        body = f"[&](auto &&...cudla_sim_a) -> decltype({done}) {{ {done}; }}"
        if name in self.known and name in self.generic:
            call = f".call_any({body}{comma}"
        elif name in self.known:
            call = f".call({flat}, {body}{comma}"
        else:
            call = f".call_pointer({flat}{comma}"
        for token in self.found[begin:index]:
            token.text = "\n" * token.text.count("\n")
        self.found[index].text = " ::cudla_sim::Launch("
        self.found[end].text = f').named("{quoted}")'
        self.found[opening].text = call

    def _callee(self, index: int) -> tuple[int, str]:
        """Where the expression before <<< begins, and the name of its function."""
        found, name = self.found, ""
        while True:
            if index < 0:
                raise CannotRewrite("<<< has no kernel before it")
            if found[index].text in (")", "]"):
                index = opened(found, index)
                earlier = before(found, index - 1)
                if earlier < 0 or found[earlier].kind != WORD:
                    return index, name
                index = earlier
            elif found[index].text in (">", ">>>"):
                index = angle_opened(found, index)
                if index < 0:
                    raise CannotRewrite("<<< has no kernel before it")
                index = before(found, index - 1)
            if found[index].kind != WORD:
                raise CannotRewrite("<<< has no kernel before it")
            name = name or found[index].text
            earlier = before(found, index - 1)
            if earlier < 0 or found[earlier].text not in ("::", "->", "."):
                return index, name
            if found[earlier].text == "::":
                further = before(found, earlier - 1)
                scope = (
                    further >= 0
                    and (found[further].kind == WORD or found[further].text == ">")
                    and found[further].text not in ("return", "else", "do")
                )
                if not scope:
                    return earlier, name
            index = before(found, earlier - 1)


def _replace(taken: Sequence[Token], text: str) -> None:
    """What follows keeps its line: by as many lines, or by the mark that was last among them."""
    last = max((i for i, token in enumerate(taken) if token.kind == MARK), default=-1)
    mark = f"\n{taken[last].text}" if last >= 0 else ""
    lines = sum(token.text.count("\n") for token in taken[last + 1 :])
    for token in taken:
        token.text = ""
    taken[0].text = text + mark + "\n" * lines


def _quoted(text: str) -> str:
    return text.replace("\\", "").replace('"', "'").replace("\n", " ")


def _without_attributes(words: Sequence[Token]) -> list[Token]:
    kept, index = [], 0
    while index < len(words):
        if words[index].text in _DROPPED and index + 1 < len(words):
            index = closed(words, index + 1) + 1
            continue
        kept.append(words[index])
        index += 1
    return kept
