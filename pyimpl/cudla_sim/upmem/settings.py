"""The DPUs of a machine."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.config import Section, check_choice
from ..core.errors import ConfigError


def parse_gdb(text: str) -> tuple[int, str] | None:
    """Port, and name of a DPU or nothing. Raises ConfigError."""
    if not text:
        return None
    port, _, dpu = text.partition(":")
    if not port.isdecimal() or not 1 <= int(port) <= 65535:
        raise ConfigError(f"upmem_gdb is {text!r}; it is PORT or PORT:DPU, as 2345:0.0.3")
    return int(port), dpu


@dataclass(frozen=True)
class Settings(Section):
    """Of all ranks."""

    upmem_ranks: int = 40
    """Ranks of 64 DPUs in the machine; what DPU_ALLOCATE_ALL takes."""
    upmem_workers: int = 0
    """Processes that run DPU programs; 0: one a core."""
    upmem_cluster: str = ""
    """Address of a Dask scheduler whose workers hold the ranks and run the DPU programs; empty:
    this machine does."""
    upmem_checks: str = ""
    """Strict checks of DPU programs: ``name=off|warn|fault``, comma separated, ``all`` for all."""
    upmem_allow: str = ""
    """What DPU programs may do to this machine: nothing, or ``all`` (nothing is enforced)."""
    upmem_timing: str = ""
    """``model``: DPU programs that were compiled for it run in hardware time, so that
    ``perfcounter`` and reports have it; ``profile``: the same, and they count by source line;
    ``off``: they do not; empty: as ``time`` says."""
    upmem_host: str = ""
    """Bandwidths and fixed costs of the DPUs' host, for hardware times: ``name=number``, comma
    separated, names as in ``upmem.timing.host.Host``."""
    upmem_gdb: str = ""
    """``PORT`` or ``PORT:DPU`` (as ``2345:0.0.3``): the first launch of a program in the DPU's own
    instructions runs on that DPU, or its first one, under a debugger, which it waits for at that
    TCP port of this machine. The other DPUs run when it has ended."""
    upmem_debugger: str = ""
    """A socket where `cudla-sim dpu debug` is told of worker processes; that command sets it."""
    upmem_times: str = ""
    """Write the hardware times of launches and transfers to this file at exit, as JSON."""

    def __post_init__(self) -> None:
        parse_gdb(self.upmem_gdb)
        check_choice("upmem_timing", self.upmem_timing, ("", "off", "model", "profile"))
        check_choice("upmem_allow", self.upmem_allow, ("", "all"))
        if not 1 <= self.upmem_ranks <= 1024:
            raise ConfigError(f"upmem_ranks is {self.upmem_ranks}; a machine has 1 to 1024 ranks")
        if not 0 <= self.upmem_workers <= 256:
            raise ConfigError(
                f"upmem_workers is {self.upmem_workers}; it is 1 to 256, 0: one a core"
            )
