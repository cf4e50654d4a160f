"""Kernels of modules: their names and hints, and libraries, which are modules here."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from enum import IntEnum
from typing import Any

from ...constants.cudart import CUfunctionLoadingState_enum as State
from ...constants.cudart import CUmoduleLoadingMode_enum as Mode
from ...constants.cudart import cudaError_enum as Result
from ...constants.cudart import cudaFuncCache, cudaSharedMemConfig
from ...cuda_kernels.jit import Pieces
from ...cudart import context
from ...cudart.errors import CudaError
from ..embedding import address, ffi, lib, pointer
from . import modules, promised
from .device import get_device, lasting
from .driver import driver, null
from .images import later, read, sources_of
from .jit_options import Logs
from .modules import MODULE, Module, check_kernel


def _module(handle: Any, argument: str) -> Module:
    found: Module = driver.resolve(handle, MODULE, argument, Result.CUDA_ERROR_INVALID_HANDLE)
    return found


def _kernels(module: Module) -> list[int]:
    """Handles of a module's kernels, in the order of their names."""
    names = sorted(module.names())
    if names and module.in_pieces(names[0]):
        return [promised.promise(module, name) for name in names]
    found = (module.symbol(name) for name in names)
    return [kernel for kernel in found if kernel and lib.sim_cuda_kernel_known(pointer(kernel))]


def _owner(kernel: int) -> promised.InPieces:
    """Raises CudaError(INVALID_HANDLE) for a kernel of the program itself."""
    if (awaited := promised.find(kernel)) is not None:
        return awaited.module
    for module in context.current().process.handles.live(MODULE):
        if module.owns(kernel):
            found: Module = module
            return found
    raise CudaError(
        Result.CUDA_ERROR_INVALID_HANDLE, f"hfunc ({kernel:#x}) is a kernel of no module"
    )


def _write(target: Any, room: int, found: list[int]) -> None:
    for index, kernel in enumerate(found[:room]):
        target[index] = pointer(kernel)


# --- modules and functions -----------------------------------------------------------------------


@driver.export("cuModuleGetLoadingMode")
def module_get_loading_mode(mode: Any) -> None:
    null(mode=mode)
    mode[0] = Mode.CU_MODULE_EAGER_LOADING


@driver.export("cuModuleGetFunctionCount")
def module_get_function_count(count: Any, module: Any) -> None:
    null(count=count)
    count[0] = len(_kernels(_module(module, "mod")))


@driver.export("cuModuleEnumerateFunctions")
def module_enumerate_functions(target: Any, room: int, module: Any) -> None:
    null(functions=target)
    _write(target, room, _kernels(_module(module, "mod")))


@driver.export("cuFuncGetModule")
def func_get_module(target: Any, function: Any) -> None:
    null(hmod=target)
    check_kernel(function)
    target[0] = pointer(_owner(address(function)).handle)


def _in_table(function: Any) -> str:
    """The name in the file's own table of symbols, which the loader does not read. Raises CudaError
    (NOT_FOUND)."""
    from elftools.elf.elffile import ELFFile

    base = ffi.new("uintptr_t *")
    file = lib.sim_cuda_file_of(function, base)
    if file:
        with suppress(OSError), open(os.fsdecode(ffi.string(file)), "rb") as opened:
            table: Any = ELFFile(opened).get_section_by_name(".symtab")
            for symbol in table.iter_symbols() if table is not None else ():
                if symbol["st_value"] == address(function) - base[0]:
                    return str(symbol.name)
    raise CudaError(
        Result.CUDA_ERROR_NOT_FOUND, f"kernel {address(function):#x} has no name: it was stripped"
    )


def _name(target: Any, **kernel: Any) -> None:
    null(name=target, **kernel)
    (function,) = kernel.values()
    check_kernel(function)
    if (awaited := promised.find(address(function))) is not None:
        target[0] = lasting(awaited.name)
        return
    known = lib.sim_cuda_symbol_name(function)
    target[0] = lasting(ffi.string(known).decode() if known else _in_table(function))


@driver.export("cuFuncGetName")
def func_get_name(target: Any, function: Any) -> None:
    _name(target, hfunc=function)


@driver.export("cuFuncIsLoaded")
def func_is_loaded(state: Any, function: Any) -> None:
    null(state=state)
    check_kernel(function)
    awaited = promised.find(address(function))
    ready = awaited is None or awaited.module.is_ready(awaited.name)
    state[0] = (
        State.CU_FUNCTION_LOADING_STATE_LOADED
        if ready
        else State.CU_FUNCTION_LOADING_STATE_UNLOADED
    )


@driver.export("cuFuncLoad")
def func_load(function: Any) -> None:
    check_kernel(function)
    promised.executable(function)


def _hint(function: Any, config: int, known: type[IntEnum]) -> None:
    check_kernel(function)
    values = [int(each) for each in known]
    if config not in values:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE, f"config is {config}; 0 to {max(values)} exist"
        )


@driver.export("cuFuncSetCacheConfig")
def func_set_cache_config(function: Any, config: int) -> None:
    _hint(function, config, cudaFuncCache)


@driver.export("cuFuncSetSharedMemConfig")
def func_set_shared_mem_config(function: Any, config: int) -> None:
    _hint(function, config, cudaSharedMemConfig)


# --- libraries -----------------------------------------------------------------------------------


def _library(
    target: Any, image: Callable[[], bytes | Pieces], count: int, options: Any, values: Any
) -> None:
    """Who wants logs of the compiler gets them now."""
    made = Module(image)
    if count:
        with Logs(count, options, values):
            made.load()
    target[0] = pointer(modules.add(made))


@driver.export("cuLibraryLoadData")
def library_load_data(
    target: Any, code: Any, options: Any, values: Any, count: int, *_: Any
) -> None:
    null(library=target, code=code)
    _library(target, later(lambda: sources_of(code)), count, options, values)


@driver.export("cuLibraryLoadFromFile")
def library_load_from_file(
    target: Any, name: Any, options: Any, values: Any, count: int, *_: Any
) -> None:
    null(library=target, fileName=name)
    found, stem = read(name, "fileName")
    _library(target, later(lambda: found, stem), count, options, values)


@driver.export("cuLibraryUnload")
def library_unload(library: Any) -> None:
    modules.unload(_module(library, "library"), "cuLibraryUnload")


@driver.export("cuLibraryGetModule")
def library_get_module(target: Any, library: Any) -> None:
    null(pMod=target)
    target[0] = pointer(_module(library, "library").handle)


@driver.export("cuLibraryGetKernel")
def library_get_kernel(target: Any, library: Any, name: Any) -> None:
    null(pKernel=target, name=name)
    target[0] = pointer(modules.kernel(_module(library, "library"), name))


@driver.export("cuLibraryGetKernelCount")
def library_get_kernel_count(count: Any, library: Any) -> None:
    null(count=count)
    count[0] = len(_kernels(_module(library, "lib")))


@driver.export("cuLibraryEnumerateKernels")
def library_enumerate_kernels(target: Any, room: int, library: Any) -> None:
    null(kernels=target)
    _write(target, room, _kernels(_module(library, "lib")))


@driver.export("cuLibraryGetGlobal")
def library_get_global(target: Any, size: Any, library: Any, name: Any) -> None:
    modules.module_get_global(target, size, library, name)


@driver.export("cuLibraryGetManaged")
def library_get_managed(target: Any, size: Any, library: Any, name: Any) -> None:
    modules.module_get_global(target, size, library, name)


@driver.export("cuLibraryGetUnifiedFunction")
def library_get_unified_function(target: Any, library: Any, name: Any) -> None:
    null(fptr=target, symbol=name)
    _module(library, "library")
    raise CudaError(
        Result.CUDA_ERROR_NOT_SUPPORTED,
        "not supported: pointers to functions that the host and the device share, as "
        "CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS says",
    )


@driver.export("cuKernelGetFunction")
def kernel_get_function(target: Any, kernel: Any) -> None:
    null(pFunc=target)
    check_kernel(kernel)
    target[0] = pointer(address(kernel))


@driver.export("cuKernelGetLibrary")
def kernel_get_library(target: Any, kernel: Any) -> None:
    null(pLib=target)
    check_kernel(kernel)
    target[0] = pointer(_owner(address(kernel)).handle)


@driver.export("cuKernelGetName")
def kernel_get_name(target: Any, kernel: Any) -> None:
    _name(target, hfunc=kernel)


@driver.export("cuKernelGetAttribute")
def kernel_get_attribute(value: Any, attribute: int, kernel: Any, ordinal: int) -> None:
    get_device(ordinal)
    modules.func_get_attribute(value, attribute, kernel)


@driver.export("cuKernelSetAttribute")
def kernel_set_attribute(attribute: int, value: int, kernel: Any, ordinal: int) -> None:
    get_device(ordinal)
    modules.func_set_attribute(kernel, attribute, value)


@driver.export("cuKernelSetCacheConfig")
def kernel_set_cache_config(kernel: Any, config: int, ordinal: int) -> None:
    get_device(ordinal)
    _hint(kernel, config, cudaFuncCache)
