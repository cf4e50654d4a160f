"""The hardware configurations of the public NVDLA sources.

A configuration is described by its memory atom (bytes that one DMA beat carries), atomic-C
(channels the MAC array takes at once), kernel group (kernels it takes at once), the register map
and what it can do; ``timing`` is its row for the pipeline model. Source: nvdla/hw
``spec/defs/*.spec`` and ``nvdla_config*.h``; stripes and credits: its RTL.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import NvdlaError
from .precisions import FP16, INT8, INT16, element_size

if TYPE_CHECKING:
    from .registers import MapName


@dataclass(frozen=True, slots=True)
class Timing:
    """Elements a cycle of the units; bytes a cycle and covered read latency of the two ports (0: no
    second one); stripes of the convolution core.

    A stripe is a run of output positions that use the same weights: at most ``stripe`` of them, or
    ``image_stripe`` in image mode. ``credits`` positions may be on their way from the convolution
    core to SDP.
    """

    sdp: int
    sdp_y: int
    pdp: int
    cdp: int
    port_bytes: int
    covered_latency: int
    stripe: int
    image_stripe: int
    credits: int
    position_extra: int = 1
    """Cycles of the delivery buffer for each position, beside its elements at SDP's rate."""
    second_port_bytes: int = 0
    second_covered_latency: int = 0


@dataclass(frozen=True, slots=True)
class HardwareConfig:
    """One configuration. ``cbuf`` is (banks, bytes a bank entry, entries a bank)."""

    name: str
    line: MapName
    memory_atom: int
    atomic_c: int
    atomic_k: int
    cbuf: tuple[int, int, int]
    timing: Timing
    precisions: frozenset[int] = frozenset({INT8})
    second_memory: bool = False
    lut: bool = True
    """SDP has its Y stage (EW) with the look-up tables. CDP has tables of its own everywhere."""
    winograd: bool = False
    batch: bool = False
    compression: bool = False
    bdma: bool = False
    rubik: bool = False
    int8_pairs: bool = False
    """A multiplier of 16 bits does two of 8 bits, for two kernels."""

    def kernel_group(self, precision: int) -> int:
        """Kernels that are stored together in weight memory."""
        return 2 * self.atomic_k if precision == INT8 and self.int8_pairs else self.atomic_k

    def channels_per_atom(self, precision: int) -> int:
        """Channels that lie together in one memory atom."""
        return self.memory_atom // element_size(precision)

    def macs_per_cycle(self, precision: int = INT8) -> int:
        """Multiply-accumulates a cycle at full use: a group of kernels, each with an atom."""
        return self.atomic_c * self.kernel_group(precision)


_CONFIGS = (
    HardwareConfig(
        "nv_full",
        "v1",
        memory_atom=32,
        atomic_c=64,
        atomic_k=16,
        cbuf=(16, 128, 256),
        timing=Timing(16, 4, 8, 8, 64, 1200, 32, 64, 128, 0, 64, 128),
        precisions=frozenset({INT8, INT16, FP16}),
        second_memory=True,
        winograd=True,
        batch=True,
        compression=True,
        bdma=True,
        rubik=True,
        int8_pairs=True,
    ),
    HardwareConfig(
        "nv_large",
        "master",
        32,
        64,
        32,
        (16, 64, 512),
        Timing(16, 4, 8, 8, 32, 1024, 64, 64, 64, 1, 32, 1024),
        second_memory=True,
    ),
    HardwareConfig(
        "nv_medium_1024_full",
        "master",
        32,
        32,
        32,
        (32, 32, 512),
        Timing(8, 2, 4, 4, 32, 1024, 64, 64, 64, 1, 32, 1024),
        second_memory=True,
    ),
    HardwareConfig(
        "nv_medium_512",
        "master",
        16,
        32,
        16,
        (32, 32, 512),
        Timing(4, 4, 2, 2, 16, 256, 32, 32, 32),
        lut=False,
    ),
    HardwareConfig(
        "nv_small_256_full",
        "master",
        8,
        32,
        8,
        (32, 32, 128),
        Timing(2, 1, 1, 1, 8, 64, 16, 32, 32, 1, 8, 64),
        second_memory=True,
    ),
    HardwareConfig(
        "nv_small_256",
        "master",
        8,
        32,
        8,
        (32, 32, 128),
        Timing(1, 1, 1, 1, 8, 64, 16, 32, 32),
        lut=False,
    ),
    HardwareConfig(
        "nv_small",
        "master",
        8,
        8,
        8,
        (32, 8, 512),
        Timing(1, 1, 1, 1, 8, 64, 16, 16, 16),
        lut=False,
    ),
)

CONFIGS: dict[str, HardwareConfig] = {item.name: item for item in _CONFIGS}

OF_NVDLA_COMPILER = ("nv_full", "nv_large", "nv_small")
"""What NVIDIA's compiler compiles for; its loadables do not say which."""


def config(name: str) -> HardwareConfig:
    """Return a configuration by name ("nv_small", or "small" for short)."""
    found = CONFIGS.get(name) or CONFIGS.get("nv_" + name)
    if found is None:
        raise NvdlaError(
            f"hardware configuration {name!r} is unknown; known are {', '.join(CONFIGS)}"
        )
    return found
