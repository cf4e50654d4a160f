"""One NVDLA core: register file, launch rules, units, delivery of "done".

Enabling a register group only takes note. ``step()`` launches the next chain of units that is
completely enabled, computes it, and releases exactly one event: a unit leaves its group, its
interrupt bit is set. Chains (nvdla hardware manual "Programming guide"):

* convolution: CDMA, CSC, CMAC_A, CMAC_B, CACC and SDP in flying mode, SDP_RDMA if an operand
  comes from memory, PDP if SDP hands its result on;
* SDP with SDP_RDMA (and PDP as above); PDP with PDP_RDMA; CDP with CDP_RDMA; RUBIK; BDMA.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter_ns

import numpy as np

from cudla_sim.native import Native, load
from cudla_sim.nvdla.errors import HardwareFault, NvdlaError, Status
from cudla_sim.nvdla.hw.configs import HardwareConfig
from cudla_sim.nvdla.hw.csb import LAUNCHED, BlockState, RegisterFile
from cudla_sim.nvdla.hw.glb import Interrupt
from cudla_sim.nvdla.hw.memory import Memory
from cudla_sim.nvdla.hw.units import bdma, cdp, pdp, rubik, sdp
from cudla_sim.nvdla.hw.units.conv import Convolution, Kept
from cudla_sim.nvdla.hw.units.sdp_lut import Counters
from cudla_sim.nvdla.hw.units.weights import WeightCache

CONVOLUTION = ("CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC")


@dataclass(slots=True)
class Layer:
    """What one launch did. ``groups`` tells the register group each unit used."""

    chain: str
    groups: dict[str, int]
    input_shape: tuple[int, int, int]
    output_shape: tuple[int, int, int]
    precision: int
    start_ns: int
    end_ns: int = 0
    macs: int = 0
    saturated: int = 0
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Event:
    """Units that leave their group, and the interrupt that announces it."""

    finish: tuple[str, ...]
    interrupt: Interrupt | None
    group: int


class Chip:
    """A core with its two memory ports; ``on_layer`` is told about every computed layer.

    Without *exact*, fp16 convolutions are computed in float32, which rounds elsewhere.
    """

    def __init__(
        self,
        config: HardwareConfig,
        memory: Memory,
        secondary: Memory | None = None,
        cache: WeightCache | None = None,
        exact: bool = True,
        native: Native | None = None,
    ) -> None:
        self.config = config
        self.memory = (secondary or memory, memory)
        self.csb = RegisterFile(config.line, self._note)
        self.on_layer: Callable[[Layer], None] | None = None
        self.read = self.csb.read
        self.write = self.csb.write
        self._cache = cache if cache is not None else WeightCache()
        self._exact = exact
        self._fp16 = (native or load()).fp16 if exact else None
        self._kept = Kept()
        self._events: deque[_Event] = deque()
        self._changed = False

    def _note(self, block: str) -> None:
        self._changed = True

    def touch(self) -> None:
        """Look for chains that can start with the next step, whatever happened before."""
        self._changed = True

    @property
    def irq(self) -> bool:
        """Level of the interrupt line."""
        return self.csb.glb.line

    @property
    def pending(self) -> int:
        """Events of computed layers that have not been released yet."""
        return len(self._events)

    def step(self) -> bool:
        """Release one event; False if nothing is running and nothing can start.

        Raises NvdlaError if a launched layer is not defined or not simulated; the state of the
        chip is then undefined until it is replaced.
        """
        if not self._events and not (self._changed and self._launch()):
            self._changed = False
            return False
        event = self._events.popleft()
        for name in event.finish:
            if name == "BDMA":
                self.csb.bdma.launched.popleft()
                self.csb.bdma.busy[event.group] = False
            else:
                self.csb.blocks[name].finish()
        if event.interrupt is not None:
            self.csb.glb.raise_bit(event.interrupt, event.group)
        return True

    def waiting(self) -> list[str]:
        """Say which enabled units wait for which others."""
        blocks = self.csb.blocks
        enabled = [name for name in LAUNCHED if blocks[name].ready]
        if not enabled:
            return []
        missing = [name for name in CONVOLUTION if not blocks[name].ready]
        text = "enabled: " + ", ".join(enabled)
        if 0 < len(missing) < len(CONVOLUTION):
            text += "; not enabled: " + ", ".join(missing)
        return [text]

    def _launch(self) -> bool:
        """Start the first chain whose members are all enabled."""
        try:
            with np.errstate(all="ignore"):  # overflow and NaN are ordinary values in fp16
                return self._launch_ready()
        except MemoryError:
            raise NvdlaError(
                "not enough host memory for the working set of a layer", Status.INSUFFICIENT_MEMORY
            ) from None

    def _launch_ready(self) -> bool:
        blocks = self.csb.blocks
        if blocks["SDP"].ready and self._launch_sdp(blocks):
            return True
        if blocks["PDP"].ready and blocks["PDP_RDMA"].ready and self._launch_pdp(blocks):
            return True
        if blocks["SDP_RDMA"].ready and self._idle_rdma(blocks["SDP_RDMA"]):
            return True
        if blocks["CDP"].ready and blocks["CDP_RDMA"].ready:
            return self._launch_cdp(blocks)
        if self.csb.bdma.launched:
            return self._launch_bdma()
        if blocks["RBK"].ready:
            return self._launch_rubik(blocks)
        return False

    def _groups(self, names: Sequence[str]) -> dict[str, list[int]]:
        return {name: self.csb.blocks[name].active for name in names}

    def _finish(self, names: tuple[str, ...], interrupt: Interrupt | None, group: int) -> None:
        self._events.append(_Event(names, interrupt, group))

    def _done(self, layer: Layer) -> None:
        layer.end_ns = perf_counter_ns()
        if self.on_layer is not None:
            self.on_layer(layer)

    def _idle_rdma(self, rdma: BlockState) -> bool:
        """SDP_RDMA that was enabled without anything to fetch is done at once."""
        group = rdma.active
        by_name = rdma.layout.by_name

        def value(name: str) -> int:
            return group[by_name[name].offset // 4]

        if not value("D_FEATURE_MODE_CFG") & 1:
            return False
        if not all(value(name) & 1 for name in ("D_BRDMA_CFG", "D_NRDMA_CFG", "D_ERDMA_CFG")):
            return False
        self._finish(("SDP_RDMA",), None, 0)
        return True

    def _launch_sdp(self, blocks: dict[str, BlockState]) -> bool:
        """Launch a convolution with SDP, or SDP alone, each with PDP if it is the receiver."""
        active = blocks["SDP"].active
        params = sdp.Sdp.decode(active)
        chain = ["SDP"]
        if params.flying:
            if not all(blocks[name].ready for name in CONVOLUTION):
                return False
            chain = [*CONVOLUTION, "SDP"]
        if sdp.needs_rdma(active):
            if not blocks["SDP_RDMA"].ready:
                return False
            chain.append("SDP_RDMA")
        if params.to_pdp:
            flying = pdp.Pdp.decode(blocks["PDP"].active)
            if not blocks["PDP"].ready or flying.off_flying:
                return False
            chain.append("PDP")
        self._run_sdp(chain, bool(params.flying))
        return True

    def _run_sdp(self, chain: list[str], flying: bool) -> None:
        groups = self._groups(chain)
        blocks = self.csb.blocks
        start = perf_counter_ns()
        convolution = None
        if flying:
            convolution = Convolution(
                groups, self.config, self.memory, self._cache, self._kept, self._fp16
            )
        state = blocks["SDP"]
        assert state.lut is not None
        processor = sdp.Processor(groups, state.single, state.lut, self.config, self.memory)
        p = processor.p
        layer = Layer(
            "+".join([*["CONV"][: int(flying)], "SDP", *["PDP"][: "PDP" in chain]]),
            {name: blocks[name].consumer for name in chain},
            (p.channels, p.height, p.width),
            (p.channels, p.height, p.width),
            p.proc_precision,
            start,
        )
        if convolution is not None:
            source = convolution.cdma
            layer.input_shape = (source.channels, source.height, source.width)
            layer.macs = convolution.macs
        cube = sdp.run(processor, convolution)
        if p.to_pdp:
            pooled = pdp.Pdp.decode(groups["PDP"])
            layer.output_shape = (pooled.out_channels, pooled.out_height, pooled.out_width)
            assert cube is not None
            self._latch_pdp(pdp.run(groups, self.config, self.memory, cube))
        self._latch(processor, convolution)
        layer.saturated = processor.clipped
        if convolution is not None and processor.floating and not self._exact:
            layer.notes.append("fp16: float32")
        self._done(layer)
        if flying:
            group = blocks["CDMA"].consumer
            self._finish((), Interrupt.CDMA_DAT, group)
            self._finish(("CDMA",), Interrupt.CDMA_WT, group)
            group = blocks["CACC"].consumer
            self._finish(("CSC", "CMAC_A", "CMAC_B", "CACC"), Interrupt.CACC, group)
        members = tuple(name for name in ("SDP_RDMA", "SDP") if name in chain)
        self._finish(members, Interrupt.SDP, state.consumer)
        if "PDP" in chain:
            self._finish(("PDP",), Interrupt.PDP, blocks["PDP"].consumer)

    def _latch(self, processor: sdp.Processor, convolution: Convolution | None) -> None:
        """Store the counters that depend on data only."""
        if convolution is not None:
            self.csb.latch("CACC", "D_OUT_SATURATION", convolution.saturated)
            data, weights = convolution.odd_data, convolution.odd_weights
            self.csb.latch("CDMA", "D_NAN_INPUT_DATA_NUM", data.nan)
            self.csb.latch("CDMA", "D_INF_INPUT_DATA_NUM", data.infinite)
            self.csb.latch("CDMA", "D_NAN_INPUT_WEIGHT_NUM", weights.nan)
            self.csb.latch("CDMA", "D_INF_INPUT_WEIGHT_NUM", weights.infinite)
        if processor.rdma is not None:
            self.csb.latch("SDP_RDMA", "D_STATUS_NAN_INPUT_NUM", processor.nan_inputs)
            self.csb.latch("SDP_RDMA", "D_STATUS_INF_INPUT_NUM", processor.infinite_inputs)
        self.csb.latch("SDP", "D_STATUS_NAN_OUTPUT_NUM", processor.nan_outputs)
        self.csb.latch("SDP", "D_STATUS", int(processor.unequal))
        self.csb.latch("SDP", "D_PERF_OUT_SATURATION", processor.saturated)
        if processor.lut is not None:
            counted = bool(processor.p.count_lut)
            self._latch_lut("SDP", "D_PERF_LUT", processor.lut.counters, counted)

    def _latch_lut(self, block: str, prefix: str, counters: Counters, counted: bool) -> None:
        """Store the LUT counters if they were switched on."""
        if not counted:
            return
        self.csb.latch(block, f"{prefix}_UFLOW", counters.under)
        self.csb.latch(block, f"{prefix}_OFLOW", counters.over)
        self.csb.latch(block, f"{prefix}_HYBRID", counters.hybrid)
        self.csb.latch(block, f"{prefix}_LE_HIT", counters.le_hit)
        self.csb.latch(block, f"{prefix}_LO_HIT", counters.lo_hit)

    def _latch_pdp(self, odd: pdp.Odd) -> None:
        self.csb.latch("PDP", "D_NAN_INPUT_NUM", odd.nan_inputs)
        self.csb.latch("PDP", "D_INF_INPUT_NUM", odd.infinite_inputs)
        self.csb.latch("PDP", "D_NAN_OUTPUT_NUM", odd.nan_outputs)

    def _launch_pdp(self, blocks: dict[str, BlockState]) -> bool:
        groups = self._groups(("PDP_RDMA", "PDP"))
        params = pdp.Pdp.decode(groups["PDP"])
        if not params.off_flying:
            return False
        start = perf_counter_ns()
        cube = pdp.fetch(groups, self.config, self.memory)
        self._latch_pdp(pdp.run(groups, self.config, self.memory, cube))
        layer = Layer(
            "PDP",
            {"PDP": blocks["PDP"].consumer},
            (params.channels, params.height, params.width),
            (params.out_channels, params.out_height, params.out_width),
            params.precision,
            start,
        )
        self._done(layer)
        self._finish(("PDP_RDMA", "PDP"), Interrupt.PDP, blocks["PDP"].consumer)
        return True

    def _launch_cdp(self, blocks: dict[str, BlockState]) -> bool:
        state = blocks["CDP"]
        assert state.lut is not None
        start = perf_counter_ns()
        result = cdp.run(
            blocks["CDP_RDMA"].active,
            state.active,
            state.single,
            state.lut,
            self.config,
            self.memory,
        )
        shape = result.input_shape
        layer = Layer("CDP", {"CDP": state.consumer}, shape, shape, result.precision, start)
        layer.saturated = result.saturated
        self._latch_lut("CDP", "D_PERF_LUT", result.counters, result.count_lut)
        self.csb.latch("CDP", "D_OUT_SATURATION", result.saturated)
        self.csb.latch("CDP", "D_NAN_INPUT_NUM", result.nan_inputs)
        self.csb.latch("CDP", "D_INF_INPUT_NUM", result.infinite_inputs)
        self.csb.latch("CDP", "D_NAN_OUTPUT_NUM", result.nan_outputs)
        self._done(layer)
        self._finish(("CDP_RDMA", "CDP"), Interrupt.CDP, state.consumer)
        return True

    def _launch_rubik(self, blocks: dict[str, BlockState]) -> bool:
        state = blocks["RBK"]
        start = perf_counter_ns()
        shapes = rubik.run(self._groups(("RBK",)), self.config, self.memory)
        self._done(Layer("RUBIK", {"RBK": state.consumer}, *shapes, start))
        self._finish(("RBK",), Interrupt.RUBIK, state.consumer)
        return True

    def _launch_bdma(self) -> bool:
        group, transfers = self.csb.bdma.launched[0]
        start = perf_counter_ns()
        moved = 0
        if not self.config.bdma and transfers:
            raise HardwareFault("BDMA", f"{self.config.name} has none")
        for transfer in transfers:
            moved += bdma.copy(transfer, self.memory)
        self._done(Layer("BDMA", {"BDMA": group}, (1, 1, moved), (1, 1, moved), 0, start))
        self._finish(("BDMA",), Interrupt.BDMA, group)
        return True
