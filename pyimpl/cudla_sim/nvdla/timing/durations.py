"""How long each unit takes for what its registers say, when nothing else is in the way."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from ..hw.configs import HardwareConfig, element_size
from ..hw.units import pixels
from ..hw.units.bdma import Transfer
from ..hw.units.conv_registers import Cdma, Csc
from ..hw.units.pdp import Pdp
from . import parameters as p
from .parameters import THROUGHPUTS, Surroundings


@dataclass(frozen=True, slots=True)
class Cost:
    """Cycles before computing can begin (``load``), of computing, and after it (``tail``)."""

    load: int
    compute: int
    tail: int
    bound: str
    bytes_read: int
    bytes_written: int
    macs: int = 0

    @property
    def cycles(self) -> int:
        """All of it."""
        return self.load + self.compute + self.tail


def cube_bytes(config: HardwareConfig, shape: tuple[int, int, int], precision: int) -> int:
    """Bytes of a feature cube (channels, height, width) with its filled-up atoms."""
    channels, height, width = shape
    atoms = ceil(channels * element_size(precision) / config.memory_atom)
    return atoms * height * width * config.memory_atom


class Durations:
    """Costs for one configuration in its surroundings."""

    def __init__(self, config: HardwareConfig, around: Surroundings) -> None:
        self.config = config
        self.around = around
        self.unit = THROUGHPUTS[config.name]

    # -- convolution --------------------------------------------------------------------------

    def convolution(self, cdma: Cdma, csc: Csc, written: int) -> Cost:
        """CDMA to CACC; *written* are the bytes that SDP or PDP behind it writes."""
        config, precision = self.config, cdma.proc_precision
        rate = self.around.rate(config)
        kernels_at_once = config.kernel_group(precision)
        groups = ceil(csc.kernels / kernels_at_once)
        weights = self._weight_bytes(cdma)
        data = self._input_bytes(cdma)
        read = data + weights
        # weights share the port with the data; what is not there then comes during the computing
        first = data + min(weights, max(weights / groups, data))
        load = ceil(first / rate) + self.around.latency + p.FIRST_READ
        blocks = csc.rows * csc.columns * ceil(csc.channels / config.atomic_c)
        positions = csc.out_width * csc.out_height * cdma.batches
        if cdma.conv_mode:  # Winograd: 4 by 4 outputs from 16 products, 2.25 times fewer atoms
            positions = ceil(csc.out_width / 4) * ceil(csc.out_height / 4) * 4
        atoms = groups * positions * blocks
        floor = p.OUTPUT_FLOOR * kernels_at_once / self.unit.sdp
        costs = {
            "mac": atoms,
            "output": ceil(groups * positions * floor),
            "weights": groups * blocks * kernels_at_once,  # a stripe loads its kernels' atoms
            "memory": ceil((written + read - first) / rate),
        }
        bound = max(costs, key=lambda name: costs[name])
        compute = costs[bound]
        if bound != "memory" and load > compute:
            bound = "memory"
        macs = csc.kernels * csc.channels * csc.rows * csc.columns
        macs *= csc.out_width * csc.out_height * cdma.batches
        return Cost(load, compute, p.ACCUMULATOR_TAIL, bound, read, written, macs)

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

    @property
    def sdp_tail(self) -> int:
        """From the accumulator's last element to SDP's interrupt."""
        return p.SDP_TAIL + self.around.latency

    # -- streaming units ----------------------------------------------------------------------

    def _stream(self, elements: float, rate: int, read: int, written: int, readers: int) -> Cost:
        around = self.around
        # reads in flight scale with the latency that the configuration was designed to cover
        in_flight = p.READS_IN_FLIGHT * self.unit.covered_latency / 64 * self.unit.port_bytes
        rounds = read / readers / in_flight * (around.latency + p.IN_FLIGHT_EXTRA)
        port = around.rate(self.config)
        costs = {
            "unit": elements / rate,
            "latency": rounds,
            "memory": max(read, written, (read + written) / 2) / port
            if not around.bytes_per_cycle
            else max((read + written) / around.bytes_per_cycle, read / port, written / port),
        }
        bound = max(costs, key=lambda name: costs[name])
        fixed = p.STREAM_FIXED + around.latency
        return Cost(fixed, ceil(costs[bound]), around.latency, bound, read, written)

    def sdp(
        self, shape: tuple[int, int, int], precisions: tuple[int, int], operands: int, y: bool
    ) -> Cost:
        """SDP from memory. *operands* bytes come from memory too; *y*: the slower stage is on."""
        read = cube_bytes(self.config, shape, precisions[0])
        written = cube_bytes(self.config, shape, precisions[1])
        elements = read / element_size(precisions[0])
        rate = self.unit.sdp_y if y else self.unit.sdp
        return self._stream(elements, rate, read + operands, written, 2 if operands else 1)

    def pdp(self, pooling: Pdp) -> Cost:
        """PDP from memory: input elements count, whatever the kernel."""
        source = (pooling.channels, pooling.height, pooling.width)
        result = (pooling.out_channels, pooling.out_height, pooling.out_width)
        read = cube_bytes(self.config, source, pooling.precision)
        written = cube_bytes(self.config, result, pooling.precision)
        elements = read / element_size(pooling.precision)
        return self._stream(elements, self.unit.pdp, read, written, 1)

    def cdp(self, shape: tuple[int, int, int], precision: int) -> Cost:
        """CDP: the window is free."""
        size = cube_bytes(self.config, shape, precision)
        return self._stream(size / element_size(precision), self.unit.cdp, size, size, 1)

    # -- copies -------------------------------------------------------------------------------

    def copy(self, size: int) -> Cost:
        """RUBIK and BDMA: one direction at a time."""
        port = self.around.rate(self.config)
        fixed = p.STREAM_FIXED + self.around.latency
        return Cost(fixed, ceil(2 * size / port), self.around.latency, "memory", size, size)

    def transfers(self, transfers: list[Transfer]) -> Cost:
        """A group of BDMA descriptors."""
        return self.copy(sum(t.size * t.lines * t.surfaces for t in transfers) * 32)
