"""A rule, and tables of them in TOML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from ...board_table import GENERATIONS, MARKS
from ...core import untrusted
from ..errors import DlaError
from ..layers import Layer
from .expressions import Expression, Facts

PRECISIONS = ("int8", "fp16")
EFFECTS = ("gpu", "fp16", "note")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One row of a table; see the head of ``table.toml`` for its fields."""

    id: str
    source: str
    mark: str
    layers: Sequence[str] = ()
    functions: Sequence[str] = ()
    operators: Sequence[str] = ()
    boards: Sequence[str] = GENERATIONS
    tensorrt: str = ""
    precision: Sequence[str] = PRECISIONS
    when: str = ""
    takes: bool = False
    value: str = ""
    least: float | None = None
    most: float | None = None
    one_of: Sequence[float] = field(default=())
    what: str = ""
    sums: bool = False
    require: str = ""
    says: str = ""
    effect: str = "gpu"
    message: str = ""
    cure: str = ""
    rewrite: str = ""

    def __post_init__(self) -> None:
        for name, known in (
            ("mark", MARKS), ("effect", EFFECTS), ("boards", GENERATIONS),
            ("precision", PRECISIONS),
        ):  # fmt: skip
            given = getattr(self, name)
            for word in [given] if isinstance(given, str) else given:
                if word not in known:
                    raise DlaError(f"{name} is {word!r}; {', '.join(known)} are possible")
        if self.takes == bool(self.value or self.require):
            raise DlaError("it needs one of takes = true, value and require")
        if self.value and self.least is None and self.most is None and not self.one_of:
            raise DlaError("value needs least, most or one_of")
        if self.value and not self.what:
            raise DlaError("value needs what: a word for it")
        if self.require and not self.says:
            raise DlaError("require needs says: the reason")
        try:
            self._versions  # noqa: B018
        except InvalidSpecifier:
            raise DlaError(f"tensorrt is {self.tensorrt!r}; '>=8.5,<9' is possible") from None
        for text in (self.when, self.value, self.require):
            Expression.of(text)

    @cached_property
    def _versions(self) -> SpecifierSet:
        return SpecifierSet(self.tensorrt)

    def holds_for(self, generation: str, tensorrt: Version) -> bool:
        """Whether it is a rule of this board and release at all."""
        return generation in self.boards and self._versions.contains(tensorrt, prereleases=True)

    def is_about(self, layer: Layer, facts: Facts) -> bool:
        return (
            (not self.layers or layer.kind in self.layers)
            and (not self.functions or layer.parameters.get("function") in self.functions)
            and (not self.operators or layer.operator in self.operators)
            and facts["precision"] in self.precision
            and (not self.when or bool(Expression.of(self.when).value(facts)))
        )

    def broken_by(self, facts: Facts) -> str | None:
        """Why a layer breaks it, in words; None: it does not."""
        if self.require:
            held = bool(Expression.of(self.require).value(facts))
            return None if held else facts.text(self.says)
        value = Expression.of(self.value).value(facts)
        if self.most is not None and value > self.most:
            return self._text(facts, value, f"> {self.most:g}")
        if self.least is not None and value < self.least:
            return self._text(facts, value, f"< {self.least:g}")
        if self.one_of and value not in self.one_of:
            return self._text(facts, value, f"not in {', '.join(f'{n:g}' for n in self.one_of)}")
        return None

    def _text(self, facts: Facts, value: Any, relation: str) -> str:
        """ "kernel 33 > 32"; a sum is already in the words."""
        words = facts.text(self.what)
        return f"{words} {relation}" if self.sums else f"{words} {value:g} {relation}"


_KNOWN = {item.name for item in fields(Rule)}


def rows(text: str, where: str) -> list[Rule]:
    """The rules of a table in TOML. Raises DlaError, with the row."""
    try:
        table = untrusted.parse_toml(text)
    except untrusted.Unreadable as error:
        raise DlaError(f"{where} {error}") from None
    listed = table.get("rule", [])
    if not isinstance(listed, list) or set(table) - {"rule"}:
        raise DlaError(f"{where}: rules stand under [[rule]], nothing else is known")
    return [_row(row, f"{where}: rule {number}") for number, row in enumerate(listed, 1)]


def _row(row: Mapping[str, Any], where: str) -> Rule:
    named = f"{where} ({row['id']!r})" if "id" in row else where
    unknown = sorted(set(row) - _KNOWN)
    missing = [name for name in ("id", "source", "mark") if name not in row]
    if unknown or missing:
        what = f"{unknown[0]!r} is unknown" if unknown else f"{missing[0]!r} is missing"
        raise DlaError(f"{named}: {what}")
    try:
        return Rule(**row)
    except (DlaError, TypeError) as error:
        raise DlaError(f"{named}: {error}") from None


def table(more: Sequence[Path] = (), without: Sequence[str] = ()) -> list[Rule]:
    """Our rules and those of further files; a row replaces an earlier one of its id.

    *without* are marks whose rules are left out. Raises DlaError.
    """
    found = {rule.id: rule for rule in _own()}
    for path in more:
        try:
            text = untrusted.read_text(path)
        except OSError as error:
            raise DlaError(f"{path}: {error.strerror or error}") from None
        except untrusted.Unreadable as error:
            raise DlaError(f"{path} {error}") from None
        found.update((rule.id, rule) for rule in rows(text, str(path)))
    return [rule for rule in found.values() if rule.mark not in without]


@cache
def most(rule: str) -> int:
    """The largest value that one of our rules allows."""
    found = next(row for row in _own() if row.id == rule)
    assert found.most is not None
    return int(found.most)


@cache
def _own() -> tuple[Rule, ...]:
    text = (resources.files(__package__) / "table.toml").read_text("utf-8")
    return tuple(rows(text, "table.toml"))
