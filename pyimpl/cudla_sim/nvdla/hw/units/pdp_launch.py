"""Starting PDP on data from memory: PDP with PDP_RDMA."""

from __future__ import annotations

from ..glb import Interrupt
from ..launch import Launched, Layer, Release, Site
from . import pdp


def launch(site: Site) -> Launched | None:
    """Pool a cube that PDP_RDMA fetches."""
    if not site.ready("PDP", "PDP_RDMA"):
        return None
    groups = site.groups(("PDP_RDMA", "PDP"))
    params = pdp.Pdp.decode(groups["PDP"])
    if not params.off_flying:
        return None
    start = site.now()
    cube = pdp.fetch(groups, site.config, site.memory)
    latch(site, pdp.run(groups, site.config, site.memory, cube))
    group = site.consumer("PDP")
    layer = Layer(
        "PDP",
        {"PDP": group},
        (params.channels, params.height, params.width),
        (params.out_channels, params.out_height, params.out_width),
        params.precision,
        start,
    )
    return Launched(layer, [Release(("PDP_RDMA", "PDP"), Interrupt.PDP, group)])


def latch(site: Site, odd: pdp.Odd) -> None:
    """Store the counters of NaN and infinity."""
    site.latch(
        "PDP",
        {
            "D_NAN_INPUT_NUM": odd.nan_inputs,
            "D_INF_INPUT_NUM": odd.infinite_inputs,
            "D_NAN_OUTPUT_NUM": odd.nan_outputs,
        },
    )
