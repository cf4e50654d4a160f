"""From ONNX to the compiler's graph."""

from __future__ import annotations

from .reading import load, read

__all__ = ["load", "read"]
