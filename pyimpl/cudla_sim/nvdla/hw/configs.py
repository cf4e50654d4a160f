"""The hardware configurations of the public NVDLA sources.

A configuration is described by its memory atom (bytes that one DMA beat carries), atomic-C
(channels the MAC array takes at once), kernel group (kernels it takes at once), the register map
and what it can do. Source: nvdla/hw ``spec/defs/*.spec`` and ``nvdla_config*.h``.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import NvdlaError
from .registers import MapName

INT8, INT16, FP16 = 0, 1, 2


@dataclass(frozen=True, slots=True)
class HardwareConfig:
    """One configuration. ``cbuf`` is (banks, bytes a bank entry, entries a bank)."""

    name: str
    line: MapName
    memory_atom: int
    atomic_c: int
    atomic_k: int
    cbuf: tuple[int, int, int]
    precisions: frozenset[int] = frozenset({INT8})
    second_memory: bool = False
    lut: bool = True
    winograd: bool = False
    batch: bool = False
    compression: bool = False
    bdma: bool = False
    rubik: bool = False

    def kernel_group(self, precision: int) -> int:
        """Kernels that are stored together in weight memory."""
        return 2 * self.atomic_k if precision == INT8 and self.name == "nv_full" else self.atomic_k

    def channels_per_atom(self, precision: int) -> int:
        """Channels that lie together in one memory atom."""
        return self.memory_atom // element_size(precision)

    @property
    def macs_per_cycle(self) -> int:
        """Multiply-accumulates a cycle at full use."""
        return self.atomic_c * self.atomic_k


def element_size(precision: int) -> int:
    """Bytes of one element of a precision (0 int8, 1 int16, 2 fp16)."""
    return 1 if precision == INT8 else 2


_CONFIGS = (
    HardwareConfig(
        "nv_full",
        "v1",
        memory_atom=32,
        atomic_c=64,
        atomic_k=16,
        cbuf=(16, 128, 256),
        precisions=frozenset({INT8, INT16, FP16}),
        second_memory=True,
        winograd=True,
        batch=True,
        compression=True,
        bdma=True,
        rubik=True,
    ),
    HardwareConfig("nv_large", "master", 32, 64, 32, (16, 64, 512), second_memory=True),
    HardwareConfig("nv_medium_1024_full", "master", 32, 32, 32, (32, 32, 512), second_memory=True),
    HardwareConfig("nv_medium_512", "master", 16, 32, 16, (32, 32, 512), lut=False),
    HardwareConfig("nv_small_256_full", "master", 8, 32, 8, (32, 32, 128), second_memory=True),
    HardwareConfig("nv_small_256", "master", 8, 32, 8, (32, 32, 128), lut=False),
    HardwareConfig("nv_small", "master", 8, 8, 8, (32, 8, 512), lut=False),
)

CONFIGS: dict[str, HardwareConfig] = {item.name: item for item in _CONFIGS}


def config(name: str) -> HardwareConfig:
    """Return a configuration by name ("nv_small", or "small" for short)."""
    found = CONFIGS.get(name) or CONFIGS.get("nv_" + name)
    if found is None:
        raise NvdlaError(
            f"hardware configuration {name!r} is unknown; known are {', '.join(CONFIGS)}"
        )
    return found
