"""Fetches from textures and surfaces by instructions of PTX (``tex``, ``tld4``, ``suld``, ``sust``)."""

from __future__ import annotations

from .scope import FunctionScope


def instruction(parts: list[str], places: list[str], scope: FunctionScope) -> str | None:
    """C++; None where the instruction is of another kind."""
    return None
