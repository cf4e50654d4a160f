"""Building loadables from layers and numpy weights; see :class:`Network`."""

from __future__ import annotations

from .layers import Image, Tensor
from .network import Network

__all__ = ["Image", "Network", "Tensor"]
