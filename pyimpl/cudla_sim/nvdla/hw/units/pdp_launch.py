"""Starting PDP on data from memory: PDP with PDP_RDMA."""

from __future__ import annotations

from ....native.halves import HalfPoolLayer
from .. import chains
from ..chains import Chain
from ..launch import Launched, Layer, Pattern, Site
from . import known, pdp, pdp_windows
from .prepared import About, Job, Notes, Prepared

_COUNTERS = ("D_NAN_INPUT_NUM", "D_INF_INPUT_NUM", "D_NAN_OUTPUT_NUM")


def _pattern(site: Site, layer: Prepared) -> Pattern:
    """What follows a known layer."""
    names = ("nan_inputs", "infinite_inputs", "nan_outputs")
    places = [known.counter(site, "PDP", name) for name in _COUNTERS]
    counted = dict(zip(names, places, strict=True))
    return known.pattern(site, chains.PDP, [], counted)


def _odd(job: Job) -> pdp.Odd:
    """What a compiled layer counted."""
    return pdp.Odd(*job.odd) if isinstance(job, HalfPoolLayer) else pdp.Odd()


def launch(site: Site, chain: Chain) -> Launched:
    """Pool a cube that PDP_RDMA fetches."""
    again = known.launch(site, "PDP", _pattern)
    if again is not None:
        return again
    groups = site.groups(chain.blocks)
    params = pdp.Pdp.decode(groups["PDP"])
    pdp_windows.settle(site, params)
    start = site.now()
    with Notes(site.memory) as notes:
        job = None if site.ints is None else pdp.compiled(groups, site.config, site.memory)
        if job is not None:
            job.run()
    if job is not None:
        about = About(chain.name, *_shapes(params), params.precision)
        site.remember("PDP", chain.blocks, [job], notes, None, about, _pattern)
        latch(site, _odd(job))
    else:
        cube = pdp.fetch(groups, site.config, site.memory)
        latch(site, pdp.run(groups, site.config, site.memory, cube))
    layer = Layer(chain.name, chain.groups(site.csb), *_shapes(params), params.precision, start)
    return Launched(layer, chain.releases(site.csb))


_Shape = tuple[int, int, int]


def _shapes(params: pdp.Pdp) -> tuple[_Shape, _Shape]:
    return (
        (params.channels, params.height, params.width),
        (params.out_channels, params.out_height, params.out_width),
    )


def latch(site: Site, odd: pdp.Odd) -> None:
    """Store the counters of NaN and infinity."""
    site.latch(
        "PDP",
        dict(zip(_COUNTERS, (odd.nan_inputs, odd.infinite_inputs, odd.nan_outputs), strict=True)),
    )
