"""Starting CDP: CDP with CDP_RDMA."""

from __future__ import annotations

from dataclasses import replace

from .. import chains
from ..chains import Chain
from ..csb import BlockState
from ..launch import Launched, Layer, Pattern, Site
from . import cdp, known
from .prepared import About, Notes, Prepared
from .sdp_lut import Counters

LUT_COUNTERS = {
    "under": "D_PERF_LUT_UFLOW",
    "over": "D_PERF_LUT_OFLOW",
    "hybrid": "D_PERF_LUT_HYBRID",
    "le_hit": "D_PERF_LUT_LE_HIT",
    "lo_hit": "D_PERF_LUT_LO_HIT",
}
"""Where CDP and SDP show what they count."""


class Tables:
    """The look-up tables and their registers (which exist once, in ``bank``) as they were for a
    layer."""

    def __init__(self, state: BlockState) -> None:
        assert state.lut is not None
        self._state = state
        self.bank = state.single
        self._version = state.lut.version
        self._entries = [list(table) for table in state.lut.tables]
        self._registers = state.single[: state.first]

    def same(self) -> bool:
        """Whether they still are; tables may have been written with what they held."""
        state, lut = self._state, self._state.lut
        assert lut is not None
        if state.single[: state.first] != self._registers:
            return False
        if lut.version != self._version:
            if any(a != b for a, b in zip(lut.tables, self._entries, strict=True)):
                return False
            self._version = lut.version
        return True


_ODD = ("D_NAN_INPUT_NUM", "D_INF_INPUT_NUM", "D_NAN_OUTPUT_NUM")


def _pattern(site: Site, layer: Prepared) -> Pattern:
    """What follows a known layer."""
    names = ("clipped", "nan_inputs", "infinite_inputs", "nan_outputs")
    places = [known.counter(site, "CDP", name) for name in ("D_OUT_SATURATION", *_ODD)]
    counted = dict(zip(names, places, strict=True))
    if cdp.Cdp.decode(site.csb.blocks["CDP"].active).count_lut:
        for name, register in LUT_COUNTERS.items():
            counted[name] = known.counter(site, "CDP", register)
    return known.pattern(site, chains.CDP, [], counted)


def launch(site: Site, chain: Chain) -> Launched:
    """Normalise across channels."""
    again = known.launch(site, "CDP", _pattern)
    if again is not None:
        return again
    start = site.now()
    result = _computed(site, chain)
    layer = Layer(
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
    return Launched(layer, chain.releases(site.csb))


def _computed(site: Site, chain: Chain) -> cdp.Result:
    """Compute the layer that the registers describe."""
    state = site.csb.blocks["CDP"]
    assert state.lut is not None
    registers = (site.csb.blocks["CDP_RDMA"].active, state.active, state.single, state.lut)
    if site.ints is not None:
        with Notes(site.memory) as notes:
            job = cdp.compiled(*registers, site.config, site.memory)
        if job is not None:
            job.run()
            result = cdp.about(*registers[:2])
            about = About(chain.name, result.input_shape, result.input_shape, result.precision)
            site.remember("CDP", chain.blocks, [job], notes, None, about, _pattern, Tables(state))
            counters = Counters()
            counters.add(job.looked_up)
            nan_inputs, infinite_inputs, nan_outputs = job.odd
            return replace(
                result,
                counters=counters,
                saturated=job.clipped,
                nan_inputs=nan_inputs,
                infinite_inputs=infinite_inputs,
                nan_outputs=nan_outputs,
            )
    return cdp.run(*registers, site.config, site.memory)


def latch_lut(site: Site, block: str, counters: Counters, counted: bool) -> None:
    """Store the LUT counters of CDP or SDP if they were switched on."""
    if not counted:
        return
    site.latch(
        block, {register: getattr(counters, name) for name, register in LUT_COUNTERS.items()}
    )
