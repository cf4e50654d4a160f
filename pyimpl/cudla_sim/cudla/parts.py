"""A network in parts as a module: host parts run by onnxruntime between tasks of the core."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ..constants import cudla as c
from ..constants.cudla import cudlaStatus as Status
from ..nvdla.errors import NvdlaError
from ..nvdla.loadable import Loadable
from ..nvdla.parts import times
from ..nvdla.parts.on_core import PartsOnCore
from ..nvdla.parts.package import Package
from ..nvdla.parts.part import Tensor
from ..nvdla.parts.ports import Port
from ..nvdla.timing.parameters import Surroundings
from ..nvdla.timing.runs import TimedRun
from .errors import CudlaError
from .memory import DeviceMemory
from .module import Module, Settle, TensorDescriptor, describe, statistics_descriptor

if TYPE_CHECKING:
    from ..nvdla.facts.configs import HardwareConfig

_TYPES = {
    "float32": c.CUDLA_DATA_TYPE_FLOAT,
    "float16": c.CUDLA_DATA_TYPE_HALF,
    "int16": c.CUDLA_DATA_TYPE_INT16,
    "int8": c.CUDLA_DATA_TYPE_INT8,
    "uint8": c.CUDLA_DATA_TYPE_UINT8,
    "uint16": c.CUDLA_DATA_TYPE_UINT16,
}
"""cuDLA has no numbers for others."""


class PartsModule(Module):
    """Descriptors: those of the parts' own buffers, or linear ones (``nvdla.parts.ports``)."""

    def __init__(self, image: bytes, memory: DeviceMemory, settle: Settle, margin: int) -> None:
        """Raises CudlaError (Umd) for an image that is no package, or cannot be loaded."""
        try:
            self.parts = PartsOnCore(Package.decode(image), memory.space, settle, margin)
        except NvdlaError as error:
            raise CudlaError(Status.cudlaErrorUmd, str(error)) from None
        self.run = self.parts.run
        descriptors = [
            [_describe(port) for port in ports] for ports in (self.parts.inputs, self.parts.outputs)
        ]
        statistics = statistics_descriptor(0, self.parts.operation_count)
        self._keep(descriptors[0], descriptors[1], statistics)

    @property
    def loadables(self) -> list[tuple[Loadable, HardwareConfig]]:
        return [(network.loadable, network.config) for network in self.parts.networks]

    def _time(self, around: Surroundings) -> TimedRun:
        """Of the parts for the hardware; nothing is known of the host."""
        networks = self.parts.networks
        name = networks[0].config.name if networks else self.parts.package.config
        found = times.of_parts(self.parts.package, "module", name, around)
        return times.joined("module", name, list(found.values()), around)

    def unload(self) -> None:
        self.parts.close()


def _describe(port: Port) -> TensorDescriptor:
    if port.tensor is not None:
        return replace(describe(port.tensor), name=port.name)
    assert port.linear is not None
    return _linear(port.name, port.linear)


def _linear(name: str, tensor: Tensor) -> TensorDescriptor:
    """NCHW, one element after the other; what is in between of more than four axes is one."""
    shape = tensor.shape
    if len(shape) > 4:
        shape = (*shape[:2], prod(shape[2:-1]), shape[-1])
    n, channels, h, w = (*shape, 1, 1, 1, 1)[:4]
    element = np.dtype(tensor.dtype).itemsize
    line = element * w
    return TensorDescriptor(
        name,
        tensor.size,
        n,
        channels,
        h,
        w,
        c.CUDLA_DATA_FORMAT_NCHW,
        _TYPES.get(tensor.dtype, c.CUDLA_DATA_TYPE_UNKNOWN),
        c.CUDLA_DATA_CATEGORY_PLANAR,
        c.CUDLA_PIXEL_FORMAT_UNKNOWN,
        c.CUDLA_PIXEL_MAPPING_PITCH_LINEAR,
        (element, line, line * h, line * h * channels, 0, 0, 0, 0),
    )
