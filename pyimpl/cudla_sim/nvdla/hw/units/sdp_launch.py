"""Starting SDP, alone or behind a convolution, and PDP behind it.

* convolution: CDMA, CSC, CMAC_A, CMAC_B, CACC and SDP in flying mode, SDP_RDMA if an operand
  comes from memory, PDP if SDP hands its result on;
* SDP with SDP_RDMA (and PDP as above).

Source: nvdla hardware manual "Programming guide".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....native import ints
from ..configs import FP16
from ..csb import CONVOLUTION
from ..glb import Interrupt
from ..launch import Launched, Layer, Release, Site
from . import pdp, sdp
from .buffer import Kept
from .cdp_launch import Tables, latch_lut
from .conv import Convolution
from .pdp_launch import latch as latch_pdp
from .prepared import Notes, Prepared
from .sdp_lut import Counters

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
    start = site.now()
    state = site.csb.blocks["SDP"]

    def same_tables(known: Prepared) -> bool:
        tables: Tables | None = known.about.tables
        return tables is None or tables.same(state)

    known = site.again("SDP", same_tables)
    return None if known is None else _again(site, known, start)


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


@dataclass(frozen=True, slots=True)
class _About:
    """What is told of a layer besides its counters, and the jobs that have those."""

    input_shape: tuple[int, int, int]
    output_shape: tuple[int, int, int]
    precision: int
    macs: int
    mode: tuple[int, ...]
    jobs: Sequence[ints.Layer]
    tables: Tables | None
    count_lut: bool


def _chain_name(chain: Sequence[str]) -> str:
    return "+".join([*["CONV"] * ("CDMA" in chain), "SDP", *["PDP"] * ("PDP" in chain)])


def _again(site: Site, known: Prepared, start: int) -> Launched:
    """What follows when a known layer was computed."""
    about: _About = known.about
    consumers = tuple([state.consumer for state in known.states])
    pattern: _Pattern | None = known.patterns.get(consumers)
    if pattern is None:
        pattern = known.patterns[consumers] = _pattern(site, known)
    layer = Layer(
        pattern.name,
        pattern.groups.copy(),
        about.input_shape,
        about.output_shape,
        about.precision,
        start,
        macs=about.macs,
        saturated=sum(job.clipped for job in known.jobs),
    )
    if pattern.flying:
        site.kept = Kept(mode=about.mode)
    for bank, index in pattern.zeros:
        bank[index] = 0
    bank, index = pattern.saturation
    bank[index] = sum(job.saturated for job in known.jobs) & 0xFFFFFFFF
    if about.precision == FP16:
        inputs, infinite, outputs = about.jobs[0].odd
        site.latch("SDP_RDMA", dict(zip(_RDMA_COUNTERS, (inputs, infinite), strict=True)))
        site.latch("SDP", {"D_STATUS_NAN_OUTPUT_NUM": outputs})
    if pattern.overflow is not None:
        bank, index = pattern.overflow
        bank[index] = sum(job.overflowed for job in about.jobs) & 0xFFFFFFFF
    if about.tables is not None:
        counters = Counters()
        for job in about.jobs:
            counters.add(job.looked_up)
        latch_lut(site, "SDP", counters, about.count_lut)
    return Launched(layer, pattern.releases)


@dataclass(frozen=True, slots=True)
class _Pattern:
    """What follows a known layer, for the register groups that its blocks work on. ``zeros`` are
    the counters that count nothing in integer layers, as (registers, index)."""

    name: str
    flying: bool
    groups: dict[str, int]
    releases: list[Release]
    zeros: list[tuple[list[int], int]]
    saturation: tuple[list[int], int]
    overflow: tuple[list[int], int] | None


def _pattern(site: Site, known: Prepared) -> _Pattern:
    chain = known.chain
    flying = "CDMA" in chain

    def place(block: str, register: str) -> tuple[list[int], int]:
        state = site.csb.blocks[block]
        return state.counted[state.consumer], state.layout.by_name[register].offset // 4

    zeros = [place("SDP", name) for name in ("D_STATUS_NAN_OUTPUT_NUM", "D_STATUS")]
    if flying:
        zeros += [place("CDMA", name) for name in _CDMA_COUNTERS]
    if "SDP_RDMA" in chain:
        zeros += [place("SDP_RDMA", name) for name in _RDMA_COUNTERS]
    return _Pattern(
        _chain_name(chain),
        flying,
        {name: site.consumer(name) for name in chain},
        _releases(site, list(chain), flying),
        zeros,
        place("SDP", "D_PERF_OUT_SATURATION"),
        place("CACC", "D_OUT_SATURATION") if flying else None,
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
                groups, site.config, site.memory, site.cache, site.kept, site.fp16, site.ints
            )
        assert state.lut is not None
        processor = sdp.Processor(
            groups, state.single, state.lut, site.config, site.memory, site.ints
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
        layer.output_shape = (pooled.out_channels, pooled.out_height, pooled.out_width)
        assert cube is not None
        latch_pdp(site, pdp.run(groups, site.config, site.memory, cube))
    else:
        weights = None if convolution is None else convolution.lasting_weights()
        complete = len(jobs) == p.batches  # the compiled function may decline one of a batch
        if complete and (convolution is None or weights is not None):
            mode = () if convolution is None else convolution.mode
            shapes = (layer.input_shape, layer.output_shape)
            tables = None if processor.lut is None else Tables(state)
            about = _About(
                *shapes, layer.precision, layer.macs, mode, jobs, tables, bool(p.count_lut)
            )
            site.remember("SDP", chain, jobs, notes, weights, about)
    _latch(site, processor, convolution)
    layer.saturated = processor.clipped
    if convolution is not None and processor.floating and site.fp16 is None:
        layer.notes.append("fp16: float32")
    return layer


def _releases(site: Site, chain: list[str], flying: bool) -> list[Release]:
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
