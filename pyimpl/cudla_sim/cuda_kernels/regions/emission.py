"""The text of a kernel in regions."""

from __future__ import annotations

from collections.abc import Iterator

from ..tokens import SPACE, Token
from .body import Body, Node, Variable, nodes
from .declarations import Declarator
from .uniform import Uniform
from .waiting import STEP

LANES = "::cudla_sim::Lanes"
"""What kernels in regions have and no others."""
_LANES = "cudla_sim_lanes"
_NOT_REPEATED = ("register", "mutable")


def _loop(span: str) -> str:
    return (
        f" for ({_LANES}.begin(); {_LANES}.more(); {_LANES}.next())"
        f" for ({_LANES}.begin_row(); {_LANES}.more_rows(); {_LANES}.next_row())"
        f" for ({_LANES}.begin_lane({span}); {_LANES}.more_lanes(); {_LANES}.next_lane())"
    )


class Region:
    """Statements, one after another, that threads do one after another. *alone*: not in a block, as
    what follows ``else``."""

    def __init__(self, number: int, statements: list[Node], *, alone: bool) -> None:
        self.number = number
        self.alone = alone
        self.statements = statements
        self.first = statements[0].first
        self.end = statements[-1].end

    def returns(self) -> Iterator[int]:
        """The places of its ``return``."""
        for statement in self.statements:
            yield from (node.first for node in nodes(statement) if node.kind == "return")


class Emission:
    """*before*, *behind*: texts by the token of the file that they come before or behind."""

    def __init__(self, body: Body, uniform: Uniform) -> None:
        self.body = body
        self.uniform = uniform
        self.regions: list[Region] = []
        self.region_of: list[Region | None] = [None] * len(body.texts)
        self.before: dict[int, str] = {}
        self.behind: dict[int, str] = {}
        self.blank: list[tuple[int, int]] = []
        self.replaced: dict[int, str] = {}
        self._split(body.root)
        self.crossing = self._crossing()
        self.numbers = {variable: n for n, variable in enumerate(self.crossing)}
        self.leave = any(True for region in self.regions for _ in region.returns())
        self._begin()
        for region in self.regions:
            self._emit(region)

    def apply(self, found: list[Token]) -> None:
        """What is changed in the tokens themselves; they keep their lines."""
        for first, end in self.blank:
            for token in found[self.body.places[first] : self.body.places[end - 1] + 1]:
                if token.kind != SPACE or STEP in token.text:
                    token.text = "\n" * token.text.count("\n")
                    token.kind = SPACE
        for at, text in self.replaced.items():
            found[self.body.places[at]].text = text

    # --- regions

    def _split(self, node: Node) -> None:
        if node.kind in ("barrier", "step"):
            self.blank.append((node.first, node.end - (node.kind == "barrier")))
        elif node.waits and node.kind == "block":
            self._split_list(node.parts)
        elif node.waits:
            for part in node.parts:
                if part.waits:
                    self._split(part)
                elif not self._is_once(part):
                    self._add([part], alone=True)

    def _split_list(self, parts: list[Node]) -> None:
        taken: list[Node] = []
        for part in parts:
            if part.waits or self._is_once(part):
                self._add(taken)
                taken = []
                if part.waits:
                    self._split(part)
                else:
                    self._mark_unused(part)
            else:
                taken.append(part)
        self._add(taken)

    def _is_once(self, node: Node) -> bool:
        return self.uniform.is_common(node) or (
            bool(node.declares) and all(v in self.uniform.again for v in node.declares)
        )

    def _mark_unused(self, node: Node) -> None:
        """The threads have variables of the same names."""
        if node.kind == "plain" and node.declares and node.declares[0] in self.uniform.again:
            self._insert(node.first, " [[maybe_unused]]")

    def _add(self, statements: list[Node], *, alone: bool = False) -> None:
        if not statements:
            return
        region = Region(len(self.regions), statements, alone=alone)
        self.regions.append(region)
        for at in range(region.first, region.end):
            self.region_of[at] = region

    # --- variables

    def _crossing(self) -> list[Variable]:
        """In the order of their declarations."""
        found = []
        for variable in self.uniform.all:
            if variable in self.uniform.common or variable in self.uniform.again:
                continue
            home = self.region_of[variable.begin] if variable.declared else None
            if any(self.region_of[at] is not home for at in variable.mentions):
                found.append(variable)
        return sorted(found, key=lambda v: v.begin)

    def _stored(self, variable: Variable) -> str:
        return f"cudla_sim_{self.numbers[variable]}_{variable.name}"

    def _by_value(self, variable: Variable) -> bool:
        """Whether a region may keep it in a register."""
        declared = variable.declared
        return (
            declared is not None
            and declared.built_in
            and declared.dimensions[0] == declared.dimensions[1]
            and not variable.addressed
        )

    def _begin(self) -> None:
        leave = "true" if self.leave else "false"
        text = f" {LANES}<{leave}> {_LANES};"
        for variable in self.crossing:
            if variable.declared is None:
                kind = f"::std::decay_t<decltype({variable.name})>"
                text += (
                    f" ::cudla_sim::Crossing<{kind}> {self._stored(variable)}"
                    f"({_LANES}, {variable.name});"
                )
        self._insert_behind(self.body.root.first, text)

    # --- text

    def _insert(self, at: int, text: str) -> None:
        place = self.body.places[at]
        self.before[place] = self.before.get(place, "") + text

    def _insert_behind(self, at: int, text: str) -> None:
        """On the line of what is there: what follows may be a mark."""
        place = self.body.places[at]
        self.behind[place] = self.behind.get(place, "") + text

    def _emit(self, region: Region) -> None:
        own = [v for v in self.crossing if v.declared and self.region_of[v.begin] is region]
        text = "".join(self._declared(variable) for variable in own)
        text += _loop(self._span(region)) + (f" if ({_LANES}.here())" if self.leave else "") + " {"
        end = ""
        for variable in own:
            if self._by_value(variable):
                end += f" {self._stored(variable)}[{_LANES}.lane()] = {variable.name};"
        end += " }"
        for variable in self._mentioned(region):
            if variable in self.uniform.again:
                text += self._computed(variable)
                continue
            stored = f"{self._stored(variable)}[{_LANES}.lane()]"
            if self._by_value(variable):
                text += f" {self._type(variable)} {variable.name} = {stored};"
                if variable.declared and not variable.declared.constant:
                    end += f" {stored} = {variable.name};"
            else:
                kind = self._type(variable) if variable.declared else "auto"
                text += f" {kind} &{variable.name} = {stored};"
        label = f"cudla_sim_gone_{region.number}"
        places = list(region.returns())
        for at in places:
            leave = f"{_LANES}.leave(); " if self.leave else ""
            self.replaced[at] = f"{{ {leave}goto {label}"
            self._insert_behind(at + 1, " }")
        end += f" {label}: ;" if places else ""
        for variable in own:
            if not self._by_value(variable):
                self._bind(variable)
        if region.alone:  # an else behind it is not for the loop's own if
            text, end = f" {{{text}", f"{end} }}"
        self._insert_behind(region.first - 1, f"{text} {{")
        self._insert_behind(region.end - 1, f"{end} }}")

    def _span(self, region: Region) -> str:
        """The threads of a row for which a region of one ``if`` does something, if that is known:
        those below a number, or one."""
        only = region.statements[0]
        if len(region.statements) > 1 or only.kind != "if" or len(only.parts) > 1:
            return ""
        for begin, end in self.body.conjuncts(*only.heads[0]):
            texts = self.body.texts[begin:end]
            signs = [i for i, text in enumerate(texts) if text in ("<", ">", "=")]
            at = begin + signs[0] if signs else begin
            if len(signs) == 1 and texts[signs[0]] in ("<", ">"):
                sides, called = [(begin, at), (at + 1, end)], "lanes_below"
                if self.body.texts[at] == ">":
                    sides.reverse()
            elif len(signs) == 2 and texts[signs[0] : signs[0] + 2] == ["=", "="]:
                sides, called = [(begin, at), (at + 2, end)], "lane_at"
                if self.uniform.is_thread_x(*sides[1]):
                    sides.reverse()
            else:
                continue
            one, value = sides
            if self.uniform.is_thread_x(*one) and self.uniform.is_number(*value):
                kind = "unsigned" if one[1] - one[0] > 1 else f"decltype({self.body.text(*one)})"
                number = self.body.text(*value)
                return f"::cudla_sim::{called}<{kind}>({_LANES}.size.x, {number})"
        return ""

    def _mentioned(self, region: Region) -> list[Variable]:
        """What a region has of others, with what that is computed from."""
        found: set[Variable] = set()
        candidates = [*self.crossing, *self.uniform.again]
        for variable in candidates:
            home = self.region_of[variable.begin] if variable.declared else None
            if home is not region and any(self.region_of[at] is region for at in variable.mentions):
                found.add(variable)
        waiting = [v for v in found if v in self.uniform.again]
        while waiting:
            declared = waiting.pop().declared
            assert declared is not None
            for at in range(*declared.value):
                source = self.body.variable(at) if self.body.tokens[at].kind == "word" else None
                if source in self.uniform.again and source not in found:
                    found.add(source)
                    waiting.append(source)
        return sorted(found, key=lambda v: v.begin)

    def _type(self, variable: Variable) -> str:
        return f"cudla_sim_t{self.numbers[variable]}_{variable.name}"

    def _declared(self, variable: Variable) -> str:
        """Its type by a name, and room for all threads."""
        declared = variable.declared
        assert declared is not None
        kind = self._type(variable)
        base = self._base(declared)
        if "auto" in base.split():
            value = self.body.text(declared.value[0] + 1, declared.value[1])
            made = f" typedef ::std::decay_t<decltype({value})> {kind};"
        else:
            shape = f"{' '.join(declared.prefix)} {kind}{self.body.text(*declared.dimensions)}"
            made = f" typedef {base} {shape};"
        return f"{made} ::cudla_sim::Crossing<{kind}> {self._stored(variable)}({_LANES});"

    def _computed(self, variable: Variable) -> str:
        declared = variable.declared
        assert declared is not None
        return f" {self._alone(declared)};"

    def _alone(self, declared: Declarator) -> str:
        shape, value = self.body.text(*declared.dimensions), self.body.text(*declared.value)
        return f"{self._base(declared)} {' '.join(declared.prefix)} {declared.name}{shape} {value}"

    def _base(self, declared: Declarator) -> str:
        words = self.body.text(*declared.base).split(" ")
        return " ".join(word for word in words if word not in _NOT_REPEATED)

    def _bind(self, variable: Variable) -> None:
        """A declaration in the region: the name is the thread's part of an array."""
        node = variable.node
        assert node is not None
        if (node.first, node.end) in self.blank:
            return  # with another of its names
        texts = []
        for each in node.declares:
            declared = each.declared
            assert declared is not None
            if each not in self.numbers or self._by_value(each):
                texts.append(f"[[maybe_unused]] {self._alone(declared)};")
                continue
            stored, begin = self._stored(each), ""
            if declared.value[0] < declared.value[1]:
                begin = f", cudla_sim_begin_{declared.name}"
                base, prefix = self._base(declared), " ".join(declared.prefix)
                shape = self.body.text(*declared.dimensions)
                value = self.body.text(*declared.value)
                texts.append(f"{base} {prefix} {begin[2:]}{shape} {value};")
            kind = self._type(each)
            texts.append(
                f"[[maybe_unused]] {kind} &{each.name} = {stored}.begin({_LANES}.lane(){begin});"
            )
        self.blank.append((node.first, node.end))
        self._insert(node.first, " " + " ".join(texts))
