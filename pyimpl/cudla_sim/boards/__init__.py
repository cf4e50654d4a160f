"""What TensorRT would put on the DLA of a Jetson or DRIVE board, why not the rest, and how long
that takes: from an ONNX model, without the board."""

from __future__ import annotations

from .checking import Report, check
from .errors import DlaError

__all__ = ["DlaError", "Report", "check"]
