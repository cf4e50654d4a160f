"""Starting CDP: CDP with CDP_RDMA."""

from __future__ import annotations

from dataclasses import replace

from ...chains import Chain
from ...launch import ComputedLayer, Launched, Site, Work
from ..lut import counters as lut
from ..lut.counters import Counters
from . import cubes, native, reference

_ODD = ("D_NAN_INPUT_NUM", "D_INF_INPUT_NUM", "D_NAN_OUTPUT_NUM")


_SHOWN = {
    ("CDP", "D_OUT_SATURATION"): "clipped",
    ("CDP", "D_NAN_INPUT_NUM"): "nan_inputs",
    ("CDP", "D_INF_INPUT_NUM"): "infinite_inputs",
    ("CDP", "D_NAN_OUTPUT_NUM"): "nan_outputs",
}


def launch(site: Site, chain: Chain) -> Launched:
    """Normalise across channels."""
    start = site.now()
    result, work = _computed(site)
    layer = ComputedLayer(
        chain.name,
        chain.groups(site.csb),
        result.input_shape,
        result.input_shape,
        result.precision,
        start,
        saturated=result.saturated,
    )
    lut.latch(site, "CDP", result.counters, result.count_lut)
    odd = (result.nan_inputs, result.infinite_inputs, result.nan_outputs)
    site.latch("CDP", {"D_OUT_SATURATION": result.saturated, **dict(zip(_ODD, odd, strict=True))})
    return Launched(layer, chain.releases(site.csb), work)


def _computed(site: Site) -> tuple[cubes.Result, Work | None]:
    """Compute the layer that the registers describe."""
    state = site.csb.blocks["CDP"]
    assert state.lut is not None
    registers = (site.csb.blocks["CDP_RDMA"].active, state.active, state.single, state.lut)
    if site.ints is not None:
        job = native.compiled(*registers, site.config, site.memory)
        if job is not None:
            job.run()
            result = cubes.about(*registers[:2])
            counters = Counters()
            counters.add(job.looked_up)
            nan_inputs, infinite_inputs, nan_outputs = job.odd
            result = replace(
                result,
                counters=counters,
                saturated=job.clipped,
                nan_inputs=nan_inputs,
                infinite_inputs=infinite_inputs,
                nan_outputs=nan_outputs,
            )
            shown = _SHOWN | lut.shown("CDP", result.count_lut)
            return result, Work([job], shown, tables=True)
    return reference.run(*registers, site.config, site.memory), None
