"""The clock, the memories and the software around an NVDLA core, for hardware time."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.config import Section
from ...core.errors import ConfigError


@dataclass(frozen=True)
class Settings(Section):
    """Names as of the options of commands."""

    clock: float = 1000.0
    """MHz of the NVDLA cores, where cycles of hardware time become seconds."""
    latency: int = 32
    """Cycles from a read request of an NVDLA core to its data, and from a write to its response."""
    bytes_per_cycle: float = 0.0
    """Bandwidth of the memory for an NVDLA core, reads and writes; 0: what its port takes."""
    dram_gbps: float = 0.0
    """The same in 10^9 bytes a second."""
    sram_latency: int = -1
    """``latency`` of the second memory, where a core has a port for one; -1: as the first."""
    sram_bytes_per_cycle: float = 0.0
    """Bandwidth of the second memory; 0: what its port takes."""
    sram_gbps: float = 0.0
    """The same in 10^9 bytes a second."""
    register_cycles: int = 3
    """Cycles that a driver's register write takes, with what it reads in between."""
    read_cycles: int = 0
    """Cycles that a driver's register read takes; with it ``register_cycles`` is a write alone."""
    interrupt_cycles: int = 10
    """Cycles from an interrupt until the driver answers."""
    software_us: float = 0.0
    """Microseconds of a network's software (EMU) task."""

    def __post_init__(self) -> None:
        if not 1e-3 <= self.clock < 1e6:
            raise ConfigError(f"clock is {self.clock}; it is in MHz, 0.001 or more")
        for name in ("latency", "register_cycles", "read_cycles", "interrupt_cycles"):
            if not 0 <= getattr(self, name) <= 1e9:
                raise ConfigError(f"{name} is {getattr(self, name)}; it is in cycles, 0 or more")
        if not -1 <= self.sram_latency <= 1e9:
            raise ConfigError(
                f"sram_latency is {self.sram_latency}; it is in cycles, -1: as the first memory's"
            )
        for cycles, gbps in (
            ("bytes_per_cycle", "dram_gbps"),
            ("sram_bytes_per_cycle", "sram_gbps"),
        ):
            for name in (cycles, gbps):
                # below a byte in a million cycles is no memory
                if not (getattr(self, name) == 0 or 1e-6 <= getattr(self, name) <= 1e9):
                    raise ConfigError(
                        f"{name} is {getattr(self, name)}; it is a bandwidth above 0, or 0: the "
                        "port's"
                    )
            if getattr(self, cycles) and getattr(self, gbps):
                raise ConfigError(f"{cycles} and {gbps} are the same bandwidth; give one")
        if not 0 <= self.software_us <= 1e9:
            raise ConfigError(f"software_us is {self.software_us}; it is 0 or more microseconds")
