"""Starting SDP, alone or behind a convolution, and PDP behind it.

* convolution: CDMA, CSC, CMAC_A, CMAC_B, CACC and SDP in flying mode, SDP_RDMA if an operand
  comes from memory, PDP if SDP hands its result on;
* SDP with SDP_RDMA (and PDP as above).

Source: nvdla hardware manual "Programming guide".
"""

from __future__ import annotations

from collections.abc import Sequence

from ....native import ints
from ..csb import CONVOLUTION
from ..glb import Interrupt
from ..launch import Launched, Layer, Pattern, Release, Site
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


def launch_idle_rdma(site: Site) -> Launched | None:
    """SDP_RDMA that was enabled without anything to fetch is done at once."""
    rdma = site.csb.blocks["SDP_RDMA"]
    if not rdma.ready:
        return None
    group, by_name = rdma.active, rdma.layout.by_name

    def value(name: str) -> int:
        return group[by_name[name].offset // 4]

    if not value("D_FEATURE_MODE_CFG") & 1:
        return None
    if not all(value(name) & 1 for name in ("D_BRDMA_CFG", "D_NRDMA_CFG", "D_ERDMA_CFG")):
        return None
    return Launched(None, [Release(("SDP_RDMA",), None, 0)])


def launch_known(site: Site) -> Launched | None:
    """Run a layer that is known from before; None if there is none that could start."""
    if not site.ready("SDP"):
        return None
    return known.launch(site, "SDP", _pattern)


def launch(site: Site) -> Launched | None:
    """Run a convolution with SDP, or SDP alone, each with PDP if it is the receiver."""
    if not site.ready("SDP"):
        return None
    active = site.csb.blocks["SDP"].active
    params = sdp.Sdp.decode(active)
    chain = ["SDP"]
    if params.flying:
        if not site.ready(*CONVOLUTION):
            return None
        chain = [*CONVOLUTION, "SDP"]
    if sdp.needs_rdma(active):
        if not site.ready("SDP_RDMA"):
            return None
        chain.append("SDP_RDMA")
    if params.to_pdp:
        flying = pdp.Pdp.decode(site.csb.blocks["PDP"].active)
        if not site.ready("PDP") or flying.off_flying:
            return None
        chain.append("PDP")
    layer = _run(site, chain, bool(params.flying))
    return Launched(layer, _releases(site, chain, bool(params.flying)))


def _chain_name(chain: Sequence[str]) -> str:
    return "+".join([*["CONV"] * ("CDMA" in chain), "SDP", *["PDP"] * ("PDP" in chain)])


def _pattern(site: Site, layer: Prepared) -> Pattern:
    """What follows a known layer."""
    chain = layer.chain
    flying = "CDMA" in chain
    zeros = [("SDP", "D_STATUS")]
    counted = {
        "saturated": known.counter(site, "SDP", "D_PERF_OUT_SATURATION"),
        "nan_outputs": known.counter(site, "SDP", "D_STATUS_NAN_OUTPUT_NUM"),
    }
    if flying:
        counted["overflowed"] = known.counter(site, "CACC", "D_OUT_SATURATION")
        zeros += [("CDMA", name) for name in _CDMA_COUNTERS]
    if "SDP_RDMA" in chain:
        for name, register in zip(("nan_inputs", "infinite_inputs"), _RDMA_COUNTERS, strict=True):
            counted[name] = known.counter(site, "SDP_RDMA", register)
    if layer.tables is not None and sdp.Sdp.decode(site.csb.blocks["SDP"].active).count_lut:
        for name, register in LUT_COUNTERS.items():
            counted[name] = known.counter(site, "SDP", register)
    return known.pattern(
        site,
        chain,
        _releases(site, chain, flying),
        [known.counter(site, *place) for place in zeros],
        counted,
    )


def _run(site: Site, chain: list[str], flying: bool) -> Layer:
    groups = site.groups(chain)
    state = site.csb.blocks["SDP"]
    start = site.now()
    convolution = None
    jobs: list[ints.Layer] = []
    with Notes(site.memory) as notes:
        if flying:
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
            _chain_name(chain),
            {name: site.consumer(name) for name in chain},
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
                layer.chain,
                layer.input_shape,
                layer.output_shape,
                layer.precision,
                layer.macs,
                mode,
                banks,
            )
            tables = None if processor.lut is None else Tables(state)
            before = [] if convolution is None else convolution.fetching()
            site.remember("SDP", chain, [*before, *jobs], notes, weights, about, tables)
    _latch(site, processor, convolution)
    layer.saturated = processor.clipped
    if convolution is not None and processor.floating and site.fp16 is None:
        layer.notes.append("fp16: float32")
    return layer


def _releases(site: Site, chain: Sequence[str], flying: bool) -> list[Release]:
    releases = []
    if flying:
        group = site.consumer("CDMA")
        releases.append(Release((), Interrupt.CDMA_DAT, group))
        releases.append(Release(("CDMA",), Interrupt.CDMA_WT, group))
        group = site.consumer("CACC")
        releases.append(Release(("CSC", "CMAC_A", "CMAC_B", "CACC"), Interrupt.CACC, group))
    members = tuple(name for name in ("SDP_RDMA", "SDP") if name in chain)
    releases.append(Release(members, Interrupt.SDP, site.consumer("SDP")))
    if "PDP" in chain:
        releases.append(Release(("PDP",), Interrupt.PDP, site.consumer("PDP")))
    return releases


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
