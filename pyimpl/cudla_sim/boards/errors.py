"""What goes wrong while a network is looked at for a board."""

from __future__ import annotations


class DlaError(Exception):
    """A wrong rule, board or release: what it is, and what is possible."""
