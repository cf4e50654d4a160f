"""Starting RUBIK."""

from __future__ import annotations

from ...chains import Chain
from ...launch import ComputedLayer, Launched, Site
from . import reference


def launch(site: Site, chain: Chain) -> Launched:
    """Contract, split or merge a cube."""
    start = site.now()
    shapes = reference.run(site.groups(chain.blocks), site.config, site.memory)
    layer = ComputedLayer(chain.name, chain.groups(site.csb), *shapes, start)
    return Launched(layer, chain.releases(site.csb))
