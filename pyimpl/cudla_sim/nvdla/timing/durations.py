"""How long each unit takes for what its registers say, when nothing else is in the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import NamedTuple

from ..facts.configs import HardwareConfig
from ..facts.precisions import element_size
from ..hw.units.bdma.registers import Transfer
from ..hw.units.conv import pixels
from ..hw.units.conv.registers import Cdma, Csc
from ..hw.units.pdp.registers import Pdp
from . import parameters as p
from .parameters import Surroundings
from .stripes import Core, cycles, packages


@dataclass(frozen=True, slots=True)
class Cost:
    """Cycles before computing can begin (``load``), of computing, and after it (``tail``). Of a
    convolution: bytes of its ``first`` and ``last`` weights, and cycles of the port for what is
    read ``beside`` the load."""

    load: int
    compute: int
    tail: int
    bound: str
    bytes_read: int
    bytes_written: int
    macs: int = 0
    first: float = 0
    last: float = 0
    beside: int = 0

    @property
    def cycles(self) -> int:
        """All of it."""
        return self.load + self.compute + self.tail


@dataclass(frozen=True, slots=True)
class Stream:
    """Bytes in one direction; ``memory`` is the register's RAM_TYPE: 0 second, 1 first memory.
    ``element``: bytes of an operand of SDP, of which so many atoms are in flight as of its data;
    ``points``: it has one for each point of the cube, not for each channel."""

    size: int
    memory: int
    write: bool = False
    element: int = 1
    points: bool = False


class Group(NamedTuple):
    """Cycles of one group of kernels: with nothing to wait for, with stripes too short for their
    weights, and in all. ``least`` and ``most``: from its last product until its last position has
    left for SDP, with nothing before it on that way, and with what is."""

    atoms: int
    packages: int
    cycles: float
    least: float
    most: float


def cube_bytes(config: HardwareConfig, shape: tuple[int, int, int], precision: int) -> int:
    """Bytes of a feature cube (channels, height, width) with its filled-up atoms."""
    channels, height, width = shape
    atoms = ceil(channels * element_size(precision) / config.memory_atom)
    return atoms * height * width * config.memory_atom


def flushing(pooling: Pdp, config: HardwareConfig) -> int:
    """Columns for which PDP is busy beside its input: windows that end in the bottom or right pad.

    Those of the last surface take their time at its end. Before, windows of the next surface begin
    meanwhile, in the accumulators 0, 1, ... of as many as windows overlap: with more than one line
    of windows to end, they wait for the last of these.
    """
    size, step = pooling.kernel_height, pooling.stride_y
    ending = pooling.pad_bottom // step
    right = pooling.pad_right // pooling.stride_x if pooling.width > 1 else 0
    columns = ending * pooling.out_width + right
    surfaces = ceil(pooling.channels / config.channels_per_atom(pooling.precision))
    if ending < 2 or surfaces == 1:
        return columns
    overlap = ceil(size / step)
    taken = {(pooling.out_height - ending + n) % overlap: n + 1 for n in range(ending)}
    lines = max((taken.get(n, 0) for n in range(pooling.pad_top // step + 1)), default=0)
    ahead = pooling.kernel_width - 1 - pooling.pad_left
    wait = lines * pooling.out_width - ahead + right if lines else 0
    return columns + (surfaces - 1) * max(wait, 0)


class Durations:
    """Costs for one configuration in its surroundings."""

    def __init__(self, config: HardwareConfig, around: Surroundings) -> None:
        self.config = config
        self.around = around
        self.unit = config.timing
        self.ports = p.ports(config, around)

    def _moving(self, streams: Iterable[Stream]) -> float:
        """Cycles in which the memories move all this, side by side."""
        sums = {False: [0, 0], True: [0, 0]}
        one = self.ports[0] is self.ports[1]
        for s in streams:
            sums[bool(s.memory) or one][s.write] += s.size
        return max(self.ports[memory].cycles(*both) for memory, both in sums.items())

    # -- convolution --------------------------------------------------------------------------

    def convolution(
        self, cdma: Cdma, csc: Csc, behind: list[Stream], pooling: Pdp | None = None
    ) -> Cost:
        """CDMA to CACC; *behind* is what SDP and PDP read and write meanwhile. With *pooling* on
        the fly, results leave as PDP takes them."""
        weights, data = self._weight_bytes(cdma), self._input_bytes(cdma)
        kernels = min(self.config.kernel_group(cdma.proc_precision), csc.kernels)
        groups = ceil(csc.kernels / kernels)
        room = self._weight_room(cdma)
        # Data and weights that share a port get half of it each; the first group's must be there.
        fetched = min(weights, max(ceil(weights / csc.kernels * kernels), min(data, room)))
        load, latency = self._load(
            Stream(data, cdma.data_mc), Stream(fetched, cdma.weight_mc), self._request_share(cdma)
        )
        group = self._group(cdma, csc, groups, pooling is not None)
        work = round(groups * group.cycles)
        each = weights / csc.kernels
        sizes = [each * min(kernels, csc.kernels - k) for k in range(0, csc.kernels, kernels)]
        rate = self.ports[cdma.weight_mc].rate
        waits = self._weight_waits(sizes, fetched, group.cycles, room, rate)
        rest = Stream(weights - fetched, cdma.weight_mc)
        memory = ceil(self._moving([rest, *behind]))
        drain = ceil(max(group.least, group.most - waits))
        # results are written, too, while the last ones leave for SDP
        memory -= min(max(drain - p.STRIPE_LATENCY, 0), ceil(self._moving(behind)))
        if memory > work + waits:
            bound = "memory"
        else:
            lost = {
                "output": work - groups * group.packages,
                "weights": groups * (group.packages - group.atoms) + waits,
            }
            bound = max(lost, key=lambda name: lost[name])
            if sum(lost.values()) * 10 < work + waits:
                bound = "mac"
        compute = max(work + waits, memory)
        if load > compute:
            bound = "latency" if latency > load / 2 else "input"
        moved = [Stream(data + weights, 1), *behind]
        return Cost(
            load,
            compute,
            p.CORE_START + drain,
            bound,
            sum(s.size for s in moved if not s.write),
            sum(s.size for s in moved if s.write),
            csc.products * cdma.batches,
            fetched,
            min(sizes[-1], weights) if not cdma.weight_reuse else room,
            ceil(self._moving([s for s in (rest, *behind) if not s.write])),
        )

    def _load(self, data: Stream, weights: Stream, requests: float) -> tuple[int, int]:
        """Cycles until data and the first weights are there, and what of it is latency. *requests*:
        cycles of a beat of data when no weights come between."""
        port, other = self.ports[data.memory], self.ports[weights.memory]
        if port is other:
            alone = max(data.size - weights.size, 0)
            moving = (data.size + weights.size - alone) / port.rate
            moving += alone * max(1 / port.rate, requests / port.width)
            arrived = moving + port.latency if data.size or weights.size else 0
            latency = port.latency
        else:
            slowest = data.size * max(1 / port.rate, requests / port.width) + port.latency
            arrived, latency = slowest if data.size else 0, port.latency
            if weights.size and weights.size / other.rate + other.latency > arrived:
                arrived, latency = weights.size / other.rate + other.latency, other.latency
        return ceil(arrived) + p.FIRST_READ, latency + p.FIRST_READ

    def _request_share(self, cdma: Cdma) -> float:
        """Cycles of a beat of feature data: CDMA goes over the surfaces in rounds of requests."""
        if cdma.image or not cdma.channels:
            return 1
        config = self.config
        surfaces = ceil(cdma.channels * element_size(cdma.in_precision) / config.memory_atom)
        if surfaces < p.ROUND_FROM:
            return 1
        atoms = cdma.width * cdma.height
        rounds = ceil(surfaces / p.ROUND_SURFACES) * ceil(atoms / p.ROUND_ATOMS)
        return 1 + p.ROUND_CYCLES * rounds / (surfaces * atoms)

    def _group(self, cdma: Cdma, csc: Csc, groups: int, pooled: bool) -> Group:
        """One of so many groups of kernels, for all positions. Each begins with the credits that
        the one before has left."""
        blocks = csc.rows * csc.columns * ceil(csc.channels / self.config.atomic_c)
        width, height = csc.out_width, csc.out_height
        if cdma.conv_mode:  # Winograd: an atom is 4 x 4 of 4 channels and makes 2 x 2 outputs
            blocks = ceil(csc.rows * csc.columns * csc.channels / self.config.atomic_c)
            width, height = ceil(width / 4) * 4, ceil(height / 4)
        # CACC delivers a whole group, however few its kernels are (CACC_delivery_ctrl)
        whole = self.config.kernel_group(cdma.proc_precision)
        rate = min(self.unit.sdp, self.unit.pdp) if pooled else self.unit.sdp
        delivery = whole / rate + self.unit.position_extra
        core = Core(self.config.atomic_k, self.unit.credits, delivery)
        run, runs, upper = width * height, 1, self.unit.stripe
        lower = upper // 2
        if cdma.batches > 1:  # a stripe is one position of all pictures
            run, runs, upper, lower = cdma.batches, run, cdma.batches, cdma.batches
        elif cdma.image:  # a stripe ends with its line
            upper = lower = self.unit.image_stripe
            run, runs = width, height
        found, last, behind = cycles(run, runs * groups, upper, lower, blocks, core)
        busy = packages(run, runs, upper, lower, blocks, core)
        full = self.config.atomic_k
        early: float = p.SHORT_STRIPE * max(full - last, 0) / (full - 1)
        early += max(full - max(min(whole, csc.kernels), p.WEIGHT_START, last), 0)
        least = p.STRIPE_LATENCY + (delivery - 1) * last - early
        return Group(blocks * run * runs, busy, found / groups, least, behind - early)

    def _weight_room(self, cdma: Cdma) -> int:
        _, entry, entries = self.config.cbuf
        return cdma.weight_banks * entry * entries

    @staticmethod
    def _weight_waits(sizes: list[float], fetched: int, each: float, room: int, rate: float) -> int:
        """Cycles in which the core waits for weights. *sizes*: bytes of each group's weights. They
        leave the convolution buffer when their group has ended; of the next ones, those come
        meanwhile for which there is room."""
        left = sum(sizes[1:])
        ahead = fetched - sizes[0]  # bytes of the following groups that have come
        waits = 0.0
        for before, size in pairwise(sizes):
            most = max(room - before, ahead)
            ahead = min(ahead + each * rate, most, left)
            waits += max(size - ahead, 0) / rate
            ahead = max(ahead - size, 0)
            left -= size
        return ceil(waits)

    def sdp_tail(self, output: Stream, pooling: Pdp | None = None) -> int:
        """From the accumulator's last element to SDP's interrupt, or PDP's behind it."""
        extra = 0 if pooling is None else p.PDP_FIXED + self._flushed(pooling)
        return p.SDP_TAIL + extra + self.ports[output.memory].latency

    def _flushed(self, pooling: Pdp) -> int:
        """Cycles in which PDP ends windows behind its input."""
        column = self.config.channels_per_atom(pooling.precision) / self.unit.pdp
        return ceil(flushing(pooling, self.config) * column)

    def _input_bytes(self, cdma: Cdma) -> int:
        if cdma.data_reuse:
            return 0
        if not cdma.image:
            shape = (cdma.channels, cdma.height, cdma.width)
            return cube_bytes(self.config, shape, cdma.in_precision) * cdma.batches
        pixel = cdma.channels * element_size(cdma.in_precision)
        if pixels.NAMES.get(cdma.pixel_format, "") in pixels.TEN_BIT:
            pixel = 4
        atom = self.config.memory_atom
        return ceil(cdma.width * pixel / atom) * atom * cdma.height

    @staticmethod
    def _weight_bytes(cdma: Cdma) -> int:
        if cdma.weight_reuse:
            return 0
        return cdma.weight_bytes + (cdma.mask_bytes if cdma.compressed else 0)

    # -- streaming units ----------------------------------------------------------------------

    def _stream(self, elements: float, rate: int, streams: list[Stream], extra: int = 0) -> Cost:
        reads = [s for s in streams if not s.write]
        source = self.ports[reads[0].memory]
        target = self.ports[next(s for s in streams if s.write).memory]
        costs = {
            "unit": elements / rate,
            "latency": max(self._rounds(s, elements / rate) for s in reads),
            "memory": self._moving(streams),
        }
        bound = max(costs, key=lambda name: costs[name])
        return Cost(
            p.STREAM_FIXED + extra + source.latency,
            ceil(costs[bound]),
            target.latency,
            bound if costs[bound] > p.STREAM_FIXED + source.latency + target.latency else "latency",
            sum(s.size for s in reads),
            sum(s.size for s in streams if s.write),
        )

    def _rounds(self, stream: Stream, busy: float) -> float:
        """Cycles of reads of which only so many bytes are in flight at once; the last of them keep
        the unit busy for their share of its time."""
        port = self.ports[stream.memory]
        beats = ceil(stream.size / port.width)
        at_once = port.in_flight / port.width * stream.element
        rounds = ceil(beats / at_once) - 1 if beats else 0
        left = (beats - rounds * at_once) / beats if beats else 0
        return rounds * (port.latency + p.IN_FLIGHT_EXTRA) + left * busy

    def sdp(
        self,
        shape: tuple[int, int, int],
        precisions: tuple[int, int],
        memories: tuple[int, int],
        operands: list[Stream],
        stages: tuple[bool, bool],
        pooling: Pdp | None = None,
    ) -> Cost:
        """SDP from memory, and *pooling* on the fly behind it. *operands* come from memory too;
        *stages*: any is on, the slower one (Y) is."""
        read = cube_bytes(self.config, shape, precisions[0])
        written = cube_bytes(self.config, shape, precisions[1])
        streams = [Stream(read, memories[0]), *operands, Stream(written, memories[1], write=True)]
        line = shape[2] if shape[1] * shape[2] > 1 else ceil(read / self.config.memory_atom)
        extra = p.SDP_STAGE * (stages[0] + bool(operands))
        extra += min(line - 1, p.SDP_ATOMS) - p.SDP_ATOMS if stages[0] else p.SDP_BYPASS
        if any(stream.points for stream in operands):
            extra += p.SDP_POINTS
        elif operands and line > 1:
            extra += p.SDP_OPERANDS
        rate = self.unit.sdp_y if stages[1] else self.unit.sdp
        if pooling is not None:
            rate = min(rate, self.unit.pdp)
            extra += p.PDP_FIXED + self._flushed(pooling)
        return self._stream(read / element_size(precisions[0]), rate, streams, extra)

    def pdp(self, pooling: Pdp, source: int) -> Cost:
        """PDP from memory *source*: input elements count, whatever the kernel, and those that two
        parts of a split line have in common twice; pads behind them where the next surface's do not
        hide them."""
        again = (pooling.splits - 1) * max(pooling.kernel_width - pooling.stride_x, 0)
        cube = (pooling.channels, pooling.height, pooling.width + again)
        result = (pooling.out_channels, pooling.out_height, pooling.out_width)
        read = cube_bytes(self.config, cube, pooling.precision)
        written = cube_bytes(self.config, result, pooling.precision)
        streams = [Stream(read, source), Stream(written, pooling.destination_mc, write=True)]
        elements = read / element_size(pooling.precision)
        extra = p.PDP_FIXED + self._flushed(pooling)
        if pooling.width == 1:
            surfaces = read // (self.config.memory_atom * pooling.height)
            lines = surfaces * pooling.height + pooling.pad_bottom // pooling.stride_y
            extra += p.PDP_NARROW * (lines - 1)
        return self._stream(elements, self.unit.pdp, streams, extra)

    def cdp(self, shape: tuple[int, int, int], precision: int, memories: tuple[int, int]) -> Cost:
        """CDP: the window is free."""
        size = cube_bytes(self.config, shape, precision)
        streams = [Stream(size, memories[0]), Stream(size, memories[1], write=True)]
        elements = size / element_size(precision)
        atom = self.config.channels_per_atom(precision) // self.unit.cdp
        line = (atom - 1) * min(shape[2] - 1, p.CDP_PIXELS)
        return self._stream(elements, self.unit.cdp, streams, p.CDP_FIXED + min(line, p.CDP_LINE))

    # -- copies -------------------------------------------------------------------------------

    def copy(self, streams: list[Stream]) -> Cost:
        """RUBIK and BDMA: one direction at a time."""
        used = [self.ports[s.memory] for s in streams]
        return Cost(
            p.COPY_FIXED + used[0].latency,
            ceil(sum(s.size / self.ports[s.memory].rate for s in streams)),
            used[-1].latency,
            "memory",
            sum(s.size for s in streams if not s.write),
            sum(s.size for s in streams if s.write),
        )

    def transfers(self, transfers: list[Transfer]) -> Cost:
        """A group of BDMA descriptors."""
        streams = []
        for t in transfers:
            size = t.size * t.lines * t.surfaces * 32
            streams.append(Stream(size, t.source_mc))
            streams.append(Stream(size, t.destination_mc, write=True))
        return self.copy(streams)
