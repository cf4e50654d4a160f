"""Starting CDP: CDP with CDP_RDMA."""

from __future__ import annotations

from dataclasses import replace

from ...chains import Chain
from ...launch import ComputedLayer, Launched, Site, Work
from ..sdp.lut import Counters
from . import reference as cdp

LUT_COUNTERS = {
    "under": "D_PERF_LUT_UFLOW",
    "over": "D_PERF_LUT_OFLOW",
    "hybrid": "D_PERF_LUT_HYBRID",
    "le_hit": "D_PERF_LUT_LE_HIT",
    "lo_hit": "D_PERF_LUT_LO_HIT",
}
"""Where CDP and SDP show what they count."""


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
    latch_lut(site, "CDP", result.counters, result.count_lut)
    odd = (result.nan_inputs, result.infinite_inputs, result.nan_outputs)
    site.latch("CDP", {"D_OUT_SATURATION": result.saturated, **dict(zip(_ODD, odd, strict=True))})
    return Launched(layer, chain.releases(site.csb), work)


def _computed(site: Site) -> tuple[cdp.Result, Work | None]:
    """Compute the layer that the registers describe."""
    state = site.csb.blocks["CDP"]
    assert state.lut is not None
    registers = (site.csb.blocks["CDP_RDMA"].active, state.active, state.single, state.lut)
    if site.ints is not None:
        job = cdp.compiled(*registers, site.config, site.memory)
        if job is not None:
            job.run()
            result = cdp.about(*registers[:2])
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
            shown = _SHOWN | shown_lut("CDP", result.count_lut)
            return result, Work([job], shown, tables=True)
    return cdp.run(*registers, site.config, site.memory), None


def shown_lut(block: str, counted: bool) -> dict[tuple[str, str], str]:
    """Where the LUT counters of CDP or SDP are shown, if they were switched on."""
    return {(block, register): name for name, register in LUT_COUNTERS.items() if counted}


def latch_lut(site: Site, block: str, counters: Counters, counted: bool) -> None:
    """Store the LUT counters of CDP or SDP if they were switched on."""
    if not counted:
        return
    site.latch(
        block, {register: getattr(counters, name) for name, register in LUT_COUNTERS.items()}
    )
