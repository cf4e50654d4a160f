"""From ONNX to the compiler's graph."""

from __future__ import annotations

from .reading import load

__all__ = ["load"]
