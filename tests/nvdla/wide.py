"""A loadable that the checker refuses."""

from __future__ import annotations

import numpy as np

from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.descriptors import SURFACE_SIZE, PdpSurface
from cudla_sim.nvdla.loadable import Loadable
from cudla_sim.nvdla.target import layers


def wide_pooling() -> bytes:
    """A pooling of 150 columns in one operation, where nv_small's line buffer holds 128.

    Another operation computes the last columns once more.
    """
    net = Network(input=("x", (1, 8, 4, 300)), precision="int8", config="nv_small")
    net.max_pool(2)
    data = net.build(np.ones((1, 8, 4, 300)))
    loadable = Loadable.parse(data)
    found = next(iter(layers(loadable))).surface
    assert isinstance(found, PdpSurface)
    surface = PdpSurface.decode(found.encode())
    surface.src.width, surface.dst.width = 300, 150
    old = bytes(loadable.blobs["task-0-surf_list"].data)
    assert data.count(old) == 1
    return data.replace(old, surface.encode(pad_to=SURFACE_SIZE) + old[SURFACE_SIZE:])
