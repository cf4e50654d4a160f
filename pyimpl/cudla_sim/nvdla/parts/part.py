"""A part of a network, and the tensors between parts."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

DTYPES = tuple(np.dtype(code).name for code in "fedbBhHiIlL?")
"""Element types of tensors between parts, by numpy's names."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of the ONNX model: numpy's name of its element type, and its shape.

    *varies*: the data decide the sizes; *shape* is the largest one, where that can be told, or what
    it was for the first calibration sample.
    """

    dtype: str
    shape: tuple[int, ...]
    varies: bool = False

    @property
    def size(self) -> int:
        """Bytes, one element after the other."""
        return int(prod(self.shape)) * np.dtype(self.dtype).itemsize

    @property
    def sizes(self) -> str:
        """For people."""
        return ("up to " if self.varies else "") + ("x".join(map(str, self.shape)) or "number")


@dataclass(frozen=True, slots=True)
class Part:
    """Consecutive nodes: *host* tells whether *data* is an ONNX model or a loadable.

    *macs*: multiply-accumulates of its nodes as the ONNX model counts them, None where the package
    does not say.
    """

    host: bool
    nodes: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    data: bytes
    macs: int | None = None

    @property
    def where(self) -> str:
        """Who runs it."""
        return "host (onnxruntime)" if self.host else "hardware"

    def __str__(self) -> str:
        shown = ", ".join(self.nodes[:6]) + (" ..." if len(self.nodes) > 6 else "")
        return f"{self.where}: {len(self.nodes)} nodes ({shown})"
