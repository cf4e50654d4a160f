"""Starting PDP on data from memory: PDP with PDP_RDMA."""

from __future__ import annotations

from .....native.halves import HalfPoolLayer
from ...chains import Chain
from ...launch import ComputedLayer, Job, Launched, Site, Work
from . import cubes, native, reference, windows
from .registers import Odd, Pdp

_COUNTERS = ("D_NAN_INPUT_NUM", "D_INF_INPUT_NUM", "D_NAN_OUTPUT_NUM")


_SHOWN = {
    ("PDP", register): name
    for register, name in zip(
        _COUNTERS, ("nan_inputs", "infinite_inputs", "nan_outputs"), strict=True
    )
}


def _odd(job: Job) -> Odd:
    """What a compiled layer counted."""
    return Odd(*job.odd) if isinstance(job, HalfPoolLayer) else Odd()


def launch(site: Site, chain: Chain) -> Launched:
    """Pool a cube that PDP_RDMA fetches."""
    groups = site.groups(chain.blocks)
    params = Pdp.decode(groups["PDP"])
    windows.settle(site, params)
    start = site.now()
    job = None if site.ints is None else native.compiled(groups, site.config, site.memory)
    work = None
    if job is not None:
        job.run()
        work = Work([job], _SHOWN)
        latch(site, _odd(job))
    else:
        cube = cubes.fetch(groups, site.config, site.memory)
        latch(site, reference.run(groups, site.config, site.memory, cube, site.doubt))
    layer = ComputedLayer(
        chain.name, chain.groups(site.csb), *_shapes(params), params.precision, start
    )
    return Launched(layer, chain.releases(site.csb), work)


_Shape = tuple[int, int, int]


def _shapes(params: Pdp) -> tuple[_Shape, _Shape]:
    return (
        (params.channels, params.height, params.width),
        (params.out_channels, params.out_height, params.out_width),
    )


def latch(site: Site, odd: Odd) -> None:
    """Store the counters of NaN and infinity."""
    site.latch(
        "PDP",
        dict(zip(_COUNTERS, (odd.nan_inputs, odd.infinite_inputs, odd.nan_outputs), strict=True)),
    )
