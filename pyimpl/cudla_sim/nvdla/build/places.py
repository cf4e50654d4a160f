"""Where tensors lie."""

from __future__ import annotations

from dataclasses import dataclass

WEIGHTS, ACTIVATIONS, INPUT, OUTPUT = 1, 2, 3, 4
"""Address list indices of the buffers that operations refer to."""


@dataclass(slots=True)
class Place:
    """Where a tensor lies: address list index and offset in that buffer."""

    address: int
    offset: int = 0
