"""Starting RUBIK."""

from __future__ import annotations

from ..chains import Chain
from ..launch import Launched, Layer, Site
from . import rubik


def launch(site: Site, chain: Chain) -> Launched:
    """Contract, split or merge a cube."""
    start = site.now()
    shapes = rubik.run(site.groups(chain.blocks), site.config, site.memory)
    layer = Layer(chain.name, chain.groups(site.csb), *shapes, start)
    return Launched(layer, chain.releases(site.csb))
