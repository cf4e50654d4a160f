"""Where a failure can be injected, and what with: every exported function, and points of engines.

A rule for a point that does not exist would never fire, and a test that waits for it would pass
for the wrong reason; so rules are checked against this list.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ..families import FAMILIES, Family, named
from .errors import ConfigError

_ENGINE: dict[str, tuple[str, ...]] = {"fence/never": ()}
for _family in FAMILIES:
    for _point in _family.points:
        _ENGINE[_point] = (*_ENGINE.get(_point, ()), _family.name)

ENGINE_POINTS = _ENGINE
"""Points inside engines, with the families whose statuses they can end in."""

Statuses = tuple[tuple[str, str], ...]
"""Modules of ``constants`` and enumerations in them."""


def _of(family: Family, function: str = "") -> Statuses:
    """The enumeration that a function returns; all of the family's without a function."""
    if not function:
        return ((family.name, family.answers[0].enumeration),)
    found = next(a for a in family.answers if function.startswith(a.functions))
    return ((family.name, found.enumeration),)


@cache
def _points() -> dict[str, Statuses]:
    """Every point with the statuses that it can end in."""
    found: dict[str, Statuses] = {}
    for family in FAMILIES:
        found |= {f"{family.name}::{method}": _of(family) for method in family.cpp_methods}
        module = import_module(f"..constants.{family.name}_parameters", __package__)
        found |= {name: _of(family, name) for name in module.PARAMETERS}
    for point, names in ENGINE_POINTS.items():
        found[point] = tuple(s for name in names for s in _of(named(name)))
    return found


@cache
def _statuses(module: str, enumeration: str) -> frozenset[str]:
    found = import_module(f"..constants.{module}", __package__)
    return frozenset(getattr(found, enumeration).__members__)


def _near(name: str, names: list[str]) -> str:
    import difflib  # only after a mistake

    by_lower = {n.lower(): n for n in names}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f"; did you mean {by_lower[near[0]]}?" if near else ""


def check(rule: str, point: str, status: str) -> None:
    """Raises ConfigError when there is no such point, or it cannot fail with that status ("": any).
    The nearest name is part of the text."""
    statuses = _points().get(point)
    if statuses is None:
        raise ConfigError(
            f"fault rule {rule!r}: there is no point {point!r}{_near(point, list(_points()))}"
        )
    if not status:
        return
    known = sorted(name for where in statuses for name in _statuses(*where))
    if not known:
        raise ConfigError(f"fault rule {rule!r}: {point} takes no status, it just happens")
    if status not in known:
        raise ConfigError(
            f"fault rule {rule!r}: {point} cannot end with {status!r}{_near(status, known)}"
        )
