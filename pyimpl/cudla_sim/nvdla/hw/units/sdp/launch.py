"""Starting SDP, alone or behind a convolution, and PDP behind it."""

from __future__ import annotations

from .....native import ints
from ...chains import Chain
from ...launch import ComputedLayer, Launched, Site, Work
from ..cdp.launch import latch_lut, shown_lut
from ..conv.layer import Convolution
from ..pdp import reference as pdp
from ..pdp import windows as pdp_windows
from ..pdp.launch import latch as latch_pdp
from . import processor as sdp

_CDMA_COUNTERS = (
    "D_NAN_INPUT_DATA_NUM",
    "D_INF_INPUT_DATA_NUM",
    "D_NAN_INPUT_WEIGHT_NUM",
    "D_INF_INPUT_WEIGHT_NUM",
)
_RDMA_COUNTERS = ("D_STATUS_NAN_INPUT_NUM", "D_STATUS_INF_INPUT_NUM")


def launch_idle_rdma(site: Site, chain: Chain) -> Launched:
    """SDP_RDMA has nothing to fetch."""
    return Launched(None, chain.releases(site.csb))


def launch(site: Site, chain: Chain) -> Launched:
    """Run a convolution with SDP, or SDP alone, each with PDP if it is the receiver."""
    layer, work = _run(site, chain)
    return Launched(layer, chain.releases(site.csb), work)


def _shown(chain: Chain, count_lut: bool) -> dict[tuple[str, str], str]:
    """Where the counters of what compiled functions compute are shown."""
    shown = {
        ("SDP", "D_STATUS"): "",
        ("SDP", "D_PERF_OUT_SATURATION"): "saturated",
        ("SDP", "D_STATUS_NAN_OUTPUT_NUM"): "nan_outputs",
    }
    if "CDMA" in chain.blocks:
        shown["CACC", "D_OUT_SATURATION"] = "overflowed"
        shown |= {("CDMA", name): "" for name in _CDMA_COUNTERS}
    if "SDP_RDMA" in chain.blocks:
        for name, register in zip(("nan_inputs", "infinite_inputs"), _RDMA_COUNTERS, strict=True):
            shown["SDP_RDMA", register] = name
    return shown | shown_lut("SDP", count_lut)


def _run(site: Site, chain: Chain) -> tuple[ComputedLayer, Work | None]:
    groups = site.groups(chain.blocks)
    state = site.csb.blocks["SDP"]
    start = site.now()
    convolution = None
    jobs: list[ints.IntegerLayer] = []
    if "CDMA" in chain.blocks:
        convolution = Convolution(
            groups, site.config, site.memory, site.arranged, site.kept, site.fp16, site.ints,
            site.doubt,
        )  # fmt: skip
    assert state.lut is not None
    processor = sdp.Processor(
        groups, state.single, state.lut, site.config, site.memory, site.ints, site.doubt
    )
    p = processor.p
    layer = ComputedLayer(
        chain.name,
        chain.groups(site.csb),
        (p.channels, p.height, p.width),
        (p.channels, p.height, p.width),
        p.proc_precision,
        start,
    )
    if convolution is not None:
        source = convolution.cdma
        layer.input_shape = (source.channels, source.height, source.width)
        layer.macs = convolution.macs
    cube = sdp.run(processor, convolution, jobs)
    work = None
    if p.to_pdp:
        pooled = pdp.Pdp.decode(groups["PDP"])
        pdp_windows.settle(site, pooled)
        layer.output_shape = (pooled.out_channels, pooled.out_height, pooled.out_width)
        assert cube is not None
        latch_pdp(site, pdp.run(groups, site.config, site.memory, cube))
    else:
        weights = None if convolution is None else convolution.from_memory()
        complete = len(jobs) == p.batches  # the compiled function may decline one of a batch
        if complete and (convolution is None or weights is not None):
            before = [] if convolution is None else convolution.fetching()
            tables = processor.lut is not None
            shown = _shown(chain, tables and bool(p.count_lut))
            work = Work([*before, *jobs], shown, weights, tables)
    _latch(site, processor, convolution)
    layer.saturated = processor.clipped
    if convolution is not None and processor.floating and site.fp16 is None:
        layer.notes.append("fp16: float32")
    return layer, work


def _latch(site: Site, processor: sdp.Processor, convolution: Convolution | None) -> None:
    """Store the counters that depend on data only."""
    if convolution is not None:
        data, weights = convolution.odd_data, convolution.odd_weights
        site.latch("CACC", {"D_OUT_SATURATION": convolution.saturated})
        counted = (data.nan, data.infinite, weights.nan, weights.infinite)
        site.latch("CDMA", dict(zip(_CDMA_COUNTERS, counted, strict=True)))
    if processor.rdma is not None:
        inputs = (processor.nan_inputs, processor.infinite_inputs)
        site.latch("SDP_RDMA", dict(zip(_RDMA_COUNTERS, inputs, strict=True)))
    _latch_sdp(site, processor.nan_outputs, int(processor.unequal), processor.saturated)
    if processor.lut is not None:
        latch_lut(site, "SDP", processor.lut.counters, bool(processor.p.count_lut))


def _latch_sdp(site: Site, nan_outputs: int, unequal: int, saturated: int) -> None:
    site.latch(
        "SDP",
        {
            "D_STATUS_NAN_OUTPUT_NUM": nan_outputs,
            "D_STATUS": unequal,
            "D_PERF_OUT_SATURATION": saturated,
        },
    )
