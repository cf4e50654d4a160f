"""NVDLA: loadables, the driver stack that runs them, and the hardware they run on.

The usual path is :class:`Loadable` (parse a file), :class:`LoadedNetwork` (put it into an
address space), :class:`Core` (run it; ``Engine`` is its former name). ``layout`` packs arrays into
tensors, ``inspect`` describes loadables, ``build`` makes them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .dla_core import Core
    from .dla_core import Core as Engine
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

_ELSEWHERE = {
    "Core": "dla_core",
    "Engine": "dla_core",
    "LayerRecord": "task_report",
    "Loadable": "loadable",
    "LoadedNetwork": "network",
    "TaskReport": "task_report",
    "TensorDesc": "loadable",
}
"""Modules of names; the others are errors. Who wants an error only need not wait for the units."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f".{_ELSEWHERE.get(name, 'errors')}", __name__)
    found = globals()[name] = getattr(module, "Core" if name == "Engine" else name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
