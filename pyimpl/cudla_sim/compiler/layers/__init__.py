"""The front for networks that are described in Python, layer by layer."""

from __future__ import annotations

from ..pixels import Image
from .network import Network, Tensor

__all__ = ["Image", "Network", "Tensor"]
