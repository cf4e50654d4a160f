"""Outputs of samples as they stand in rows, which are JSON, and in results."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import EvaluationError

MOST_BYTES = 256 << 20
"""Of all outputs that are kept without being asked for."""


def row(outputs: Mapping[str, NDArray[Any]]) -> dict[str, list[Any]]:
    """Element type, shape and bytes of each."""
    return {
        name: [array.dtype.str, list(array.shape), base64.b64encode(array.tobytes()).decode()]
        for name, array in outputs.items()
    }


def columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, NDArray[Any] | list[NDArray[Any]]]:
    """Arrays [samples, ...] by ``output:NAME``; a list of arrays where their shapes differ. Raises
    EvaluationError for a damaged journal."""
    names = list(rows[0].get("outputs", {})) if rows else []
    found: dict[str, NDArray[Any] | list[NDArray[Any]]] = {}
    for name in names:
        try:
            arrays = [_array(item["outputs"][name]) for item in rows]
        except (KeyError, ValueError, TypeError) as error:
            raise EvaluationError(
                f"the journal is damaged: {error}; --restart begins anew"
            ) from None
        same = len({array.shape for array in arrays}) == 1
        found[f"output:{name}"] = np.stack(arrays) if same else arrays
    return found


def _array(kept: Sequence[Any]) -> NDArray[Any]:
    dtype, shape, data = kept
    return np.frombuffer(base64.b64decode(data), np.dtype(str(dtype))).reshape(shape)
