"""Replaying register-level hardware tests on the chip model, with no driver in between.

Three forms of the same thing are read: the ``NAME.cfg`` files and the ``input.txn`` folders of the
public hardware repository, and JSON lines with packed data.
"""

from __future__ import annotations

from .player import Outcome, play
from .reader import read
from .trace import Trace, TraceError

__all__ = ["Outcome", "Trace", "TraceError", "play", "read"]
