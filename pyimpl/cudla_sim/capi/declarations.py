"""``DECLARATIONS``: name -> (header, result, parameters) of each C function, as C spells them."""

from __future__ import annotations

from .generated.declarations import DECLARATIONS

__all__ = ["DECLARATIONS"]
