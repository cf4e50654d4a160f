"""Checks on the programs of workers, each with its own switch."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import DataclassInstance as _Base
    from typing_extensions import Self
else:
    _Base = object

MODES = ("off", "warn", "fault")


class Switches(_Base):
    """Base of frozen dataclasses whose fields are checks, each one of ``MODES``."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """``name=mode`` separated by commas; a mode alone is for all of them.

        Raises ValueError for a name or mode that does not exist.
        """
        checks = cls()
        names = [f.name for f in fields(cls)]
        for part in filter(None, (p.strip() for p in text.split(","))):
            name, _, mode = part.rpartition("=")
            if mode not in MODES or (name and name not in names):
                raise ValueError(
                    f"{part!r} is no check: write one of {', '.join(names)} = off, warn or fault; "
                    "a mode alone is for all"
                )
            checks = replace(checks, **dict.fromkeys([name] if name else names, mode))
        return checks

    @property
    def word(self) -> int:
        """Two bits a check, as the workers read it."""
        modes = [getattr(self, f.name) for f in fields(self)]
        return sum(MODES.index(mode) << (2 * i) for i, mode in enumerate(modes))
