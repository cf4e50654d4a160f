"""Kernels: launches that C made (``shim/library/cuda/launches.c``), in streams."""

from __future__ import annotations

import weakref
from typing import Any

from ...cudart import context
from ...cudart.context import Context
from ...cudart.errors import CudaError
from ..embedding import address, ffi, lib
from .family import cudart
from .streams import resolve

_TEXT_BYTES = 512


class Launch:
    """A ``struct sim_launch``, freed with the last reference: a graph runs it several times."""

    def __init__(self, current: Context, launch: Any) -> None:
        self._context = current
        self._launch = launch

    def keep(self) -> None:
        """Makes the launch belong to this object."""
        weakref.finalize(self, lib.sim_cuda_free, self._launch).atexit = False

    def run(self) -> None:
        """Runs the kernel without the interpreter's lock. Raises CudaError when it fails."""
        run = address(ffi.addressof(lib, "sim_cuda_run"))
        self._context.calls.host_function(run, address(self._launch))
        text = ffi.new("char[]", _TEXT_BYTES)
        status = lib.sim_cuda_failed(self._launch, text, _TEXT_BYTES)
        if status:
            raise CudaError(status, ffi.string(text).decode(errors="replace"))


@cudart.export_as("cudaLaunchKernel", "sim__cuda_launch")
def launch(stream: Any, launch: Any, kernel: Any) -> None:
    label = ffi.string(kernel).decode(errors="replace") if kernel else "kernel"
    made = Launch(context.current(), launch)
    resolve(stream).enqueue(made.run, label=label)
    made.keep()  # a launch that was refused still belongs to C


@cudart.export_as("cudaLaunchKernel", "sim__cuda_refuse")
def refuse(error: int, explanation: Any) -> None:
    raise CudaError(error, ffi.string(explanation).decode(errors="replace"))
