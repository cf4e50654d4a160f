"""Kernels and variables that a program registers with a fat binary of NVIDIA's nvcc: its PTX is
compiled when one of them is needed, as a GPU's driver does."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from ...constants.cudart import cudaError
from ...cudart import context
from ...cudart.errors import CudaError
from ..embedding import address, ffi, lib, pointer
from . import images, promised
from .family import cudart, null
from .modules import Module


@dataclass
class _Binary:
    """*module* is None as long as nothing of it was needed; *refused* is why there will be none."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    module: Module | None = None
    refused: CudaError | None = None


_binaries: dict[int, _Binary] = {}
"""By the number under which a binary was registered, which no other one has later."""


def module_of(wrapper: Any, number: int) -> Module:
    """Raises CudaError (NoKernelImageForDevice, InvalidKernelImage, InvalidPtx)."""
    binary = _binaries.setdefault(number, _Binary())
    with binary.lock:
        if binary.refused is not None:
            raise CudaError(binary.refused.status, binary.refused.explanation)
        if binary.module is None:
            try:
                binary.module = _loaded(wrapper, number)
            except CudaError as error:
                binary.refused = error
                raise
        return binary.module


def _loaded(wrapper: Any, number: int) -> Module:
    made = Module(lambda: images.as_needed(images.wrapped(wrapper), f"binary{number}"))
    made.load()
    host, name, managed = ffi.new("void **"), ffi.new("char **"), ffi.new("int *")
    index = 0
    while lib.sim_cuda_registered(number, index, host, name, managed):
        index += 1
        found, size = made.variable(ffi.string(name[0]).decode())
        if not found:
            continue
        context.current().memory.variable(found, size)
        if managed[0]:
            ffi.cast("void **", host[0])[0] = pointer(found)
    return made


@cudart.export_as("cudaLaunchKernel", "sim__cuda_image")
def image(wrapper: Any, number: int, name: Any, kernel: Any) -> None:
    if (awaited := promised.find(number)) is not None:
        kernel[0] = pointer(awaited.real)
        return
    made = module_of(wrapper, number)
    if name:
        kernel[0] = pointer(_kernel(made, name))


def _kernel(made: Module, name: Any) -> int:
    text = ffi.string(name).decode(errors="replace")
    found = made.symbol(text)
    if not found:
        raise CudaError(
            cudaError.cudaErrorInvalidDeviceFunction,
            f"the PTX of the program has no kernel {text}",
        )
    return found


def symbol(host: Any) -> tuple[int, int] | None:
    """Address and size of what NVIDIA's nvcc registered under an address, None where it did not.
    Raises CudaError."""
    wrapper, number = ffi.new("void **"), ffi.new("size_t *")
    name, size = ffi.new("char **"), ffi.new("size_t *")
    if not lib.sim_cuda_symbol(host, wrapper, number, name, size):
        return None
    made = module_of(wrapper[0], number[0])
    text = ffi.string(name[0]).decode(errors="replace")
    found, _ = made.variable(text)
    if not found:
        raise CudaError(
            cudaError.cudaErrorInvalidSymbol, f"the PTX of the program has no variable {text}"
        )
    context.current().memory.variable(found, size[0])
    return found, int(size[0])


def kernel_of(function: Any) -> Any:
    """The kernel that is executed where that function of the program is launched. Raises
    CudaError (InvalidDeviceFunction)."""
    if function and lib.sim_cuda_kernel_known(function):
        return promised.executable(function)
    wrapper, number = ffi.new("void **"), ffi.new("size_t *")
    name, real = ffi.new("char **"), ffi.new("void **")
    if not function or not lib.sim_cuda_foreign(function, wrapper, number, name, real):
        raise CudaError(
            cudaError.cudaErrorInvalidDeviceFunction,
            f"func ({address(function):#x}) is no __global__ function of this program",
        )
    if not real[0]:
        real[0] = pointer(_kernel(module_of(wrapper[0], number[0]), name[0]))
        lib.sim_cuda_stands_for(function, real[0])
    return real[0]


@cudart.export("cudaGetFuncBySymbol")
def get_func_by_symbol(target: Any, symbol_ptr: Any) -> None:
    null(functionPtr=target)
    target[0] = ffi.cast("CUfunction", kernel_of(symbol_ptr))
