"""What goes wrong with an evaluation."""

from __future__ import annotations


class EvaluationError(Exception):
    """Network, data or workers cannot be used; the text says why, in one line."""


class Interrupted(EvaluationError):
    """Workers, the cluster or the disk failed, not the network or the data: what has been computed
    counts, the same call may go on."""
