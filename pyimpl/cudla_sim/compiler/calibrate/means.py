"""Averages of a network's values by channel, for the correction of biases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CompileError
from ..graph import Graph
from .ranges import Runner


def channel_means(
    graph: Graph, samples: Iterable[Mapping[str, NDArray[Any]]]
) -> dict[str, NDArray[np.float64]]:
    """{name of a value: average of each channel [c] over samples and pixels}.

    *samples* are {name of an input: array of the ONNX input's shape}. Raises CompileError.
    """
    run = Runner(graph)
    sums: dict[str, NDArray[np.float64]] = {}
    count = 0
    for sample in samples:
        for value, array in run(sample).items():
            found = array.mean((0, 2, 3), dtype=np.float64)
            sums[value.name] = sums.get(value.name, 0.0) + found
        count += 1
    if not count:
        raise CompileError("calibration: there are no samples")
    return {name: total / count for name, total in sums.items()}
