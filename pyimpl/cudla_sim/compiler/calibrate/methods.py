"""How the clipping limit of a value follows from its histogram.

minmax takes the largest absolute value; percentile what all but a small part of the elements stay
below; mse the limit with the least mean squared error of int8; entropy the limit whose int8
distribution differs least from the true one (Kullback-Leibler), as TensorRT's
EntropyCalibration2 and others that publish their method do it (S. Migacz, 8-bit Inference with
TensorRT, 2017).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.facts.precisions import INT8_TOP

from .histogram import BINS, Histogram

LEVELS = INT8_TOP + 1
"""Magnitudes of int8, 0 included."""
_STEP = 16
PERCENTILE = 99.99


def _minmax(histogram: Histogram, percentile: float) -> float:
    del percentile
    return histogram.largest


def _percentile(histogram: Histogram, percentile: float) -> float:
    total = np.cumsum(histogram.counts)
    bin_ = int(np.searchsorted(total, total[-1] * percentile / 100))
    return min((bin_ + 1) * histogram.limit / BINS, histogram.largest)


def _mse(histogram: Histogram, percentile: float) -> float:
    del percentile
    x = (np.arange(BINS) + 0.5) * histogram.limit / BINS
    limits = histogram.largest * np.linspace(0.2, 1, 161)
    steps = limits[:, None] / (LEVELS - 1)
    rounded = np.minimum(np.rint(x / steps), LEVELS - 1) * steps
    errors = ((rounded - x) ** 2) @ histogram.counts.astype(np.float64)
    return float(limits[int(np.argmin(errors))])


def _entropy(histogram: Histogram, percentile: float) -> float:
    del percentile
    counts = histogram.counts.astype(np.float64)
    if counts.sum() == 0:
        return histogram.largest
    ends = np.arange(LEVELS, BINS + 1, _STEP)
    divergence = [_divergence(counts, int(end)) for end in ends]
    best = int(ends[int(np.argmin(divergence))])
    return min((best + 0.5) * histogram.limit / BINS, histogram.largest)


def _divergence(counts: NDArray[np.float64], end: int) -> float:
    """How much the first *end* bins in LEVELS levels differ from all, clipped to them."""
    kept = counts[:end]
    true = kept.copy()
    true[-1] += counts[end:].sum()
    level = np.arange(end) * LEVELS // end
    filled = kept > 0
    sums = np.bincount(level, kept, LEVELS)
    used = np.bincount(level, filled, LEVELS)
    mean = np.divide(sums, used, out=np.zeros(LEVELS), where=used > 0)
    coarse = np.where(filled, mean[level], 0)
    p, q = _smooth(true), _smooth(coarse)
    return float((p * np.log(p / q)).sum())


def _smooth(counts: NDArray[np.float64], epsilon: float = 1e-4) -> NDArray[np.float64]:
    """A distribution without zeros: what they get is taken from the others evenly."""
    empty = counts == 0
    missing, present = int(empty.sum()), int((~empty).sum())
    total = counts.sum()
    share = counts / total if total else np.full(counts.size, 1 / counts.size)
    if not missing or not present:
        return share
    taken = epsilon * missing / present
    lifted = np.where(empty, epsilon, np.maximum(share - taken, epsilon * 1e-3))
    return lifted / lifted.sum()


METHODS: dict[str, Callable[[Histogram, float], float]] = {
    "minmax": _minmax,
    "entropy": _entropy,
    "percentile": _percentile,
    "mse": _mse,
}
"""Limit of a histogram, given the percentile."""
