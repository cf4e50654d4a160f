"""Starting PDP on data from memory: PDP with PDP_RDMA."""

from __future__ import annotations

from ....native.halves import HalfPoolLayer
from ..glb import Interrupt
from ..launch import Launched, Layer, Release, Site
from . import pdp
from .prepared import Job, Notes

_CHAIN = ("PDP_RDMA", "PDP")


def _launch_known(site: Site) -> Launched | None:
    """Run the layer that is ready as it ran before; None if it is not known."""
    start = site.now()
    known = site.again("PDP")
    if known is None:
        return None
    latch(site, _odd(known.jobs[0]))
    return _launched(site, pdp.Pdp.decode(known.groups[1]), start)


def _odd(job: Job) -> pdp.Odd:
    """What a compiled layer counted."""
    return pdp.Odd(*job.odd) if isinstance(job, HalfPoolLayer) else pdp.Odd()


def launch(site: Site) -> Launched | None:
    """Pool a cube that PDP_RDMA fetches."""
    if not site.ready(*_CHAIN):
        return None
    known = _launch_known(site)
    if known is not None:
        return known
    groups = site.groups(_CHAIN)
    params = pdp.Pdp.decode(groups["PDP"])
    if not params.off_flying:
        return None
    start = site.now()
    with Notes(site.memory) as notes:
        job = None if site.ints is None else pdp.compiled(groups, site.config, site.memory)
        if job is not None:
            job.run()
    if job is not None:
        site.remember("PDP", _CHAIN, [job], notes, None, None)
        latch(site, _odd(job))
    else:
        cube = pdp.fetch(groups, site.config, site.memory)
        latch(site, pdp.run(groups, site.config, site.memory, cube))
    return _launched(site, params, start)


def _launched(site: Site, params: pdp.Pdp, start: int) -> Launched:
    group = site.consumer("PDP")
    layer = Layer(
        "PDP",
        {"PDP": group},
        (params.channels, params.height, params.width),
        (params.out_channels, params.out_height, params.out_width),
        params.precision,
        start,
    )
    return Launched(layer, [Release(_CHAIN, Interrupt.PDP, group)])


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
