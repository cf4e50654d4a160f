"""Starting CDP: CDP with CDP_RDMA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..csb import BlockState
from ..glb import Interrupt
from ..launch import Launched, Layer, Release, Site
from . import cdp
from .prepared import Notes
from .sdp_lut import Counters

_CHAIN = ("CDP", "CDP_RDMA")


class Tables:
    """The look-up tables and their registers (which exist once) as they were for a layer."""

    def __init__(self, state: BlockState) -> None:
        assert state.lut is not None
        self._version = state.lut.version
        self._entries = [list(table) for table in state.lut.tables]
        self._registers = state.single[: state.first]

    def same(self, state: BlockState) -> bool:
        """Whether they still are; tables may have been written with what they held."""
        lut = state.lut
        assert lut is not None
        if state.single[: state.first] != self._registers:
            return False
        if lut.version != self._version:
            if any(a != b for a, b in zip(lut.tables, self._entries, strict=True)):
                return False
            self._version = lut.version
        return True


def launch(site: Site) -> Launched | None:
    """Normalise across channels."""
    if not site.ready("CDP", "CDP_RDMA"):
        return None
    state = site.csb.blocks["CDP"]
    start = site.now()
    known = site.again("CDP", lambda layer: layer.about[0].same(state))
    result = _computed(site) if known is None else _told(known.about[1], known.jobs)
    layer = Layer(
        "CDP",
        {"CDP": state.consumer},
        result.input_shape,
        result.input_shape,
        result.precision,
        start,
        saturated=result.saturated,
    )
    latch_lut(site, "CDP", result.counters, result.count_lut)
    site.latch(
        "CDP",
        {
            "D_OUT_SATURATION": result.saturated,
            "D_NAN_INPUT_NUM": result.nan_inputs,
            "D_INF_INPUT_NUM": result.infinite_inputs,
            "D_NAN_OUTPUT_NUM": result.nan_outputs,
        },
    )
    return Launched(layer, [Release(("CDP_RDMA", "CDP"), Interrupt.CDP, state.consumer)])


def _computed(site: Site) -> cdp.Result:
    """Compute the layer that the registers describe."""
    state = site.csb.blocks["CDP"]
    assert state.lut is not None
    registers = (site.csb.blocks["CDP_RDMA"].active, state.active, state.single, state.lut)
    if site.ints is not None:
        with Notes(site.memory) as notes:
            job = cdp.compiled(*registers, site.config, site.memory)
        if job is not None:
            job.run()
            about = (Tables(state), cdp.about(*registers[:2]))
            site.remember("CDP", _CHAIN, [job], notes, None, about)
            return _told(about[1], [job])
    return cdp.run(*registers, site.config, site.memory)


def _told(about: cdp.Result, jobs: Sequence[Any]) -> cdp.Result:
    """What a compiled layer counted."""
    counters = Counters()
    counters.add(jobs[0].looked_up)
    nan_inputs, infinite_inputs, nan_outputs = jobs[0].odd
    return replace(
        about,
        counters=counters,
        saturated=jobs[0].clipped,
        nan_inputs=nan_inputs,
        infinite_inputs=infinite_inputs,
        nan_outputs=nan_outputs,
    )


def latch_lut(site: Site, block: str, counters: Counters, counted: bool) -> None:
    """Store the LUT counters of CDP or SDP if they were switched on."""
    if not counted:
        return
    site.latch(
        block,
        {
            "D_PERF_LUT_UFLOW": counters.under,
            "D_PERF_LUT_OFLOW": counters.over,
            "D_PERF_LUT_HYBRID": counters.hybrid,
            "D_PERF_LUT_LE_HIT": counters.le_hit,
            "D_PERF_LUT_LO_HIT": counters.lo_hit,
        },
    )
