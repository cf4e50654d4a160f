"""Building loadables from layers and numpy weights; see :class:`Network`."""

from __future__ import annotations

from cudla_sim.nvdla.build.layers import Image, Tensor
from cudla_sim.nvdla.build.network import Network

__all__ = ["Image", "Network", "Tensor"]
