"""Times of ``cudla-sim dla time`` as data (``schemas/dla-time.schema.json``)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...boards.timing import OperationTime, Times

VERSION = 1


def described(times: Times) -> dict[str, Any]:
    """What ``--json`` prints."""
    found = asdict(times)
    found["operations"] = [_operation(row) for row in times.operations]
    found["gpu_layers"] = list(times.gpu_layers)
    found["notes"] = list(times.notes)
    found["subgraphs"] = [asdict(part) for part in times.subgraphs]
    return {"schema_version": VERSION, "version": VERSION, **found}


def _operation(row: OperationTime) -> dict[str, Any]:
    return {**asdict(row), "layers": list(row.layers)}
