"""The GPU."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.config import Section, check_choice

LANES = ("auto", "step", "free")
BARRIERS = ("auto", "threads")


@dataclass(frozen=True)
class Settings(Section):
    """Of the machine."""

    gpu: str = "integrated"
    """What CUDA device 0 is: ``integrated`` (Tegra), ``discrete`` (no cuDLA on it) or ``none``."""

    cuda_checks: str = ""
    """Checks of CUDA programs, comma separated: ``name`` or ``name=off|warn|fault``. ``streams``
    says where work of a non-blocking stream comes behind work of the legacy stream and nothing
    orders them; ``memory`` and ``race`` are of kernels that ``cudla-sim nvcc`` compiled under
    it."""

    cuda_lanes: str = "auto"
    """Where lanes of a warp go on together in kernels that ``cudla-sim nvcc`` compiles: ``auto``,
    where the text shows that they count on it; ``step``, in all functions; ``free``, nowhere."""

    cuda_barriers: str = "auto"
    """How kernels that ``cudla-sim nvcc`` compiles run where threads wait for each other:
    ``auto``, as loops over the threads from barrier to barrier where the text allows it;
    ``threads``, each thread on a stack of its own, as debuggers expect it."""

    def __post_init__(self) -> None:
        check_choice("gpu", self.gpu, ("integrated", "discrete", "none"))
        check_choice("cuda_lanes", self.cuda_lanes, LANES)
        check_choice("cuda_barriers", self.cuda_barriers, BARRIERS)
