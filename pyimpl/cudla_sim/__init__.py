"""cudla-sim: what C programs see of cuDLA, NVDLA, NvSci, CUDA, UPMEM and cuPVA, seen from Python.

The objects here are those the C library works with, in the same process::

    import cudla_sim
    cudla_sim.dla.devices[0].memory.registered[0].array   # what C registered, as numpy
    cudla_sim.last_explanation()                          # why the last call of this thread failed
    cudla_sim.reset()                                     # a clean process between tests
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os
    from contextlib import AbstractContextManager

    from typing_extensions import Unpack

    from . import cupva as cupva
    from . import upmem as upmem
    from .core.config import Config
    from .core.hardware import Times
    from .core.memory import AddressSpace
    from .core.process import Process
    from .cudla.device import Dla
    from .evaluation.api import evaluate as evaluate
    from .given import Settings
    from .nvdla.parts.package import Package
    from .tools.report import write as report
    from .version import __version__ as __version__

    dla: Dla
    """The DLA cores: ``devices`` are the open handles, with their memory, modules and tasks."""
    memory: AddressSpace
    """All memory that devices see."""
    process: Process
    """The state that everything else belongs to."""

__all__ = [
    "configure",
    "cupva",
    "dla",
    "evaluate",
    "inject_fault",
    "last_explanation",
    "memory",
    "network",
    "process",
    "report",
    "reset",
    "time",
    "upmem",
]


def last_explanation() -> str:
    """Why the last failed call of this thread failed; "" when none failed yet."""
    from .core import explain

    return explain.last()


def configure(**settings: Unpack[Settings]) -> Config:
    """Begins a clean process with some settings changed (fields of ``core.config.Config``).

    Raises ConfigError for a setting that does not exist or a value it cannot take.
    """
    from .core import process

    return process.replace(process.current().config.replace(**settings)).config


def reset() -> None:
    """Begins a clean process with the settings of the environment; old handles are stale.

    Waits for work that is running.
    """
    import os

    from .core import process
    from .core.config import from_environment

    process.replace(from_environment(os.environ))


def inject_fault(rule: str) -> None:
    """Makes calls or engine work fail on purpose; see ``simInjectFault`` in cudla_sim.h."""
    from .core import process

    process.current().faults.set(rule)


def time() -> AbstractContextManager[Times]:
    """``with cudla_sim.time() as found:`` what the hardware would need for the block.

    ``found.cycles`` and ``found.milliseconds`` of cuDLA tasks, launches of DPUs and transfers to
    and from DPUs that ended inside it, ``found.steps`` each of them. Work that is still queued when
    the block ends is left out. DPU programs must count (docs/timing.md).
    """
    from .core import process

    return process.current().time()


def network(source: str | os.PathLike[str] | bytes) -> Package:
    """A compiled network: a loadable, or one in parts for hardware and host; a file or its bytes.

    ``network(file).run({"x": array})`` computes on real numbers in the shapes of the ONNX model and
    gives arrays by the names of its outputs. ``with network(file).load() as loaded:`` keeps it in
    memory for many calls of ``loaded.run``, whose arrays may hold several samples. Raises
    ``nvdla.errors.NvdlaError``, one line that says what is wrong.
    """
    from .nvdla.parts import package

    return package.network(source)


def __getattr__(name: str) -> Any:
    """Live views of the current process: ``dla``, ``memory``, ``process``, ``upmem``, ``cupva``;
    functions whose modules are imported when somebody wants them."""
    if name == "__version__":
        from .version import __version__

        return __version__
    if name == "evaluate":
        from .evaluation.api import evaluate

        return evaluate
    if name == "report":
        from .tools.report import write

        return write
    if name not in ("process", "memory", "dla", "upmem", "cupva"):
        raise AttributeError(f"module 'cudla_sim' has no attribute {name!r}")
    from .core import process as processes

    if name == "process":
        return processes.current()
    if name == "memory":
        return processes.current().memory
    if name == "dla":
        from .cudla.device import dla

        return dla(processes.current())
    import importlib

    return importlib.import_module(f".{name}", __name__)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
