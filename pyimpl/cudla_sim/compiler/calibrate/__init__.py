"""Ranges of a network's values, from samples or from a calibration cache of TensorRT."""

from __future__ import annotations

from .best import best
from .methods import METHODS
from .ranges import Statistics, channel_means, ranges, statistics, statistics_for
from .samples import Samples, load_samples
from .table import Table, applied

__all__ = [
    "METHODS",
    "Samples",
    "Statistics",
    "Table",
    "applied",
    "best",
    "channel_means",
    "load_samples",
    "ranges",
    "statistics",
    "statistics_for",
]
