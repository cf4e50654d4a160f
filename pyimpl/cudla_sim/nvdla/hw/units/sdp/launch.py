"""Starting SDP, alone or behind a convolution, and PDP behind it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....native import ints
from ....errors import HardwareFault
from ...chains import Chain
from ...launch import ComputedLayer, Launched, Site, Work
from ..conv.layer import Convolution
from ..lut import counters as lut
from ..pdp import reference as pooling
from ..pdp import windows
from ..pdp.launch import latch as latch_pdp
from ..pdp.registers import Pdp
from .processor import Processor
from .reference import bands

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
    return shown | lut.shown("SDP", count_lut)


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
    processor = Processor(
        groups, state.single, state.lut, site.config, site.memory, site.ints, site.doubt
    )
    p = processor.p
    if processor.rdma is not None and not p.flying:
        if site.unread:
            raise HardwareFault("SDP_RDMA", f"{site.unread}: the operations after it go wrong")
        site.unread = processor.unread
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
    cube = _computed(processor, convolution, jobs)
    work = None
    if p.to_pdp:
        pooled = Pdp.decode(groups["PDP"])
        windows.settle(site, pooled)
        layer.output_shape = (pooled.out_channels, pooled.out_height, pooled.out_width)
        assert cube is not None
        latch_pdp(site, pooling.run(groups, site.config, site.memory, cube, site.doubt))
    else:
        weights = None if convolution is None else convolution.repeatable()
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


def _latch(site: Site, processor: Processor, convolution: Convolution | None) -> None:
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
        lut.latch(site, "SDP", processor.lut.counters, bool(processor.p.count_lut))


def _latch_sdp(site: Site, nan_outputs: int, unequal: int, saturated: int) -> None:
    site.latch(
        "SDP",
        {
            "D_STATUS_NAN_OUTPUT_NUM": nan_outputs,
            "D_STATUS": unequal,
            "D_PERF_OUT_SATURATION": saturated,
        },
    )


def _computed(
    processor: Processor, convolution: Convolution | None, jobs: list[ints.IntegerLayer]
) -> NDArray[Any] | None:
    """Run a layer, by compiled functions or band by band; return the cube [y, x, channel] if PDP
    receives it.

    What is done by compiled functions is added to *jobs*, for each batch.
    """
    p = processor.p
    if convolution is not None:
        _, height, width = convolution.shape
        if (height, width) != (p.height, p.width) or convolution.batches != p.batches:
            raise HardwareFault(
                "SDP",
                f"a cube of {p.width} x {p.height} (batch {p.batches}) is set, the convolution"
                f" delivers {width} x {height} (batch {convolution.batches})",
            )
    cube = None
    if p.to_pdp:
        cube = np.empty((p.height, p.width, processor.padded_channels), processor.dtype)
    for batch in range(p.batches):
        target = None if p.to_pdp or processor.equality else processor.output(batch)
        into = cube if target is None else target
        layer = None if into is None else processor.at_once(convolution, batch, into)
        if layer is not None:
            layer.run()
            processor.clipped += layer.clipped
            processor.saturated += layer.saturated
            if convolution is not None:
                convolution.saturated += layer.overflowed
            if processor.lut is not None:
                processor.lut.counters.add(layer.looked_up)
            nan_inputs, infinite_inputs, nan_outputs = layer.odd
            processor.nan_inputs += nan_inputs
            processor.infinite_inputs += infinite_inputs
            processor.nan_outputs += nan_outputs
            jobs.append(layer)
            continue
        bands.compute(processor, convolution, batch, target, cube)
    return cube
