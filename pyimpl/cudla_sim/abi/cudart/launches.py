"""Kernels: items of a stream that hold launches made in C (``shim/library/cuda/launches.c``)."""

from __future__ import annotations

import weakref
from typing import Any

from ...constants.cudart import cudaGraphNodeType as NodeType
from ...core import process
from ...cudart import context
from ...cudart.context import Context
from ...cudart.errors import CudaError
from ..embedding import address, ffi, lib
from .family import cudart
from .streams import resolve

_TEXT = 512


class Item:
    """A ``struct sim_launches``, given back to C when it is over."""

    def __init__(self, current: Context, launches: Any) -> None:
        self.context = current
        self.launches = launches
        self.over = ffi.new("int *")

    def is_over(self) -> bool:
        """Whether all of it has ended; C knows that before the stream does."""
        return bool(self.over[0])

    def run(self) -> None:
        """Everything that is in it, and what joins it meanwhile."""
        try:
            if self.context.sticky is None:
                self._call("sim_cuda_run")
        finally:
            lib.sim_cuda_free(self.launches)

    def repeat(self) -> None:
        """As a node of a graph, which is launched any number of times."""
        self._call("sim_cuda_repeat")

    def keep(self) -> None:
        """It goes with the last graph that has it."""
        weakref.finalize(self, lib.sim_cuda_free, self.launches).atexit = False

    def _call(self, name: str) -> None:
        self.context.calls.host_function(_address(name), address(self.launches))
        text = ffi.new("char[]", _TEXT)
        status = lib.sim_cuda_failed(self.launches, text, _TEXT)
        if status:
            raise CudaError(status, ffi.string(text).decode(errors="replace"))


def _address(name: str) -> int:
    return address(ffi.addressof(lib, name))


@cudart.export_as("cudaLaunchKernel", "sim__cuda_launch")
def launch(stream: Any, launches: Any, kernel: Any) -> None:
    found = resolve(stream)
    current = context.current()
    label = ffi.string(kernel).decode(errors="replace") if kernel else "kernel"
    item = Item(current, launches)
    current.in_kernel = lib.sim_cuda_in_kernel
    with current.lock:
        if found.capture is not None:
            kind = NodeType.cudaGraphNodeTypeKernel
            found.enqueue(item.repeat, label=label, kind=kind, given=item)
            item.keep()
            return
        done = found.enqueue(item.run, always=True, label=label)
        if not process._Current.watched:  # who watches sees each launch
            current.settle = lib.sim_cuda_close
            others = (s for s in current.streams.all() if s is not found)
            found.launched = done, item.is_over
            lib.sim_cuda_open(launches, all(s.queue.idle for s in others), item.over)


@cudart.export_as("cudaLaunchKernel", "sim__cuda_refuse")
def refuse(error: int, explanation: Any) -> None:
    raise CudaError(error, ffi.string(explanation).decode(errors="replace"))


def _checks() -> int:
    return context.current().checks.word


def _ranges(bounds: Any, room: int) -> int:
    found = [bound for pair in context.current().memory.ranges() for bound in pair]
    for place, bound in enumerate(found[:room]):
        bounds[place] = ffi.cast("void *", bound)
    return len(found)


# Without the gate: kernels ask while they run, where CUDA's functions are refused.
cudart.attach("sim__cuda_checks", _checks, failure=0)
cudart.attach("sim__cuda_ranges", _ranges, failure=0)
