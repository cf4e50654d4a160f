"""NVDLA: loadables, the driver stack that runs them, and the hardware they run on.

The usual path is :class:`Loadable` (parse a file), :class:`LoadedNetwork` (put it into an
address space), :class:`Engine` (run it). ``layout`` packs arrays into tensors, ``inspect``
describes loadables, ``build`` makes them.
"""

from __future__ import annotations

from cudla_sim.nvdla.errors import (
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
from cudla_sim.nvdla.loadable import Loadable, TensorDesc
from cudla_sim.nvdla.network import LoadedNetwork
from cudla_sim.nvdla.umd import Engine, LayerRecord, TaskReport

__all__ = [
    "BadLoadable",
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
