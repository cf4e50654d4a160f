"""Real weights in parts: whole layers in float64 would need gigabytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ELEMENTS = 1 << 22


@dataclass(frozen=True, slots=True)
class RealWeights:
    """Weights [kernels, channels, rows, columns] as they are stored, times a factor per kernel."""

    stored: NDArray[Any]
    factor: NDArray[np.float64]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the weights."""
        return self.stored.shape

    def parts(self) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Some kernels after the other, with what they are in float64."""
        count = max(_ELEMENTS // max(prod(self.shape[1:]), 1), 1)
        for first in range(0, len(self.stored), count):
            part = slice(first, first + count)
            yield part, self.stored[part].astype(np.float64) * self.factor[part, None, None, None]
