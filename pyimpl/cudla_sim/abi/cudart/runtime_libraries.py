"""Libraries of kernels by the runtime's functions: the driver's, which are modules.

What is wrong has one number in both.
"""

from __future__ import annotations

from typing import Any

from ...cudart import device
from ...cudart.errors import invalid_value
from ..embedding import address, ffi, lib, pointer
from . import driver, driver_functions, functions, private_tables
from .device import get_device
from .family import cudart, null
from .registered import kernel_of


@cudart.export("cudaLibraryLoadData")
def library_load_data(target: Any, code: Any, *rest: Any) -> None:
    driver_functions.library_load_data(target, code, *rest)


@cudart.export("cudaLibraryLoadFromFile")
def library_load_from_file(target: Any, name: Any, *rest: Any) -> None:
    driver_functions.library_load_from_file(target, name, *rest)


@cudart.export("cudaLibraryUnload", ruined="report")
def library_unload(library: Any) -> None:
    driver_functions.library_unload(library)


@cudart.export("cudaLibraryGetKernel")
def library_get_kernel(target: Any, library: Any, name: Any) -> None:
    driver_functions.library_get_kernel(target, library, name)


def _variable(target: Any, size: Any, library: Any, name: Any) -> None:
    null(name=name)
    found = ffi.new("CUdeviceptr *")
    driver_functions.library_get_global(found, size, library, name)
    if target:
        target[0] = pointer(found[0])


@cudart.export("cudaLibraryGetGlobal")
def library_get_global(target: Any, size: Any, library: Any, name: Any) -> None:
    _variable(target, size, library, name)


@cudart.export("cudaLibraryGetManaged")
def library_get_managed(target: Any, size: Any, library: Any, name: Any) -> None:
    _variable(target, size, library, name)


@cudart.export("cudaLibraryGetUnifiedFunction")
def library_get_unified_function(target: Any, library: Any, name: Any) -> None:
    driver_functions.library_get_unified_function(target, library, name)


@cudart.export("cudaLibraryGetKernelCount")
def library_get_kernel_count(count: Any, library: Any) -> None:
    driver_functions.library_get_kernel_count(count, library)


@cudart.export("cudaLibraryEnumerateKernels")
def library_enumerate_kernels(target: Any, room: int, library: Any) -> None:
    driver_functions.library_enumerate_kernels(target, room, library)


@cudart.export("cudaKernelSetAttributeForDevice")
def kernel_set_attribute_for_device(kernel: Any, attribute: int, value: int, ordinal: int) -> None:
    get_device(ordinal)
    functions.func_set_attribute(kernel, attribute, value)


@cudart.export("cudaGetKernel")
def get_kernel(target: Any, function: Any) -> None:
    null(kernelPtr=target)
    target[0] = pointer(address(kernel_of(function)))


@cudart.export("cudaGetExportTable")
def get_export_table(target: Any, identity: Any) -> None:
    private_tables.get_export_table(target, identity)


def _entry_point(symbol: Any, target: Any, version: int, flags: int, state: Any) -> None:
    null(symbol=symbol, funcPtr=target)
    if flags not in driver.PROC_ADDRESS_FLAGS:
        raise invalid_value(f"flags is {flags:#x}; cudaEnable* are 0, 1 and 2")
    found = lib.sim_cuda_entry_point(symbol, version, flags)
    target[0] = found
    if state:
        state[0] = not found  # cudaDriverEntryPointSuccess 0 or SymbolNotFound 1


@cudart.export("cudaGetDriverEntryPoint")
def get_driver_entry_point(symbol: Any, target: Any, flags: int, state: Any) -> None:
    _entry_point(symbol, target, device.VERSION, flags, state)


@cudart.export("cudaGetDriverEntryPointByVersion")
def get_driver_entry_point_by_version(
    symbol: Any, target: Any, version: int, flags: int, state: Any
) -> None:
    _entry_point(symbol, target, version, flags, state)
