"""Lanes of a warp in step, for kernels that count on it.

A thread runs here until it waits, so lanes that exchange values through memory without a
``__syncwarp`` see what is not there yet. A GPU's lanes mostly go on together, and programs that
count on that are right there. Three kinds of them are known by their text: functions with
``volatile``, as reductions within a warp had it before there was ``__syncwarp``; functions with an
array in shared memory and nothing that waits; what one lane does alone after all have stored. In
these the lanes wait for each other, before a store for what others read, and behind it.

Source: CUDA C++ Programming Guide, "SIMT Architecture" and "Independent Thread Scheduling".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from ..cudart.settings import LANES
from .kernels import CLOSING, GLOBAL, SHARED, after, before, begins_body, closed
from .tokens import MARK, SPACE, WORD, Token, names_a_line, of_a_system, with_added

AUTO, ALL, NONE = LANES
"""Lanes in step where that is known to be needed, in all functions, nowhere."""

_WAITS = (
    "__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or", "__syncwarp",
    "__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync", "__ballot_sync",
    "__any_sync", "__all_sync", "__match_any_sync", "__match_all_sync", "__reduce_add_sync",
    "__reduce_max_sync", "__reduce_min_sync", "sync", "arrive_and_wait", "__barrier_sync", "shfl",
    "shfl_up", "shfl_down", "shfl_xor", "ballot",
)  # fmt: skip
_WAIT_IN_PTX = ("bar.", "barrier.", ".sync")
_TO_THE_END = (
    "return", "break", "continue", "goto", "throw", "using", "typedef", "static_assert", "asm",
    "__asm__", "__asm", "template", "struct", "class", "union", "enum", "extern", "static",
    "co_return", "co_yield", "delete", SHARED,
)  # fmt: skip
_READS = ("[", "*", "->", "(")


def in_step(found: list[Token], way: str) -> list[Token]:
    """The tokens with the places where lanes wait among them."""
    if way == NONE:
        return found
    return _Steps(found, everywhere=way == ALL).run()


class _Steps:
    def __init__(self, found: list[Token], *, everywhere: bool) -> None:
        self.found = found
        self.everywhere = everywhere
        self.added: dict[int, str] = {}
        self.all = False  # of the function that is looked at
        self.partly = False  # from `begin` on, and only stores to `memory`
        self.begin = 0
        self.lanes: set[str] = set()  # its names for the number of a thread
        self.memory: set[str] = set()  # its names of what all see, without brackets
        self.stored = False  # since lanes have met
        self.read = False  # since they were in step

    def run(self) -> list[Token]:
        for begin, brace, end in self._functions():
            self._function(begin, brace, end)
        return with_added(self.found, self.added)

    def _functions(self) -> Iterator[tuple[int, int, int]]:
        """Where the declaration, the brace and the end of each are that is not a system's."""
        found, index, system, begin = self.found, 0, False, 0
        while index < len(found):
            token = found[index]
            if token.kind == MARK:
                if names_a_line(token.text):
                    system = of_a_system(token.text)
            elif token.text in (";", "}"):
                begin = index + 1
            elif token.text == "{":
                if not system and begins_body(found, index):
                    end = closed(found, index)
                    yield begin, index, end
                    index = end
                begin = index + 1
            index += 1

    def _texts(self, begin: int, end: int) -> list[str]:
        return [t.text for t in self.found[begin:end] if t.kind not in (SPACE, MARK)]

    def _function(self, begin: int, brace: int, end: int) -> None:
        texts = self._texts(begin, end)
        head = self._texts(begin, brace)
        if "constexpr" in head or "consteval" in head or "operator" in head:
            return
        self.lanes = set(_numbers_of_threads(texts))
        shared = set(_names_behind(texts, SHARED))
        volatile = set(_volatile(texts))
        self.memory = shared | volatile
        arrays = {name for name in shared if _is_array(texts, name)}
        alone = bool(arrays) and not any(map(_waits, texts))
        waits = [at for at in range(brace, end) if _waits(self.found[at].text)]
        self.all = self.everywhere or bool(volatile) or alone
        # with barriers: what has volatile for the sums of the last warp, behind the last of them
        self.partly = bool(volatile and waits) and not self.everywhere
        self.begin = waits[-1] if self.partly else brace
        if not self.all and not self.lanes and "threadIdx" not in texts:
            return
        self.stored = False
        if self.all and not self.partly and GLOBAL not in head:  # who calls it may have stored
            self._add(brace + 1, f" {self._step(brace)};")
        self._block(brace + 1, end)

    # --- statements; each gives the index behind it

    def _block(self, index: int, end: int) -> None:
        index = after(self.found, index)
        while index < end:
            index = after(self.found, self._statement(index, end, listed=True))

    def _statement(self, index: int, end: int, *, listed: bool) -> int:
        """*listed*: among others between braces."""
        found = self.found
        text = found[index].text
        if index >= end:
            return end
        if text == "{":
            close = closed(found, index)
            self._block(index + 1, close)
            return close + 1
        if text == "if":
            return self._if(index, end, listed=listed)
        if text in ("for", "while", "switch", "catch"):
            opening = after(found, index + 1)
            close = closed(found, opening)
            if text == "while":
                self._condition(opening, close)
            return self._statement(after(found, close + 1), end, listed=False)
        if text in ("do", "try", "else"):
            behind = self._statement(after(found, index + 1), end, listed=False)
            if text != "do":
                return behind
            opening = after(found, after(found, behind) + 1)
            self._condition(opening, closed(found, opening))
            return self._end(opening, end)
        if text in ("case", "default") or (
            found[index].kind == WORD and found[after(found, index + 1)].text == ":"
        ):
            while index < end and found[index].text != ":":
                index += 1
            return index + 1
        last = self._end(index, end)
        if text not in _TO_THE_END:
            self._expression(index, last - 1, listed=listed)
        elif any(map(_waits, self._texts(index, last))):
            self.stored = False
        return last

    def _end(self, index: int, end: int) -> int:
        """Behind the next ; outside of brackets."""
        while index < end and self.found[index].text != ";":
            if self.found[index].text in CLOSING:
                index = closed(self.found, index)
            index += 1
        return min(index + 1, end)

    def _if(self, index: int, end: int, *, listed: bool) -> int:
        found = self.found
        opening = after(found, index + 1)
        if found[opening].text != "(":  # if constexpr
            opening = after(found, opening + 1)
        close = closed(found, opening)
        one = self._is_one_lane(self._texts(opening + 1, close))
        if listed and one is not None and (self.stored or (self.all and not self.partly)):
            self._add(index, self._step(index) + "; ")
            self.stored = False
        behind = self._statement(after(found, close + 1), end, listed=False)
        other = after(found, behind)
        if other < end and found[other].text == "else":
            behind = self._statement(after(found, other + 1), end, listed=False)
        told = not self.partly or bool(self.memory.intersection(self._texts(index, behind)))
        if self.all and index > self.begin and told:  # where the ways meet again
            if not listed:
                self._add(index, "{ ")
            self._add(behind, f" {self._step(behind)};" + ("" if listed else " }"))
        elif listed and one not in (None, "0"):
            self._add(behind, f" {self._step(behind)};")
        return behind

    def _condition(self, opening: int, close: int) -> None:
        """Of a loop that may wait for another lane."""
        if (
            self.all
            and opening > self.begin
            and not any(True for _ in self._assignments(opening + 1, close))
        ):
            self._add(opening + 1, f"::cudla_sim::in_loop({opening}), ")

    def _expression(self, begin: int, end: int, *, listed: bool) -> None:
        """The statement up to the ; at *end*."""
        found = self.found
        texts = self._texts(begin, end)
        if any(map(_waits, texts)):
            self.stored = False
            return
        if "<<<" in texts:
            return
        places = list(self._assignments(begin, end))
        left = self._texts(begin, places[0] if places else end)
        declares = _declares(self.found, begin, places[0] if places else end)
        calls = any(a.isidentifier() and b == "(" for a, b in pairwise(texts))
        into = not declares and bool(places) and (len(left) > 1 or left[0] in self.memory)
        nested = any(found[before(found, place - 1)].text == "]" for place in places[1:])
        self.stored |= into or nested or calls
        reads = any(text in _READS for text in self._texts(places[0] if places else begin, end))
        self.read |= reads
        if not self.all or begin < self.begin:
            return
        if self.partly and not self.memory.intersection(left):
            return
        if not (into or nested or (calls and not declares and not places)):
            return
        if declares:
            if listed and end + 1 < len(found):
                self._add(end + 1, f" {self._step(end)};")
            return
        if into and self.read:
            self._add(begin, f"({self._step(begin)}, ")
            self._add(before(found, places[0] - 1) + 1, ")")
        self._add(end, f", {self._step(end)}")

    def _assignments(self, begin: int, end: int) -> Iterator[int]:
        """Where = and its like begin, outside of brackets."""
        index = begin
        found = self.found
        while index < end:
            text = found[index].text
            if text in CLOSING:
                index = closed(found, index)
            elif text == "=":
                if found[index + 1].text == "=":
                    index += 1
                elif found[index - 1].text in ("<", ">"):
                    if found[index - 2].text == found[index - 1].text:
                        yield index - 2
                elif found[index - 1].text in tuple("+-*/%&|^"):
                    yield index - 1
                elif found[index - 1].text != "!":
                    yield index
            index += 1

    def _is_one_lane(self, condition: Sequence[str]) -> str | None:
        """The number that a part of the condition compares the thread's with."""
        for part in _conjuncts(condition):
            if part[:1] == ["!"] and self._is_number(part[1:]):
                return "0"
            if "=" in part and part.count("=") == 2:
                at = part.index("=")
                sides = part[:at], part[at + 2 :]
                if part[at + 1 : at + 2] == ["="]:
                    for one, other in (sides, sides[::-1]):
                        if self._is_number(one) and other:
                            return "".join(other)
        return None

    def _is_number(self, texts: Sequence[str]) -> bool:
        return list(texts) == ["threadIdx", ".", "x"] or (
            len(texts) == 1 and texts[0] in self.lanes
        )

    def _step(self, place: int) -> str:
        self.read = False
        return f"::cudla_sim::in_step({place})"

    def _add(self, index: int, text: str) -> None:
        self.added[index] = self.added.get(index, "") + text


def _waits(text: str) -> bool:
    return text in _WAITS or (text[:1] == '"' and any(word in text for word in _WAIT_IN_PTX))


def _conjuncts(texts: Sequence[str]) -> Iterator[list[str]]:
    part: list[str] = []
    depth = 0
    for text in texts:
        depth += (text in ("(", "[")) - (text in (")", "]"))
        if text == "&" and depth == 0:
            if part:
                yield _without_brackets(part)
            part = []
        else:
            part.append(text)
    yield _without_brackets(part)


def _without_brackets(part: list[str]) -> list[str]:
    while len(part) > 2 and part[0] == "(" and part[-1] == ")":
        part = part[1:-1]
    return part


def _numbers_of_threads(texts: Sequence[str]) -> Iterator[str]:
    """Names that are made ``threadIdx.x``, or its place in the warp."""
    for at in range(1, len(texts) - 4):
        *number, behind = texts[at : at + 5]
        alone = behind in (";", ",", "%", "&")
        if number == ["=", "threadIdx", ".", "x"] and alone and texts[at - 1].isidentifier():
            yield texts[at - 1]


def _declared(texts: Sequence[str], at: int) -> Iterable[str]:
    """The name of the declaration that goes on at *at*: the last word before it ends."""
    name = ""
    for text in texts[at + 1 : at + 24]:
        if text in (",", ";", "=", ")", "[", "{"):
            break
        if text.replace("_", "a").isalnum() and not text[0].isdigit():
            name = text
    return [name] if name else []


def _names_behind(texts: Sequence[str], word: str) -> Iterator[str]:
    for at, text in enumerate(texts):
        if text == word:
            yield from _declared(texts, at)


def _volatile(texts: Sequence[str]) -> Iterator[str]:
    """Names of what others may see: pointers, references, shared memory; not a thread's own."""
    for at, text in enumerate(texts):
        if text != "volatile" or texts[at - 1] in ("asm", "__asm__", "__asm"):
            continue
        begin = at
        while begin and texts[begin - 1] not in (";", "{", "}", "(", ","):
            begin -= 1
        names = list(_declared(texts, at))
        end = texts.index(names[0], at) if names else at
        if names and {"*", "&", SHARED} & set(texts[begin:end]):
            yield from names


def _is_array(texts: Sequence[str], name: str) -> bool:
    """Whether the name is always followed by [: no other function gets it."""
    behind = [texts[at + 1] for at, text in enumerate(texts[:-1]) if text == name]
    return bool(behind) and all(text == "[" for text in behind)


def _declares(found: Sequence[Token], begin: int, end: int) -> bool:
    """Whether what begins there is a type with a name behind it."""
    top: list[Token] = []
    index = begin
    while index < end:
        if found[index].kind not in (SPACE, MARK):
            top.append(found[index])
        if found[index].text in ("(", "["):
            index = closed(found, index)
        index += 1
    for at in range(len(top) - 1):
        first, second = top[at], top[at + 1]
        type_ends = first.kind == WORD or first.text == ">"
        if type_ends and second.kind == WORD:
            return True
        if type_ends and second.text in ("*", "&"):
            further = [t for t in top[at + 1 :] if t.text not in ("*", "&")]
            if further and further[0].kind == WORD:
                return True
    return False
