"""What the pipeline model knows of a configuration and of the memory around it.

Sources: nvdla/hw ``spec/defs/*.spec`` (throughputs, port widths, covered latency), the hardware
manual, and simulations of the public nv_small RTL (the constants of this file).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..hw.configs import HardwareConfig


@dataclass(frozen=True, slots=True)
class Throughput:
    """Elements a cycle of the units, bytes a cycle of the port, read latency that is covered."""

    sdp: int
    sdp_y: int
    pdp: int
    cdp: int
    port_bytes: int
    covered_latency: int


THROUGHPUTS = {
    "nv_small": Throughput(1, 1, 1, 1, 8, 64),
    "nv_small_256": Throughput(1, 1, 1, 1, 8, 64),
    "nv_small_256_full": Throughput(2, 1, 1, 1, 8, 64),
    "nv_medium_512": Throughput(4, 4, 2, 2, 16, 256),
    "nv_medium_1024_full": Throughput(8, 2, 4, 4, 32, 1024),
    "nv_large": Throughput(16, 4, 8, 8, 32, 1024),
    "nv_full": Throughput(16, 4, 8, 8, 64, 1200),
}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """``latency``: cycles from a read request to its data, and from a write to its response.
    ``bytes_per_cycle``: reads and writes together; 0: what the port can take."""

    latency: int = 32
    bytes_per_cycle: float = 0
    register_cycles: int = 3
    """Cycles of a register write of the driver, with what it reads in between."""
    interrupt_cycles: int = 10
    """Cycles until software sees an interrupt."""
    clock_mhz: float = 1000

    def rate(self, config: HardwareConfig) -> float:
        """Bytes a cycle that one reader gets."""
        port = THROUGHPUTS[config.name].port_bytes
        return min(port, self.bytes_per_cycle) if self.bytes_per_cycle else port


# Measured on the nv_small RTL, in cycles.
ACCUMULATOR_TAIL = 150
"""From the last atom to the accumulator's interrupt."""
SDP_TAIL = 26
"""From there to SDP's interrupt, without the latency of the last write."""
FIRST_READ = 64
"""From the enable to the first read request, and from the last data to the first atom."""
STREAM_FIXED = 64
"""What SDP, PDP and CDP need beside their elements and two latencies."""
IN_FLIGHT_EXTRA = 15
"""Cycles that each round of reads in flight takes beside the latency."""
READS_IN_FLIGHT = 8
"""Beats that a reader of nv_small keeps in flight."""
OUTPUT_FLOOR = 1.36
"""Accumulating and delivering overlap only in part: share of atomic K elements at SDP's rate."""
