"""From the outputs of a sample to what is kept of it.

A row holds: ``sample``; with labels ``label``, ``rank`` (how many classes come before the right
one, 0: it is the first) and ``top`` (the best classes, best first); with a reference, for each
output, ``signal`` and ``noise``: sums over its elements of the reference squared, and of the
difference squared; ``outputs`` where they are kept, see ``stored``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import stored
from .errors import EvaluationError
from .runner import Arrays, Runner

TOP = 5
Row = dict[str, Any]


@dataclass(frozen=True)
class Batch:
    """Samples that one worker runs: their numbers, inputs, and what is right of each."""

    number: int
    samples: tuple[int, ...]
    feeds: tuple[Arrays, ...]
    output: str
    """The output that holds the classes' scores."""
    labels: tuple[int, ...] = ()
    references: tuple[dict[str, NDArray[Any]], ...] = field(default=(), repr=False)
    keep: bool = False
    """Whether rows hold the outputs."""


def ranking(scores: NDArray[Any]) -> NDArray[np.intp]:
    """Classes, the best first; of equal ones the lower number; NaN last."""
    return np.argsort(-scores.astype(np.float64).reshape(-1), kind="stable")


def run(runner: Runner, batch: Batch) -> list[Row]:
    """The rows of a batch. Raises EvaluationError."""
    outputs = runner.run(batch.feeds)
    return [_row(batch, i, found) for i, found in enumerate(outputs)]


def _row(batch: Batch, index: int, outputs: Arrays) -> Row:
    row: Row = {"sample": batch.samples[index]}
    if batch.labels:
        scores = outputs[batch.output]
        label, order = batch.labels[index], ranking(scores)
        if label >= scores.size:
            raise EvaluationError(
                f"sample {row['sample']} has the label {label}; output {batch.output!r} has "
                f"{scores.size} classes, from 0"
            )
        row["label"] = label
        row["rank"] = int(np.flatnonzero(order == label)[0])
        row["top"] = order[:TOP].tolist()
    if batch.references:
        signal, noise = row.setdefault("signal", {}), row.setdefault("noise", {})
        for name, expected in batch.references[index].items():
            found = outputs[name].astype(np.float64)
            if expected.size != found.size:
                raise EvaluationError(
                    f"the reference of output {name!r} has {expected.shape} for a sample, the "
                    f"network {found.shape}"
                )
            wanted = expected.astype(np.float64).reshape(found.shape)
            signal[name] = float(np.square(wanted).sum())
            noise[name] = float(np.square(wanted - found).sum())
    if batch.keep:
        row["outputs"] = stored.row(outputs)
    return row


def decibels(signal: float, noise: float) -> float:
    """Signal to quantisation noise; inf when there is no noise, -inf for no signal."""
    if noise == 0:
        return float("inf")
    with np.errstate(divide="ignore"):
        return float(10 * np.log10(signal / noise))


def samples_of(rows: Sequence[Row]) -> set[int]:
    return {int(row["sample"]) for row in rows}
