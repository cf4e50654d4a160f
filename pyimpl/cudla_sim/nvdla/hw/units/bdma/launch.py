"""Starting BDMA."""

from __future__ import annotations

from ....errors import HardwareFault
from ...chains import Chain
from ...launch import ComputedLayer, Launched, Site
from . import reference


def launch(site: Site, chain: Chain) -> Launched:
    """Copy the blocks of the group that was launched first."""
    _, transfers = site.csb.bdma.launched[0]
    start = site.now()
    if not site.config.bdma and transfers:
        raise HardwareFault("BDMA", f"{site.config.name} has none")
    moved = sum(reference.copy(transfer, site.memory) for transfer in transfers)
    shape = (1, 1, moved)
    layer = ComputedLayer(chain.name, chain.groups(site.csb), shape, shape, 0, start)
    return Launched(layer, chain.releases(site.csb))
