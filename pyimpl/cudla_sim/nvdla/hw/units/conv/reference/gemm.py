"""Exact integer matrix products on floating-point BLAS.

A float32 product is exact as long as every partial sum stays within 2^24, a float64 product
within 2^53. For each kernel the sum of |weight| times the largest |input| bounds all partial
sums, in any order. Columns are split into as few chunks as keep that bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ......core.closing import outside

_STEP = 64
_EXACT32 = float(1 << 24)
_EXACT64 = float(1 << 53)
_ONE_THREAD = 1 << 18
_SMALL = 1 << 22


@dataclass(frozen=True, slots=True)
class Matrix:
    """Kernels as rows: ``weights`` [kernel, product], and sums of |weight| per 64 columns."""

    weights: NDArray[Any]
    sums: NDArray[np.float64]
    total: float

    @property
    def nbytes(self) -> int:
        return int(self.weights.nbytes + self.sums.nbytes)


def prepare(weights: NDArray[Any]) -> Matrix:
    """Wrap integer weights held as float32 or float64, [kernel, product]."""
    columns = weights.shape[1]
    magnitude = np.abs(weights)
    starts = np.arange(0, columns, _STEP)
    sums = np.add.reduceat(magnitude, starts, axis=1, dtype=np.float64)
    return Matrix(weights, sums, float(sums.sum(axis=1).max()))


def chunks(matrix: Matrix, largest: float) -> list[tuple[int, int]]:
    """Split the columns so that each chunk's partial sums are exact for |input| <= largest."""
    columns = matrix.weights.shape[1]
    limit = _EXACT32 if matrix.weights.dtype == np.float32 else _EXACT64
    if matrix.total * largest <= limit:
        return [(0, columns)]
    result, start = [], 0
    running = np.zeros(matrix.sums.shape[0])
    for step in range(matrix.sums.shape[1]):
        running += matrix.sums[:, step]
        if running.max() * largest > limit:
            result.append((start, step * _STEP))
            start = step * _STEP
            running = matrix.sums[:, step].copy()
    result.append((start, columns))
    return [part for part in result if part[0] < part[1]]


def _product(inputs: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
    """Return inputs @ weights.T.

    BLAS libraries use several threads from about 2^18 multiply-accumulates on and wait for each
    other at the end; on a busy machine a small product then takes milliseconds instead of
    microseconds. Small products are therefore cut into pieces that stay on one thread.
    """
    rows, work = len(inputs), weights.size
    if rows * work > _SMALL or rows * work <= _ONE_THREAD or work > _ONE_THREAD:
        result: NDArray[Any] = inputs @ weights.T
        return result
    step = _ONE_THREAD // work
    result = np.empty((rows, len(weights)), inputs.dtype)
    for first in range(0, rows, step):
        np.matmul(inputs[first : first + step], weights.T, out=result[first : first + step])
    return result


def multiply(
    inputs: NDArray[Any], matrix: Matrix, parts: list[tuple[int, int]]
) -> NDArray[np.floating[Any]]:
    """Return inputs @ weights.T, exact (float32 if one chunk suffices, else float64)."""
    if len(parts) == 1:
        with outside:
            return _product(inputs, matrix.weights)
    start, stop = parts[0]
    with outside:
        total = (inputs[:, start:stop] @ matrix.weights[:, start:stop].T).astype(np.float64)
    for start, stop in parts[1:]:
        with outside:
            total += inputs[:, start:stop] @ matrix.weights[:, start:stop].T
    return total
