"""Options of hardware time that several commands have; without one its setting holds."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from ..core.errors import ConfigError
from ..nvdla.timing.parameters import Surroundings
from .command import option

_OPTIONS: dict[str, tuple[type, str]] = {
    "--clock": (float, "MHz. (CUDLA_SIM_CLOCK)"),
    "--latency": (int, "Cycles of a memory access. (CUDLA_SIM_LATENCY)"),
    "--bytes-per-cycle": (
        float,
        "Memory bandwidth, both ways; 0: the port's. (CUDLA_SIM_BYTES_PER_CYCLE)",
    ),
    "--dram-gbps": (float, "The same in 10^9 bytes a second. (CUDLA_SIM_DRAM_GBPS)"),
    "--sram-latency": (int, "Cycles of a second memory's access; -1: as --latency."),
    "--sram-bytes-per-cycle": (float, "Bandwidth of the second memory; 0: its port's."),
    "--sram-gbps": (float, "The same in 10^9 bytes a second."),
    "--register-cycles": (int, "Cycles of a driver's register write."),
    "--read-cycles": (int, "Cycles of a driver's register read."),
    "--interrupt-cycles": (int, "Cycles until the driver answers an interrupt."),
    "--software-us": (float, "Microseconds of a software (EMU) operation."),
}


def timed(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options; the command gets ``around``, what they and the settings say.

    A value that makes no sense is wrong usage.
    """

    @functools.wraps(command)
    def wrapped(**arguments: Any) -> None:
        from ..core import process

        flags = {n: arguments.pop(n) for n in (o[2:].replace("-", "_") for o in _OPTIONS)}
        try:
            around = Surroundings.of(process.current().config, **flags)
        except ConfigError as error:
            raise click.UsageError(str(error)) from None
        command(around=around, **arguments)

    for name, (kind, text) in reversed(_OPTIONS.items()):
        wrapped = option(name, type=kind, help=text, group="Hardware time")(wrapped)
    return wrapped
