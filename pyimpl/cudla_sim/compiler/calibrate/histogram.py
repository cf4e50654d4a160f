"""Histograms of absolute values that grow with the data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

BINS = 2048
_SMALLEST = 1e-34
"""What is smaller counts as zero: a number of bins over it is beyond float32."""


@dataclass(slots=True)
class Histogram:
    """Counts of |x| in BINS equal bins from 0 to *limit*; zeros are left out.

    The limit doubles, two bins becoming one, when larger numbers come.
    """

    limit: float = 0.0
    largest: float = 0.0
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(BINS, np.int64))

    def add(self, array: NDArray[Any], largest: float) -> None:
        """Counts the elements of *array*, whose largest absolute value is *largest*."""
        self.largest = max(self.largest, largest)
        if largest < _SMALLEST:
            return
        if not self.limit:
            self.limit = largest * (1 + 1e-6)
        while self.limit < largest:
            self.counts[: BINS // 2] = self.counts.reshape(-1, 2).sum(1)
            self.counts[BINS // 2 :] = 0
            self.limit *= 2
        index = (np.abs(array) * np.float32(BINS / self.limit)).astype(np.int32).reshape(-1)
        found = np.bincount(index, minlength=BINS)
        zeros = array.size - np.count_nonzero(array)
        found[0] -= zeros
        found[BINS - 1] += found[BINS:].sum()  # the largest itself, rounded up
        self.counts += found[:BINS]
