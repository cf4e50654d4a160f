"""NVDLA: loadables, the driver stack that runs them, and the hardware they run on.

The usual path is :class:`Loadable` (parse a file), :class:`LoadedNetwork` (put it into an
address space), :class:`Core` (run it; ``Engine`` is its former name). ``layout`` packs arrays into
tensors, ``inspect`` describes loadables, ``build`` makes them.
"""

from __future__ import annotations

from .core import Core
from .errors import (
    BadLoadable,
    EngineTimeout,
    HardwareFault,
    KmdError,
    MemoryAccessError,
    NvdlaError,
    Status,
    UnsupportedOperation,
    WrongConfiguration,
)
from .loadable import Loadable, TensorDesc
from .network import LoadedNetwork
from .task_report import LayerRecord, TaskReport

Engine = Core

__all__ = [
    "BadLoadable",
    "Core",
    "Engine",
    "EngineTimeout",
    "HardwareFault",
    "KmdError",
    "LayerRecord",
    "Loadable",
    "LoadedNetwork",
    "MemoryAccessError",
    "NvdlaError",
    "Status",
    "TaskReport",
    "TensorDesc",
    "UnsupportedOperation",
    "WrongConfiguration",
]
