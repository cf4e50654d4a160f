"""The NVDLA side of one simulated machine: its cores, and the memory that its driver hands out.

Memory of the driver lies in one address space for all cores, and its bus address is its host
address. cuDLA's handles have address spaces of their own; both run on the same cores.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from .. import lazy
from ..core.memory import AddressSpace, Region, usable_size
from ..core.process import Process
from .claim import Claim
from .errors import NvdlaError, Status
from .settings import Settings

if TYPE_CHECKING:
    from .dla_core import Core
    from .facts.configs import HardwareConfig
    from .loadable import Loadable


class Handle:
    """Kinds of handles."""

    SESSION = "NVDLA session"
    DEVICE = "NVDLA device"
    MEMORY = "NVDLA memory"
    ENGINE = "NVDLA engine"
    CONTEXT = "NVDLA driver context"
    RUNTIME = "NVDLA runtime"


class NvdlaMachine:
    """``cores`` are DLA0, DLA1, ..., ``count`` of them; ``outside`` is claimed by a firmware of the
    program's own: there is one, for all cores."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.count = process.config.of(Settings).dla_count
        self.memory = AddressSpace("NVDLA memory")
        self.outside = Claim()
        self._cores: list[Core] | None = None
        self._making = threading.Lock()
        self._adopted: dict[int, Region] = {}
        process.closers.append(self.close)

    @property
    def cores(self) -> list[Core]:
        """The cores; made when somebody first wants one."""
        if self._cores is None:
            with self._making:
                if self._cores is None:
                    self._cores = self._make()
        return self._cores

    def _make(self) -> list[Core]:
        with lazy.importing:
            from .again.weights import WeightCache
            from .dla_core import Core
        settings = self.process.config.of(Settings)
        cache = WeightCache()
        cores = [
            Core(
                "auto" if settings.chip else settings.config,
                settings.fp16,
                memory=self.memory,
                process=self.process,
                index=index,
                cache=cache,
                chip=settings.chip,
            )
            for index in range(self.count)
        ]
        for core in cores:
            core.context = self.process.handles.add(Handle.CONTEXT, core)
        return cores

    def core(self, index: int) -> Core:
        """Return a core; NvdlaError (BAD_PARAMETER) if the machine has no such core."""
        if not 0 <= index < self.count:
            raise NvdlaError(
                f"core {index}: the machine has {self.count} (setting dla_count)",
                Status.BAD_PARAMETER,
            )
        return self.cores[index]

    def settle(self, loadable: Loadable) -> HardwareConfig:
        """The configuration for a loadable of nvdla::IRuntime, which may run on any core."""
        from . import load_warnings

        if not self.count:
            raise NvdlaError("the machine has no core (setting dla_count)", Status.NOT_SUPPORTED)
        settled = [core.settle(loadable) for core in self.cores]
        load_warnings.warn(loadable, settled[0], self.process.config.of(Settings).checks)
        return settled[0]

    def allocate(self, size: int) -> Region:
        """Map zero-filled memory; NvdlaError for nothing or too much."""
        if size <= 0:
            raise NvdlaError("size is 0; memory has at least one byte", Status.BAD_PARAMETER)
        try:
            return self.memory.allocate(
                size, name="NVDLA buffer", margin=self.process.config.general.margin
            )
        except MemoryError as error:
            raise NvdlaError(str(error), Status.INSUFFICIENT_MEMORY) from None

    def adopt(self, address: int, size: int) -> None:
        """Map memory of the program's own, or with *size* 0 what begins there no longer.

        Raises NvdlaError: it is not readable and writable memory, overlaps what is mapped, or (with
        size 0) was never mapped.
        """
        if not size:
            known = self._adopted.pop(address, None)
            if known is None:
                raise NvdlaError(f"no memory of the program is mapped at {address:#x}")
            self.memory.unmap(known)
            return
        if address <= 0 or usable_size(address, size) < size:
            raise NvdlaError(
                f"[{address:#x}, +{size:#x}) is not readable and writable memory of this process",
                Status.INVALID_ADDRESS,
            )
        try:
            self._adopted[address] = self.memory.map(address, size, name="memory of the program")
        except ValueError as error:
            raise NvdlaError(str(error), Status.INVALID_ADDRESS) from None

    def close(self) -> None:
        """End the threads that serve interrupts, and let go of hardware that is not ours."""
        for core in self._cores or ():
            core.set_handler(False)
            core.close()


def machine(process: Process) -> NvdlaMachine:
    """The NVDLA machine of a process."""
    return process.family("nvdla", NvdlaMachine)
