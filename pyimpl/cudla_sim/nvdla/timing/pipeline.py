"""A core that tells time instead of computing: registers, chains of units and interrupts are those
of the real model (``hw/chains.py``), a launch only finds out how long it takes.

Operations run over the units with two register groups each: a convolution loads while the one
before it computes, if it is enabled by then and there is room (:mod:`.held`). A register write
takes its cycles, and so does the answer to an interrupt.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from ..facts.configs import HardwareConfig
from ..facts.precisions import NAMES
from ..hw.chains import RULES, Chain, Release
from ..hw.chip import Chip
from ..hw.memory import Memory, Windows
from ..hw.units.cdp.registers import Cdp, CdpRdma
from ..hw.units.conv.registers import Cdma, Csc
from ..hw.units.pdp.registers import Pdp, PdpRdma
from ..hw.units.rubik.registers import Rubik
from ..hw.units.sdp.registers import STAGES, BnDma, BsDma, EwDma, Sdp, SdpRdma
from .durations import Cost, Durations, Stream, cube_bytes
from .held import Held
from .parameters import Surroundings

_NONE = (0, 0, 0)
Shapes = tuple[tuple[int, int, int], tuple[int, int, int]]


@dataclass(frozen=True, slots=True)
class TimedOperation:
    """One launched chain. Times in cycles from the first register write; ``bound`` says what it
    takes its time from: mac, input (it loads longer than it computes), weights (waits for them),
    output (results leave more slowly), memory (bandwidth), latency (of reads), unit (SDP, PDP and
    CDP at their own rate), or software. Shapes are (channels, height, width), (0, 0, 0) for copies;
    ``task`` and ``layers`` (numbers of the chain's operations in it) are known for loadables."""

    index: int
    unit: str
    start: int
    end: int
    bound: str
    bytes_read: int
    bytes_written: int
    macs: int
    mac_utilization: float
    input_shape: tuple[int, int, int] = _NONE
    output_shape: tuple[int, int, int] = _NONE
    precision: str = ""
    task: int = 0
    layers: tuple[int, ...] = ()

    @property
    def shapes(self) -> str:
        """``1x28x28 -> 20x24x24``: channels, height, width; "" for copies."""
        if not any(self.output_shape):
            return ""
        source, result = self.input_shape, self.output_shape
        return f"{'x'.join(map(str, source))} -> {'x'.join(map(str, result))}"


class TimedChip(Chip):
    """``now`` is the cycle; ``operations`` are what was launched, in order."""

    def __init__(self, config: HardwareConfig, around: Surroundings) -> None:
        nothing = Memory(Windows([]))
        super().__init__(config, nothing, nothing)
        self.around = around
        self.now = 0.0
        self.operations: list[TimedOperation] = []
        self.who: Callable[[dict[str, int]], tuple[int, tuple[int, ...]]] = lambda _: (0, ())
        """Task and operations behind register groups, where somebody knows them."""
        self._durations = Durations(config, around)
        self._due: list[tuple[float, int, Release]] = []
        self._order = count()
        self._running: set[str] = set()
        self._loaded_at = 0.0  # when CDMA is free for the next load
        self._held: Held | None = None
        self._enabled: dict[str, list[float]] = {}
        self.first_enable: float | None = None
        """The cycle in which a block was enabled first."""
        self._freed: dict[str, float] = {}
        self._cost: dict[str, Callable[[Chain], None]] = {
            "SDP": self._sdp,
            "PDP": self._pdp,
            "SDP_RDMA": self._idle,
            "CDP": self._cdp,
            "BDMA": self._bdma,
            "RUBIK": self._rubik,
        }
        """What says how long a chain takes, by its rule."""
        self._writes, self._reads = self.csb.write, self.csb.read
        self.write, self.read = self._timed_write, self._timed_read

    def _timed_write(self, address: int, value: int) -> None:
        self.now += self.around.register_cycles
        self._writes(address, value)

    def _timed_read(self, address: int) -> int:
        self.now += self.around.read_cycles
        self._deliver()
        return self._reads(address)

    def _note(self, block: str) -> None:
        super()._note(block)
        state = self.csb.blocks.get(block)
        if state is not None:
            self._enabled.setdefault(block, [0, 0])[state.producer] = self.now
            if self.first_enable is None:
                self.first_enable = self.now

    @property
    def pending(self) -> int:
        """Nothing happens at once here: what is due comes step by step."""
        return 0

    def software(self, name: str) -> None:
        """A software operation, which nothing overlaps."""
        start = self.now
        self.now += self.around.software_cycles
        self._done(name, start, self.now, Cost(0, 0, 0, "software", 0, 0), {})

    def step(self, first: int = 0) -> bool:
        """Let the next thing happen; False if nothing runs and nothing can start.

        *first*: interrupt status bits whose events go before the others.
        """
        while self._start():
            pass
        if not self._due:
            return False
        due, _, release = self._next(first)
        self.now = max(self.now, due)
        self._leave_at(due, release)
        if release.interrupt is not None:
            self.now += self.around.interrupt_cycles
            self._deliver()
        return True

    def _deliver(self) -> None:
        """What has ended by now is seen with the next look at the interrupt status."""
        while self._due and self._due[0][0] <= self.now:
            due, _, release = heapq.heappop(self._due)
            self._leave_at(due, release)

    def _leave_at(self, due: float, release: Release) -> None:
        release.happen(self.csb)
        for name in release.blocks:
            self._running.discard(name)
            self._freed[name] = due

    def _next(self, first: int) -> tuple[float, int, Release]:
        named = [entry for entry in self._due if entry[2].raises(first)]
        if not named:
            return heapq.heappop(self._due)
        self._due.remove(min(named))
        heapq.heapify(self._due)
        return min(named)

    # -- starting -----------------------------------------------------------------------------

    def _start(self) -> bool:
        """Start the first chain that can start."""
        for unit, rule in RULES.items():
            chain = rule(self.csb, self._running)
            if chain is not None:
                self._cost[unit](chain)
                return True
        return False

    def _release(self, chain: Chain, *ends: float) -> None:
        """Let the parts of a chain leave at these times."""
        for end, release in zip(ends, chain.releases(self.csb), strict=True):
            heapq.heappush(self._due, (end, next(self._order), release))

    def _done(
        self,
        unit: str,
        start: float,
        end: float,
        cost: Cost,
        groups: dict[str, int],
        shapes: Shapes = (_NONE, _NONE),
        precision: int = -1,
    ) -> None:
        busy = max(end - start, 1) * self.config.macs_per_cycle(precision)
        task, layers = self.who(groups)
        self.operations.append(
            TimedOperation(
                len(self.operations),
                unit,
                round(start),
                round(end),
                cost.bound,
                cost.bytes_read,
                cost.bytes_written,
                cost.macs,
                cost.macs / busy,
                *shapes,
                NAMES[precision] if 0 <= precision < len(NAMES) else "",
                task,
                layers,
            )
        )

    def _begin(self, blocks: tuple[str, ...]) -> float:
        """Take the blocks for an operation; the cycle in which the last of them was enabled or
        became free, which the driver may have used for something else since."""
        self._running |= set(blocks)
        known = [
            max(self._enabled[name][self.csb.blocks[name].consumer], self._freed.get(name, 0))
            for name in blocks
            if name in self._enabled
        ]
        return min(max(known, default=self.now), self.now)

    def _sdp(self, chain: Chain) -> None:
        blocks = self.csb.blocks
        active = blocks["SDP"].active
        p = Sdp.decode(active)
        shape = p.channels, p.height, p.width
        memory = p.destination_mc
        written = cube_bytes(self.config, shape, p.out_precision)
        result, pooled = shape, None
        if "PDP" in chain.blocks:
            pooled = Pdp.decode(blocks["PDP"].active)
            result = pooled.out_channels, pooled.out_height, pooled.out_width
            written = cube_bytes(self.config, result, pooled.precision)
            memory = pooled.destination_mc
        operands = self._operands(active, shape)
        start = self._begin(chain.blocks)
        if "CDMA" in chain.blocks:
            behind = [*operands, Stream(written * p.batches, memory, write=True)]
            self._convolve(chain, start, behind, pooled, result, p.proc_precision)
            return
        on = [not stage.decode(active).bypass for stage in STAGES]
        source = SdpRdma.decode(blocks["SDP_RDMA"].active)
        cost = self._durations.sdp(
            shape,
            (p.proc_precision, p.out_precision),
            (source.source_mc, memory),
            operands,
            (any(on), on[-1]),
            pooled,
        )
        end = start + float(cost.cycles)
        groups = chain.groups(self.csb)
        self._done(chain.name, start, end, cost, groups, (shape, result), p.proc_precision)
        self._release(chain, *[end] * len(chain.parts))

    def _operands(self, active: list[int], shape: tuple[int, int, int]) -> list[Stream]:
        """What SDP_RDMA fetches beside the main input; per kernel ones are few."""
        found = []
        for stage, dma in zip(STAGES, (BsDma, BnDma, EwDma), strict=True):
            if stage.decode(active).from_memory:
                r = dma.decode(self.csb.blocks["SDP_RDMA"].active)
                points = shape[1] * shape[2] if r.per_element else 1
                element = (2 if r.data_use == 2 else 1) * (1 + r.two_bytes)
                size = shape[0] * points * element
                found.append(Stream(size, r.memory_mc, False, element, bool(r.per_element)))
        return found

    def _convolve(
        self,
        chain: Chain,
        start: float,
        behind: list[Stream],
        pooled: Pdp | None,
        result: tuple[int, int, int],
        precision: int,
    ) -> None:
        blocks = self.csb.blocks
        source = Cdma.decode(blocks["CDMA"].active)
        cost = self._durations.convolution(source, Csc.decode(blocks["CSC"].active), behind, pooled)
        groups = chain.groups(self.csb)
        enabled = self._enabled.get("CDMA", [start, start])[groups["CDMA"]]
        load_start = max(enabled, self._loaded_at)
        loaded = load_start + cost.load
        if self._held is not None:
            room = self._held.room(self.config, source, cost.first)
            loaded = self._held.loaded(load_start, cost.load, room)
        self._loaded_at = loaded + cost.beside
        self._held = Held(
            (source.data_banks, source.weight_banks),
            source.entries * source.height * source.batches,
            cost.last,
            max(loaded, start) + cost.compute,
        )
        accumulated = max(loaded, start) + cost.compute + cost.tail
        end = accumulated + self._durations.sdp_tail(behind[-1], pooled)
        # CDMA's data and weights, CACC, then SDP and PDP
        self._release(chain, loaded, loaded, accumulated, *[end] * (len(chain.parts) - 3))
        shapes = (source.channels, source.height, source.width), result
        self._done(chain.name, load_start, end, cost, groups, shapes, precision)

    def _pdp(self, chain: Chain) -> None:
        p = Pdp.decode(self.csb.blocks["PDP"].active)
        result = p.out_channels, p.out_height, p.out_width
        shapes = (p.channels, p.height, p.width), result
        source = PdpRdma.decode(self.csb.blocks["PDP_RDMA"].active).source_mc
        self._stream(chain, self._durations.pdp(p, source), shapes, p.precision)

    def _idle(self, chain: Chain) -> None:
        """Nothing to fetch takes no time."""
        self._release(chain, self._begin(chain.blocks))

    def _cdp(self, chain: Chain) -> None:
        p = CdpRdma.decode(self.csb.blocks["CDP_RDMA"].active)
        shape = p.channels, p.height, p.width
        memories = p.source_mc, Cdp.decode(self.csb.blocks["CDP"].active).destination_mc
        cost = self._durations.cdp(shape, p.precision, memories)
        self._stream(chain, cost, (shape, shape), p.precision)

    def _rubik(self, chain: Chain) -> None:
        p = Rubik.decode(self.csb.blocks["RBK"].active)
        size = cube_bytes(self.config, (p.channels, p.height, p.width), p.precision)
        streams = [Stream(size, p.source_mc), Stream(size, p.destination_mc, write=True)]
        self._stream(chain, self._durations.copy(streams))

    def _bdma(self, chain: Chain) -> None:
        _, transfers = self.csb.bdma.launched[0]
        self._stream(chain, self._durations.transfers(transfers))

    def _stream(
        self, chain: Chain, cost: Cost, shapes: Shapes = (_NONE, _NONE), precision: int = -1
    ) -> None:
        start = self._begin(chain.blocks)
        end = start + cost.cycles
        self._done(chain.name, start, end, cost, chain.groups(self.csb), shapes, precision)
        self._release(chain, end)
