"""Kernels of modules in pieces: handles that a program gets before the kernel is compiled.

CUDA Programming Guide, "Lazy Loading": ``cuModuleGetFunction`` does not load a kernel. Runtimes
ask for all kernels of a library when the first one is launched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from ...constants.cudart import cudaError_enum as Result
from ...cudart.errors import CudaError
from ..embedding import address, ffi, lib, pointer


class InPieces(Protocol):
    """A module whose kernels are compiled when they are needed."""

    handle: int

    def symbol(self, name: str) -> int: ...

    def is_ready(self, name: str) -> bool: ...


@dataclass
class Promised:
    module: InPieces
    name: str

    @property
    def real(self) -> int:
        """The address of the kernel, which is compiled now if it has not been. Raises CudaError."""
        found = self.module.symbol(self.name)
        if not found:
            raise CudaError(Result.CUDA_ERROR_NOT_FOUND, f"the module has no kernel {self.name!r}")
        return found


_all: dict[int, Promised] = {}
"""By the handle, which is a number of its own among those of fat binaries, too."""
_handles: dict[tuple[int, str], int] = {}
"""By the identity of the module and the kernel's name."""


def promise(module: InPieces, name: str) -> int:
    """The handle of a kernel of a module in pieces, always the same."""
    if known := _handles.get((id(module), name)):
        return known
    handle = address(lib.sim_cuda_promise(name.encode()))
    if not handle:
        raise MemoryError(name)
    _all[handle] = Promised(module, name)
    _handles[id(module), name] = handle
    return handle


def find(handle: int) -> Promised | None:
    return _all.get(handle)


def executable(function: Any) -> Any:
    """The kernel that runs where *function* is launched. Raises CudaError."""
    found = _all.get(address(function))
    return function if found is None else pointer(found.real)


def forget(module: InPieces) -> None:
    """The module is unloaded."""
    for handle in [handle for handle, known in _all.items() if known.module is module]:
        del _handles[id(module), _all.pop(handle).name]
        lib.sim_cuda_break_promise(ffi.cast("void *", handle))
