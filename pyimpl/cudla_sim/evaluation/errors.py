"""What goes wrong with an evaluation."""

from __future__ import annotations


class EvaluationError(Exception):
    """Network, data or workers cannot be used; the text says why, in one line."""
