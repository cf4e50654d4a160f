"""Starting CDP: CDP with CDP_RDMA."""

from __future__ import annotations

from dataclasses import replace

from ...chains import Chain
from ...launch import ComputedLayer, Launched, Site, Work
from ..lut import counters as lut
from ..lut.counters import Counters
from . import cubes, native, reference
from .lut import out_of_reach

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
    result, work = _computed(site, chain)
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


def _computed(site: Site, chain: Chain) -> tuple[cubes.Result, Work | None]:
    """Compute the layer that the registers describe."""
    state = site.csb.blocks["CDP"]
    assert state.lut is not None
    groups = site.groups(chain.blocks)
    registers = (groups["CDP_RDMA"], groups["CDP"], state.single, state.lut)
    precision = cubes.about(*registers[:2]).precision
    wide = out_of_reach(state.single, precision, site.config)
    narrow = bool(wide) and reference.differs_on_chip(*registers, site.config, site.memory)
    if narrow:
        site.doubt("CDP", wide)
    if site.ints is not None:
        job = native.compiled(*registers, site.config, site.memory, narrow)
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
            return result, None if wide else Work([job], shown, tables=True)
    return reference.run(*registers, site.config, site.memory, narrow), None
