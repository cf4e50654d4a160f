"""The convolution buffer (CBUF), as far as it outlives a layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from .weights import WeightShape


@dataclass(slots=True)
class Kept:
    """What stays in the convolution buffer for a layer that reuses it.

    ``mode`` is what both layers must have in common: precision, input format, Winograd or not.
    ``weights`` is what the implementation of that mode multiplies with.
    """

    mode: tuple[int, ...] = ()
    data: list[NDArray[Any]] | None = None
    weights: Any = None
    shape: WeightShape | None = None
