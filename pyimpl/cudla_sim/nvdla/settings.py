"""What the NVDLA cores of a machine are, and how they compute."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.config import Section, check_choice
from ..core.errors import ConfigError

ARITHMETIC = (
    "native", "numpy", "avx512_vnni", "avx512_bw", "avx_vnni", "avx2", "neon_dotprod", "neon",
    "portable",
)  # fmt: skip
COMPARE = ("all", "layers", "off")
"""What is compared with hardware behind ``chip`` when an operation is done: all memory of the task,
what the operation writes, or nothing, also at the end."""


@dataclass(frozen=True)
class Settings(Section):
    """Of all cores."""

    config: str = "nv_full"
    """NVDLA configuration of every DLA core: one of ``facts.configs.CONFIGS``, or "auto": each core
    becomes what the first loadable that it loads was compiled for."""
    dla_count: int = 2
    """Number of DLA cores, 0 to 2."""
    checks: str = "off"
    """What a network is checked for when it is loaded: ``off``, or ``warn``: prints what real
    hardware would not take, in the words of ``cudla-sim nvdla check``."""
    hardware: str = "strict"
    """Where an NVDLA core does other than its registers seem to say (surfaces of 1 x 1 cubes,
    weights left in the convolution buffer, ...): ``strict`` fails the task with an explanation,
    ``chip`` computes what the chip computes and says so."""
    chip: str = ""
    """NVDLA hardware that is not ours, on which tasks run: ``cosim:LIB.so,OPTIONS``, a library that
    defines the functions of ``nvdla/cosim.h``. Every DLA core opens it for itself. Empty: our
    model."""
    fp16: str = "exact"
    """How fp16 convolutions are computed: ``exact`` as the hardware, ``fast`` in float32."""
    arithmetic: str = "native"
    """What computes integer layers of NVDLA, with equal results; one of ``ARITHMETIC``. ``native``
    is compiled code for the fastest instructions of this machine, ``numpy`` its twin in Python."""
    plan: str = "on"
    """``on``: the accesses of NVDLA's firmware are noted when a task comes again, and repeated
    without it as long as its descriptors are the same bytes; ``off``: it always runs."""

    def __post_init__(self) -> None:
        if self.config != Settings.config:
            from .facts.configs import CONFIGS

            check_choice("config", self.config, (*CONFIGS, "auto"))
        check_choice("hardware", self.hardware, ("strict", "chip"))
        if self.chip and not self.chip.startswith("cosim:"):
            raise ConfigError(f"chip is {self.chip!r}; it is cosim:LIB.so, or empty for our model")
        check_choice("fp16", self.fp16, ("exact", "fast"))
        check_choice("arithmetic", self.arithmetic, ARITHMETIC)
        check_choice("plan", self.plan, ("on", "off"))
        check_choice("checks", self.checks, ("off", "warn"))
        if not 0 <= self.dla_count <= 2:
            raise ConfigError(f"dla_count is {self.dla_count}; a machine has 0, 1 or 2 DLA cores")
