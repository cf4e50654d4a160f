"""Inputs that cannot be what an integer network was calibrated with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .annotation import PortNote

_SHARE = 0.5
"""Of the elements beyond what the input holds: calibration clips a few, not half of them."""


def remark(note: PortNote, values: NDArray[Any], dtype: np.dtype[Any]) -> str:
    """What is odd about real *values* for an input; "" if nothing is.

    A picture of 0 to 255 for a network that takes -1 to 1, or the other way round, saturates or
    vanishes without a word otherwise.
    """
    if note.scale is None or dtype.kind == "f" or not values.size:
        return ""
    limits = np.iinfo(dtype)
    low, high = (float(x - note.zero) * note.scale for x in (limits.min, limits.max))
    size = np.abs(values)
    beyond = float(np.mean((values > high + note.scale) | (values < low - note.scale)))
    largest = float(size.max())
    if beyond > _SHARE:
        return (
            f"input {note.name!r}: {beyond:.0%} of the elements lie beyond {low:.4g} to {high:.4g},"
            f" which its scale {note.scale:.4g} holds (largest: {largest:.4g}); scale them as the"
            " calibration data were"
        )
    if 0 < largest < note.scale / 2:
        return (
            f"input {note.name!r}: all elements round to 0 (largest: {largest:.4g}, one step is"
            f" {note.scale:.4g}); scale them as the calibration data were"
        )
    return ""
