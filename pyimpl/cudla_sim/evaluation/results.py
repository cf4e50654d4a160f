"""What an evaluation found, in numbers and as a file."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cluster.connection import EXTRA
from . import stored
from .errors import EvaluationError
from .score import TOP, Row, decibels

SUFFIXES = (".parquet", ".npz")


@dataclass(frozen=True)
class Evaluation:
    """``seconds`` and ``run`` (samples) are of this call; an earlier, interrupted one may have done
    the rest."""

    network: str
    names: list[str]
    rows: list[Row] = field(repr=False)
    """One for each sample, in their order; see ``score``."""
    workers: int = 1
    run: int = 0
    seconds: float = 0.0

    @property
    def samples(self) -> int:
        return len(self.rows)

    @property
    def throughput(self) -> float:
        """Samples a second of this call, all workers together."""
        return self.run / self.seconds if self.seconds else 0.0

    def correct(self, top: int = 1) -> int | None:
        """Samples whose class is among the ``top`` best; None without labels."""
        if not self.rows or "rank" not in self.rows[0]:
            return None
        return sum(row["rank"] < top for row in self.rows)

    @property
    def top1(self) -> float | None:
        """Share of samples whose best class is right; None without labels."""
        return self._share(1)

    @property
    def top5(self) -> float | None:
        """The same for the five best classes."""
        return self._share(TOP)

    def _share(self, top: int) -> float | None:
        found = self.correct(top)
        return None if found is None else found / len(self.rows)

    @property
    def sqnr(self) -> dict[str, float]:
        """Signal to quantisation noise of each output in dB, over all samples; {} without a
        reference."""
        outputs = self.rows[0].get("signal", {}) if self.rows else {}
        return {
            name: decibels(*(math.fsum(r[kind][name] for r in self.rows) for kind in _ENERGIES))
            for name in outputs
        }

    @property
    def table(self) -> dict[str, NDArray[Any]]:
        """Columns by name, one entry a sample: sample, name, and what ``score`` keeps."""
        made: dict[str, NDArray[Any]] = {
            "sample": np.array([r["sample"] for r in self.rows], np.int64),
            "name": np.array([self.names[r["sample"]] for r in self.rows]),
        }
        first = self.rows[0] if self.rows else {}
        for column in ("label", "rank"):
            if column in first:
                made[column] = np.array([r[column] for r in self.rows], np.int64)
        if "top" in first:
            made["top"] = np.array([r["top"] for r in self.rows], np.int64)
        for kind in _ENERGIES:
            for name in first.get(kind, {}):
                made[f"{kind}:{name}"] = np.array([r[kind][name] for r in self.rows], np.float64)
        return made

    @property
    def outputs(self) -> dict[str, NDArray[Any] | list[NDArray[Any]]]:
        """Arrays [samples, ...] of each output where they are kept; a list of arrays where samples
        have different shapes."""
        prefix = len("output:")
        return {name[prefix:]: found for name, found in stored.columns(self.rows).items()}

    def summary(self) -> dict[str, Any]:
        """What is known about all samples together, for JSON."""
        return {
            "network": self.network,
            "samples": self.samples,
            "top1": self.top1,
            "top5": self.top5,
            "sqnr_db": self.sqnr or None,
            "workers": self.workers,
            "samples_run": self.run,
            "seconds": self.seconds,
            "samples_per_second": self.throughput,
        }

    def encode(self, suffix: str) -> bytes:
        """The bytes of a results file, .parquet or .npz; the summary is in the metadata of the
        one, under the key ``cudla-sim``, and the array ``summary`` of the other, as JSON. Outputs
        are lists of their elements in the one, and arrays [samples, ...] in the other (one a sample
        where shapes differ)."""
        text = json.dumps(self.summary())
        target = io.BytesIO()
        kept = stored.columns(self.rows)
        if suffix == ".npz":
            arrays = {"summary": np.array(text), **self.table}
            for name, found in kept.items():
                if isinstance(found, list):
                    arrays.update({f"{name}:{n}": array for n, array in enumerate(found)})
                else:
                    arrays[name] = found
            np.savez_compressed(target, **arrays)  # type: ignore[arg-type]
            return target.getvalue()
        pyarrow, parquet = arrow()
        columns = {name: list(a) if a.ndim > 1 else a for name, a in self.table.items()}
        columns.update({name: [a.ravel() for a in found] for name, found in kept.items()})
        table = pyarrow.table(columns).replace_schema_metadata({"cudla-sim": text})
        parquet.write_table(table, target)
        return target.getvalue()


_ENERGIES = ("signal", "noise")


def arrow() -> tuple[Any, Any]:
    """pyarrow and its Parquet. Raises EvaluationError where it is not installed."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise EvaluationError(f".parquet needs pyarrow: {EXTRA} ({error})") from None
    return pyarrow, parquet


def check_name(path: Path) -> None:
    """Before the work. Raises EvaluationError for a file that could not be written."""
    if path.suffix not in SUFFIXES:
        raise EvaluationError(f"{path}: results are written as {' or '.join(SUFFIXES)}")
    if path.suffix == ".parquet":
        arrow()


def lines(found: Evaluation) -> Sequence[str]:
    """For people."""
    made = [f"{found.network}: {found.samples} samples"]
    for top, share in ((1, found.top1), (TOP, found.top5)):
        if share is not None:
            made.append(f"top-{top}  {100 * share:.2f} %  ({found.correct(top)} right)")
    made += [f"SQNR   {value:.2f} dB  {name}" for name, value in found.sqnr.items()]
    if found.run:
        made.append(
            f"{found.throughput:.1f} samples/s ({found.run} in {found.seconds:.1f} s, "
            f"{found.workers} workers)"
        )
    return made
