"""Starting a group of BDMA transfers."""

from __future__ import annotations

from ...errors import HardwareFault
from ..glb import Interrupt
from ..launch import Launched, Layer, Release, Site
from . import bdma


def launch(site: Site) -> Launched | None:
    """Copy the blocks of the group that was launched first."""
    if not site.csb.bdma.launched:
        return None
    group, transfers = site.csb.bdma.launched[0]
    start = site.now()
    if not site.config.bdma and transfers:
        raise HardwareFault("BDMA", f"{site.config.name} has none")
    moved = sum(bdma.copy(transfer, site.memory) for transfer in transfers)
    layer = Layer("BDMA", {"BDMA": group}, (1, 1, moved), (1, 1, moved), 0, start)
    return Launched(layer, [Release(("BDMA",), Interrupt.BDMA, group)])
