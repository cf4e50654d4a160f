"""What the pipeline model knows of a configuration and of the memory around it.

Throughputs and ports stand with the configurations (``facts.configs``). Sources: the hardware
manual, and simulations of the public nv_small RTL (the constants at the end).
"""

from __future__ import annotations

from dataclasses import dataclass

from ...core.config import Config
from ..facts.configs import HardwareConfig
from .settings import Settings


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The memories, the clock and the software around a core.

    Latencies in cycles, from a read request to its data and from a write to its response.
    Bandwidths in bytes a cycle, reads and writes together; 0: what the port can take. Where a
    configuration has no second memory, the first memory's figures hold; for the latency also where
    ``sram_latency`` is negative.
    """

    latency: int = 32
    bytes_per_cycle: float = 0
    register_cycles: float = 3
    """Cycles of a register write of the driver; where reads cost nothing of their own, with what it
    reads in between."""
    interrupt_cycles: int = 10
    """Cycles until software sees an interrupt."""
    clock_mhz: float = 1000
    sram_latency: int = -1
    sram_bytes_per_cycle: float = 0
    software_us: float = 0
    """Microseconds of a software (EMU) task."""
    read_cycles: int = 0
    """Cycles of a register read of the driver."""

    @classmethod
    def of(cls, config: Config, **flags: float | None) -> Surroundings:
        """From the settings of a simulated machine. *flags* go before: names as in ``Settings``,
        None where one is not given.

        Raises ConfigError for a value that makes no sense, or a bandwidth that is given twice.
        """
        given = {name: value for name, value in flags.items() if value is not None}
        for cycles, gbps in (
            ("bytes_per_cycle", "dram_gbps"),
            ("sram_bytes_per_cycle", "sram_gbps"),
        ):
            if cycles in given:
                given.setdefault(gbps, 0.0)
            elif gbps in given:
                given.setdefault(cycles, 0.0)
        c = config.replace(**given).of(Settings)
        return cls(
            c.latency,
            c.dram_gbps * 1000 / c.clock if c.dram_gbps else c.bytes_per_cycle,
            c.register_cycles,
            c.interrupt_cycles,
            c.clock,
            c.sram_latency,
            c.sram_gbps * 1000 / c.clock if c.sram_gbps else c.sram_bytes_per_cycle,
            c.software_us,
            c.read_cycles,
        )

    def settings(self) -> dict[str, str]:
        """The environment of a program that is to have these."""
        fields = {
            "LATENCY": self.latency,
            "BYTES_PER_CYCLE": self.bytes_per_cycle,
            "REGISTER_CYCLES": self.register_cycles,
            "INTERRUPT_CYCLES": self.interrupt_cycles,
            "CLOCK": self.clock_mhz,
            "SRAM_LATENCY": self.sram_latency,
            "SRAM_BYTES_PER_CYCLE": self.sram_bytes_per_cycle,
            "SOFTWARE_US": self.software_us,
            "READ_CYCLES": self.read_cycles,
            "DRAM_GBPS": 0,
            "SRAM_GBPS": 0,
        }
        return {f"CUDLA_SIM_{name}": f"{value:g}" for name, value in fields.items()}

    @property
    def software_cycles(self) -> int:
        """Cycles of a software task."""
        return round(self.software_us * self.clock_mhz)


@dataclass(frozen=True, slots=True)
class Port:
    """One memory as a core sees it. ``limit``: bytes a cycle, reads and writes together, or 0."""

    width: int
    limit: float
    latency: int
    covered_latency: int

    @property
    def rate(self) -> float:
        """Bytes a cycle that one reader gets."""
        return min(self.width, self.limit) if self.limit else self.width

    def cycles(self, read: float, written: float) -> float:
        """Cycles of a traffic that goes both ways at once."""
        both = (read + written) / self.limit if self.limit else 0
        return max(both, read / self.width, written / self.width)

    @property
    def in_flight(self) -> float:
        """Bytes that a reader of SDP, PDP or CDP keeps in flight: they scale with the latency that
        the configuration was designed to cover."""
        return READS_IN_FLIGHT * self.covered_latency / 64 * self.width


def ports(config: HardwareConfig, around: Surroundings) -> tuple[Port, Port]:
    """The second memory and the first, in the order of the registers' RAM_TYPE."""
    t = config.timing
    first = Port(t.port_bytes, around.bytes_per_cycle, around.latency, t.covered_latency)
    if not t.second_port_bytes:
        return first, first
    latency = around.latency if around.sram_latency < 0 else around.sram_latency
    second = Port(
        t.second_port_bytes, around.sram_bytes_per_cycle, latency, t.second_covered_latency
    )
    return second, first


# Measured on the nv_small RTL, in cycles.
STRIPE_LATENCY = 43
"""From the last products of a stripe to its first result in the delivery buffer."""
CREDIT_RETURN = 0
"""Cycles from a result that leaves the delivery buffer to the credit for another one."""
CORE_START = 5
"""From the last data to the first products."""
SDP_TAIL = 26
"""From the accumulator's interrupt to SDP's, without the latency of the last write."""
FIRST_READ = 64
"""From the enable to the first read request, and from the last data to the first atom."""
ROUND_SURFACES, ROUND_ATOMS = 4, 8
"""CDMA asks for up to 8 atoms of up to 4 surfaces in turn."""
ROUND_CYCLES = 6
"""Cycles that such a round takes beside its beats, unless weights fill them."""
ROUND_FROM = 3
"""Surfaces from which on it does."""
STREAM_FIXED = 59
"""What SDP, PDP and CDP need beside their elements and two latencies."""
COPY_FIXED = 64
"""What RUBIK and BDMA need beside their bytes and two latencies."""
SDP_BYPASS = 5
"""More of it in SDP where no stage is on."""
SDP_ATOMS = 3
"""Atoms of a line behind the first one that delay the end of SDP by a cycle each, at most."""
SDP_OPERANDS, SDP_POINTS = 3, -2
"""And more of it with operands for each channel, but for one column; for each point."""
SDP_STAGE = 8
"""More of it where a stage of SDP is on, and again where it has operands in memory."""
PDP_FIXED = 9
"""More of it in PDP."""
PDP_NARROW = 3
"""Cycles between two lines of one column in PDP."""
CDP_FIXED = 27
"""More of it in CDP."""
CDP_PIXELS, CDP_LINE = 7, 42
"""CDP turns up to 8 pixels of a line at once: those behind the first delay it by a cycle less than
an atom takes each; in all by so many at most."""
WEIGHT_START = 8
"""The first weights go to the multipliers in a cycle a kernel, but in so many at the least."""
SHORT_STRIPE = 22
"""Cycles by which the results of a single position come sooner than those of a stripe that is as
long as the kernels that work at once are many; between them it is a straight line."""
IN_FLIGHT_EXTRA = 15
"""Cycles that each round of reads in flight takes beside the latency."""
READS_IN_FLIGHT = 8
"""Beats that a reader of nv_small keeps in flight."""


def transfer_cycles(size: int, hardware: HardwareConfig, around: Surroundings) -> float:
    """Cycles in which so many bytes come into the memory, or out of it: its latency, and their time
    at its bandwidth."""
    _, memory = ports(hardware, around)
    return memory.latency + size / memory.rate
