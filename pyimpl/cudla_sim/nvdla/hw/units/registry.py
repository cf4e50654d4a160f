"""What the units of a core compute, by the rules of their chains (``chains.RULES``)."""

from __future__ import annotations

from ...errors import HardwareFault
from ..chains import Chain
from ..launch import ComputedLayer, Launch, Launched, Site
from .bdma import registers as bdma
from .cdp import launch as cdp_launch
from .pdp import launch as pdp_launch
from .rubik import reference as rubik
from .sdp import launch as sdp_launch


def _copy(site: Site, chain: Chain) -> Launched:
    """Copy the blocks of the group that was launched first."""
    _, transfers = site.csb.bdma.launched[0]
    start = site.now()
    if not site.config.bdma and transfers:
        raise HardwareFault("BDMA", f"{site.config.name} has none")
    moved = sum(bdma.copy(transfer, site.memory) for transfer in transfers)
    shape = (1, 1, moved)
    layer = ComputedLayer(chain.name, chain.groups(site.csb), shape, shape, 0, start)
    return Launched(layer, chain.releases(site.csb))


def _rearrange(site: Site, chain: Chain) -> Launched:
    """Contract, split or merge a cube."""
    start = site.now()
    shapes = rubik.run(site.groups(chain.blocks), site.config, site.memory)
    layer = ComputedLayer(chain.name, chain.groups(site.csb), *shapes, start)
    return Launched(layer, chain.releases(site.csb))


UNITS: dict[str, Launch] = {
    "SDP": sdp_launch.launch,
    "PDP": pdp_launch.launch,
    "SDP_RDMA": sdp_launch.launch_idle_rdma,
    "CDP": cdp_launch.launch,
    "BDMA": _copy,
    "RUBIK": _rearrange,
}
