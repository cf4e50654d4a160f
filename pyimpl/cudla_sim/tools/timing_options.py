"""Options of hardware time that several commands have; without one its setting holds."""

from __future__ import annotations

from typing import Annotated

import typer

from ..core import process
from ..nvdla.timing.parameters import Surroundings

Clock = Annotated[float | None, typer.Option(help="MHz. [setting: CUDLA_SIM_CLOCK]")]
Latency = Annotated[int | None, typer.Option(help="Cycles of a memory access. [CUDLA_SIM_LATENCY]")]
BytesPerCycle = Annotated[
    float | None,
    typer.Option(help="Memory bandwidth, both ways; 0: the port's. [CUDLA_SIM_BYTES_PER_CYCLE]"),
]
DramGbps = Annotated[
    float | None, typer.Option(help="The same in 10^9 bytes a second. [CUDLA_SIM_DRAM_GBPS]")
]
SramLatency = Annotated[
    int | None,
    typer.Option(help="Cycles of a second memory's access; -1: as --latency."),
]
SramBytesPerCycle = Annotated[
    float | None, typer.Option(help="Bandwidth of the second memory; 0: its port's.")
]
SramGbps = Annotated[float | None, typer.Option(help="The same in 10^9 bytes a second.")]
RegisterCycles = Annotated[int | None, typer.Option(help="Cycles of a driver's register write.")]
InterruptCycles = Annotated[
    int | None, typer.Option(help="Cycles until the driver answers an interrupt.")
]
SoftwareUs = Annotated[
    float | None, typer.Option(help="Microseconds of a software (EMU) operation.")
]


def surroundings(**flags: float | None) -> Surroundings:
    """What the flags and the settings of this process say. Raises ConfigError."""
    return Surroundings.of(process.current().config, **flags)
