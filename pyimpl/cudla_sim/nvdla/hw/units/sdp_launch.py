"""Starting SDP, alone or behind a convolution, and PDP behind it."""

from __future__ import annotations

from ....native import ints
from ..chains import Chain, on_sdp
from ..launch import Launched, Layer, Pattern, Site
from . import known, pdp, pdp_windows, sdp
from .cdp_launch import LUT_COUNTERS, Tables, latch_lut
from .conv import Convolution
from .pdp_launch import latch as latch_pdp
from .prepared import About, Notes, Prepared

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


def launch_known(site: Site) -> Launched | None:
    """Run a layer that is known from before; None if there is none that could start."""
    if not site.ready("SDP"):
        return None
    return known.launch(site, "SDP", _pattern)


def launch(site: Site, chain: Chain) -> Launched:
    """Run a convolution with SDP, or SDP alone, each with PDP if it is the receiver."""
    return Launched(_run(site, chain), chain.releases(site.csb))


def _pattern(site: Site, layer: Prepared) -> Pattern:
    """What follows a known layer."""
    chain = on_sdp(layer.chain)
    zeros = [("SDP", "D_STATUS")]
    counted = {
        "saturated": known.counter(site, "SDP", "D_PERF_OUT_SATURATION"),
        "nan_outputs": known.counter(site, "SDP", "D_STATUS_NAN_OUTPUT_NUM"),
    }
    if "CDMA" in chain.blocks:
        counted["overflowed"] = known.counter(site, "CACC", "D_OUT_SATURATION")
        zeros += [("CDMA", name) for name in _CDMA_COUNTERS]
    if "SDP_RDMA" in chain.blocks:
        for name, register in zip(("nan_inputs", "infinite_inputs"), _RDMA_COUNTERS, strict=True):
            counted[name] = known.counter(site, "SDP_RDMA", register)
    if layer.tables is not None and sdp.Sdp.decode(site.csb.blocks["SDP"].active).count_lut:
        for name, register in LUT_COUNTERS.items():
            counted[name] = known.counter(site, "SDP", register)
    return known.pattern(
        site,
        chain,
        [known.counter(site, *place) for place in zeros],
        counted,
    )


def _run(site: Site, chain: Chain) -> Layer:
    groups = site.groups(chain.blocks)
    state = site.csb.blocks["SDP"]
    start = site.now()
    convolution = None
    jobs: list[ints.Layer] = []
    with Notes(site.memory) as notes:
        if "CDMA" in chain.blocks:
            convolution = Convolution(
                groups, site.config, site.memory, site.cache, site.kept, site.fp16, site.ints,
                site.doubt,
            )  # fmt: skip
        assert state.lut is not None
        processor = sdp.Processor(
            groups, state.single, state.lut, site.config, site.memory, site.ints, site.doubt
        )
        p = processor.p
        layer = Layer(
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
    if p.to_pdp:
        pooled = pdp.Pdp.decode(groups["PDP"])
        pdp_windows.settle(site, pooled)
        layer.output_shape = (pooled.out_channels, pooled.out_height, pooled.out_width)
        assert cube is not None
        latch_pdp(site, pdp.run(groups, site.config, site.memory, cube))
    else:
        weights = None if convolution is None else convolution.lasting_weights()
        complete = len(jobs) == p.batches  # the compiled function may decline one of a batch
        if complete and (convolution is None or weights is not None):
            mode = None if convolution is None else convolution.mode
            banks = (0, 0) if convolution is None else convolution.banks
            about = About(
                chain.name,
                layer.input_shape,
                layer.output_shape,
                layer.precision,
                layer.macs,
                mode,
                banks,
            )
            tables = None if processor.lut is None else Tables(state)
            before = [] if convolution is None else convolution.fetching()
            site.remember(
                "SDP", chain.blocks, [*before, *jobs], notes, weights, about, _pattern, tables
            )
    _latch(site, processor, convolution)
    layer.saturated = processor.clipped
    if convolution is not None and processor.floating and site.fp16 is None:
        layer.notes.append("fp16: float32")
    return layer


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
