"""A loadable on a device, and the built-in diagnostics module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..constants import cudla as c
from ..constants.cudla import cudlaStatus as Status
from ..nvdla.errors import NvdlaError
from ..nvdla.facts.configs import HardwareConfig
from ..nvdla.loadable import Loadable
from ..nvdla.network import LoadedNetwork
from ..nvdla.timing import runs
from ..nvdla.timing.parameters import Surroundings
from ..nvdla.timing.runs import TimedRun
from . import statistics
from .errors import CudlaError
from .memory import DeviceMemory

if TYPE_CHECKING:
    from ..nvdla.dla_core import Core
    from ..nvdla.task_report import TaskReport

Run = Callable[["Core", Sequence[int], Sequence[int], float], "TaskReport"]
"""Runs once between tensors at these addresses, until a deadline. Raises NvdlaError, MemoryFault.
"""
Settle = Callable[[Loadable], HardwareConfig]
"""The configuration of the core that a loadable is loaded for."""

NAME_LENGTH = c.CUDLA_RUNTIME_TENSOR_DESC_NAME_MAX_LEN
_NVDLA_FEATURE_X8 = 37


@dataclass(frozen=True)
class TensorDescriptor:
    """What cudlaModuleTensorDescriptor says of one tensor; sizes and strides in bytes."""

    name: str
    size: int
    n: int
    c: int
    h: int
    w: int
    data_format: int
    data_type: int
    data_category: int
    pixel_format: int
    pixel_mapping: int
    strides: tuple[int, ...]


def _pixel_format(number: int) -> int:
    """NVDLA numbers are cuDLA's up to FEATURE; its own x8 feature format is a FEATURE here."""
    if number == _NVDLA_FEATURE_X8:
        return c.CUDLA_PIXEL_FORMAT_FEATURE
    return number if number <= c.CUDLA_PIXEL_FORMAT_FEATURE else c.CUDLA_PIXEL_FORMAT_UNKNOWN


def describe(tensor: Any) -> TensorDescriptor:
    return TensorDescriptor(
        tensor.name,
        tensor.size,
        tensor.n,
        tensor.c,
        tensor.h,
        tensor.w,
        tensor.data_format,
        tensor.data_type,
        tensor.data_category,
        _pixel_format(tensor.pixel_format),
        tensor.pixel_mapping,
        tuple(tensor.strides),
    )


class Module:
    """A loaded network. ``uses`` counts submitted tasks that still need it."""

    diagnostics: Literal[False] = False
    run: Run | None = None
    """For what is more than a network that the core runs."""

    def __init__(self, image: bytes, memory: DeviceMemory, settle: Settle, margin: int) -> None:
        """Raises CudlaError (Umd) for an image that is no loadable for this machine."""
        try:
            self.loadable = Loadable.parse(image)
            hardware = settle(self.loadable)
            self.network = LoadedNetwork(self.loadable, memory.space, hardware, margin)
        except NvdlaError as error:
            raise CudlaError(Status.cudlaErrorUmd, str(error)) from None
        self._keep(
            [describe(t) for t in self.loadable.inputs],
            [describe(t) for t in self.loadable.outputs],
            statistics_descriptor(0, self.network.operation_count),
        )

    def _keep(
        self,
        inputs: list[TensorDescriptor],
        outputs: list[TensorDescriptor],
        statistics: TensorDescriptor,
    ) -> None:
        self.owner: Any = None
        """The device handle that it was loaded on."""
        self._timed: tuple[Surroundings, TimedRun] | None = None
        self.uses = 0
        self.inputs, self.outputs, self.statistics = inputs, outputs, [statistics]

    @property
    def loadables(self) -> list[tuple[Loadable, HardwareConfig]]:
        """All that it runs on the core, and the configuration each is loaded for."""
        return [(self.loadable, self.network.config)]

    def timed(self, around: Surroundings) -> TimedRun:
        """How long the hardware would take; found out once."""
        if self._timed is None or self._timed[0] != around:
            self._timed = around, self._time(around)
        return self._timed[1]

    def _time(self, around: Surroundings) -> TimedRun:
        return runs.loadable(self.loadable, "module", self.network.config.name, around)

    def unload(self) -> None:
        self.network.close()


def statistics_descriptor(index: int, layers: int) -> TensorDescriptor:
    size = statistics.size_bytes(layers)
    return TensorDescriptor(
        f"task_statistics_{index}",
        size,
        1,
        1,
        1,
        size,
        c.CUDLA_DATA_FORMAT_UNKNOWN,
        c.CUDLA_DATA_TYPE_UINT8,
        c.CUDLA_DATA_CATEGORY_PLANAR,
        c.CUDLA_PIXEL_FORMAT_UNKNOWN,
        c.CUDLA_PIXEL_MAPPING_PITCH_LINEAR,
        (1, size, size, 0, 0, 0, 0, 0),
    )
