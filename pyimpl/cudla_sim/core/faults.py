"""Failures on purpose: named points that a test can make fail."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from .errors import ConfigError

S = TypeVar("S", bound=Enum)


@dataclass
class Rule:
    """``point[@n][=STATUS]``: fail pass ``n`` of ``point`` (0: every pass)."""

    point: str
    nth: int
    status: str
    passes: int = 0


class Faults:
    """The rules in force. ``active`` is False when there are none: the fast path asks only that.

    ``changed`` is called when they are replaced.
    """

    def __init__(self, text: str = "", changed: Callable[[], None] = lambda: None) -> None:
        self._changed = changed
        self._lock = threading.Lock()
        self._rules: list[Rule] = []
        self.active = False
        self.set(text)

    def set(self, text: str) -> None:
        """Replaces all rules.

        Raises ConfigError when the text cannot be read, or names a point or status that does not
        exist; the rules then stay as they were.
        """
        rules = [self._parse(part.strip()) for part in text.split(",") if part.strip()]
        with self._lock:
            self._rules = rules
            self.active = bool(rules)
        self._changed()

    @staticmethod
    def _parse(part: str) -> Rule:
        head, _, status = part.partition("=")
        point, at, count = head.partition("@")
        number = int(count) if re.fullmatch("[0-9]{1,9}", count) else 0
        if not point or (at and not number):
            raise ConfigError(f"fault rule {part!r}; it is point[@n][=STATUS] with n from 1")
        from . import points  # most processes have no rules

        points.check(part, point.strip(), status.strip())
        return Rule(point.strip(), number, status.strip())

    def check(self, point: str) -> str | None:
        """Counts a pass of ``point``; the status name to fail with ("" for the default) or None."""
        if not self.active:
            return None
        with self._lock:
            for rule in self._rules:
                if rule.point == point:
                    rule.passes += 1
                    if rule.nth in (0, rule.passes):
                        return rule.status
        return None

    def chosen(self, candidates: Mapping[str, S]) -> tuple[str, S] | None:
        """The first of *candidates* that fails now, and its status: the rule's, or the one
        given."""
        for point, default in candidates.items():
            name = self.check(point)
            if name is not None:
                return point, type(default).__members__.get(name, default)
        return None
