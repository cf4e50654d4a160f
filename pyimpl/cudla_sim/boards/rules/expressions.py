"""Expressions of rules: arithmetic and comparisons over what is known of a layer."""

from __future__ import annotations

import ast
import threading
from collections.abc import Mapping
from functools import lru_cache
from math import ceil
from typing import Any

from simpleeval import EvalWithCompoundTypes, InvalidExpression

from ..errors import DlaError


class Facts(Mapping[str, Any]):
    """The names that expressions may use, and their values; see :mod:`..facts`."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Any:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def text(self, template: str) -> str:
        """A sentence with ``{name}`` filled in. Raises DlaError for a name that is unknown."""
        try:
            return template.format_map(self)
        except (KeyError, ValueError, IndexError) as error:
            raise DlaError(f"{template!r}: {error} is no name of this layer") from None


def _range_of(first: int, last: int) -> range:
    return range(int(first), int(last) + 1)


_FUNCTIONS = {"max": max, "min": min, "abs": abs, "ceil": ceil, "range_of": _range_of}


class _Evaluator(threading.local):
    """One a thread: to make it takes longer than an expression does."""

    def __init__(self) -> None:
        self.evaluator = EvalWithCompoundTypes(functions=_FUNCTIONS)


_here = _Evaluator()


class Expression:
    """One expression, parsed once."""

    def __init__(self, text: str) -> None:
        self._text = text
        try:
            self._parsed = EvalWithCompoundTypes.parse(text)
        except (InvalidExpression, SyntaxError, ValueError) as error:
            raise DlaError(f"{text!r} is no expression: {error}") from None

    @staticmethod
    @lru_cache(maxsize=1024)
    def of(text: str) -> Expression:
        return Expression(text or "True")

    @property
    def names(self) -> set[str]:
        """Names that it reads."""
        found = {node.id for node in ast.walk(self._parsed) if isinstance(node, ast.Name)}
        return found - set(_FUNCTIONS)

    def value(self, facts: Facts) -> Any:
        """Raises DlaError for a name that this layer does not have, and for wrong types."""
        try:
            _here.evaluator.names = facts
            return _here.evaluator.eval(self._text, self._parsed)
        except (InvalidExpression, TypeError, ValueError, ArithmeticError, LookupError) as error:
            raise DlaError(f"{self._text!r}: {error}") from None
