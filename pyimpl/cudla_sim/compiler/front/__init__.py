"""From ONNX to the compiler's graph."""

from __future__ import annotations

from .pixels import LAYOUTS as PIXEL_LAYOUTS
from .pixels import Pixels, put_in_front
from .reading import load, read

__all__ = ["PIXEL_LAYOUTS", "Pixels", "load", "put_in_front", "read"]
