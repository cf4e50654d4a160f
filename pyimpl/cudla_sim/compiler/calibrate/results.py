"""Results of earlier calibrations, kept by content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.core import untrusted

from ...version import __version__
from ...workers.runtime import cached
from .. import render
from .samples import Samples

_KIND = "calibration"
_FILE = "scales.json"
_PIECE = 1 << 20
"""Bytes of a sample that are read at once."""


def key_of(samples: Samples, method: str, percentile: float) -> str:
    """A digest of the network (weights included), the samples' bytes, the method, and what
    measures: another version may measure otherwise."""
    digest = hashlib.sha256(__version__.encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    large: dict[str, NDArray[Any]] = {}
    proto = render.model(samples.graph, [], large)
    digest.update(proto.SerializeToString(deterministic=True))
    for array in large.values():
        digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    how = samples.pictures
    words = [method, percentile, list(how.mean), list(how.factors)]
    words += [[port.name, port.shape, port.dtype, port.scale] for port in samples.graph.inputs]
    words += [[value.name, value.scale] for value in samples.graph.values()]
    digest.update(json.dumps(words).encode())
    for file in samples.files:
        digest.update(file.name.encode() + b"\0")
        with file.open("rb") as opened:
            contents = hashlib.sha256()
            for piece in iter(partial(opened.read, _PIECE), b""):
                contents.update(piece)
        digest.update(contents.digest())
    return digest.hexdigest()[:32]


def remembered(key: str, measure: Callable[[], dict[str, float]]) -> tuple[dict[str, float], bool]:
    """The scales of *key*, measured only if they are not kept yet; True if they were.

    Where nothing can be written, they are measured each time.
    """
    fresh: dict[str, float] = {}

    def build(folder: Path) -> None:
        fresh.update(measure())
        (folder / _FILE).write_text(json.dumps(fresh))

    try:
        folder = cached(_KIND, key, _FILE, build)
        if fresh:
            return fresh, False
        found = untrusted.read_json(folder / _FILE)
        return {name: float(scale) for name, scale in found.items()}, True
    except (OSError, ValueError):
        return (fresh or measure()), False
