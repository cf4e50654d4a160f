"""Modules: code that a program loads while it runs."""

from __future__ import annotations

import ctypes
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from ...constants.cudart import CUfunction_attribute_enum as Attribute
from ...constants.cudart import cudaDeviceAttr as Device
from ...constants.cudart import cudaError_enum as Result
from ...cuda_kernels.jit import Pieces
from ...cuda_kernels.ptx.module.translate import WANTED
from ...cudart import context
from ...cudart.errors import CudaError
from ..embedding import address, ffi, lib, pointer
from .device import get_device
from .driver import driver, null, require_current
from .images import image_of, image_of_file, piece
from .jit_options import Logs
from .promised import executable, forget, promise

MODULE = "CUmodule"
_MAJOR = Device.cudaDevAttrComputeCapabilityMajor
_MINOR = Device.cudaDevAttrComputeCapabilityMinor
_used: Counter[int] = Counter()
"""How often a descriptor has named a library."""
_MOST_USES = 1000  # a name has 4095 bytes at most


def _name(descriptor: int) -> str:
    """A name that no library has had: the loader takes a name that it knows for that library, and
    one with variables that exist once in a process stays when it is closed."""
    uses = _used[descriptor]
    _used[descriptor] += 1
    return "/proc/self/fd/" + uses * "./" + str(descriptor)


def _descriptor() -> int:
    """One for a file in memory; those that were used too often are not used again."""
    found = os.memfd_create("cudla-sim module")
    while _used[found] >= _MOST_USES:
        found = os.dup(found)
    return found


class Module:
    """A shared library in memory. The descriptor stays open, as the loader knows files by name.

    *image* is made when something of it is needed, once (CUDA Programming Guide, "Lazy Loading").
    """

    def __init__(self, image: Callable[[], bytes | Pieces]) -> None:
        self._image = image
        self._lock = threading.Lock()
        self._loaded: tuple[int, ctypes.CDLL] | None = None
        self._refused: CudaError | None = None
        self._pieces: Pieces | None = None
        self._of_kernels: dict[str, tuple[int, ctypes.CDLL]] = {}
        """Of a module in pieces: what has been loaded of them, by the names of kernels."""
        self.handle = 0
        self.of = 0
        """The program's own context that it goes with."""
        self.variables: set[int] = set()
        """Addresses of those that were asked for."""
        self.references: dict[int, tuple[str, Any]] = {}
        """Textures and surfaces that were asked for, by address, with the kind of their handles."""

    def load(self) -> tuple[int, ctypes.CDLL]:
        """Its file's descriptor and the library. Raises CudaError, the same one each time."""
        with self._lock:
            if self._refused is not None:
                raise CudaError(self._refused.status, self._refused.explanation)
            if self._loaded is None:
                try:
                    made = self._image()
                    if not isinstance(made, bytes):
                        self._pieces, made = made, made.variables
                    self._loaded = _in_memory(made)
                except CudaError as error:
                    self._refused = error
                    raise
            return self._loaded

    @property
    def descriptor(self) -> int:
        return self.load()[0]

    @property
    def library(self) -> ctypes.CDLL:
        return self.load()[1]

    def symbol(self, name: str) -> int:
        """The address of a kernel or variable, 0 when there is none."""
        library = self.library
        if self._pieces is not None and name in self._pieces.kernels:
            library = self._piece(name)
        return _address(library, name)

    def in_pieces(self, name: str) -> bool:
        """Whether it has a kernel of that name which is compiled when it is needed."""
        self.load()
        return self._pieces is not None and name in self._pieces.kernels

    def is_ready(self, name: str) -> bool:
        """Whether a kernel of a module in pieces is compiled."""
        return name in self._of_kernels

    def _piece(self, name: str) -> ctypes.CDLL:
        """That of a kernel, which knows where the variables are. Raises CudaError."""
        assert self._pieces is not None
        with self._lock:
            if name not in self._of_kernels:
                loaded = _in_memory(piece(self._pieces, name))
                for symbol, place in _wanted(loaded[1]):
                    place[0] = _address(self._loaded[1], symbol) if self._loaded else 0
                self._of_kernels[name] = loaded
            return self._of_kernels[name][1]

    def names(self) -> list[str]:
        """Of the functions that it exports."""
        self.load()
        if self._pieces is not None:
            return list(self._pieces.kernels)
        from elftools.elf.elffile import ELFFile

        with open(self.descriptor, "rb", closefd=False) as file:
            table: Any = ELFFile(file).get_section_by_name(".dynsym")
            return [
                symbol.name
                for symbol in table.iter_symbols()
                if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_shndx"] != "SHN_UNDEF"
            ]

    def owns(self, kernel: int) -> bool:
        """Whether the address is that of a kernel of it that is loaded."""
        if self._loaded is None:
            return False
        names = self._of_kernels if self._pieces is not None else self.names()
        return any(self.symbol(name) == kernel for name in list(names))

    def variable(self, name: str) -> tuple[int, int]:
        """Address and size, 0 when there is none. The loader does not know what is ``static``."""
        found = self.symbol(name)
        if found:
            return found, lib.sim_cuda_symbol_size(pointer(found))
        from elftools.elf.elffile import ELFFile

        with open(self.descriptor, "rb", closefd=False) as file:
            table: Any = ELFFile(file).get_section_by_name(".symtab")
            for symbol in table.iter_symbols() if table is not None else ():
                local = symbol["st_info"]["type"] == "STT_OBJECT"
                if local and symbol.name in (name, f"_ZL{len(name)}{name}"):
                    base = ctypes.cast(self.library._handle, ctypes.POINTER(ctypes.c_size_t))[0]
                    return base + symbol["st_value"], symbol["st_size"]
        return 0, 0

    def close(self) -> None:
        import _ctypes

        loaded = [*self._of_kernels.values(), *([self._loaded] if self._loaded else [])]
        for descriptor, library in loaded:
            _ctypes.dlclose(library._handle)
            os.close(descriptor)


def _address(library: ctypes.CDLL, name: str) -> int:
    """Of what a library exports; 0 where there is no such name."""
    try:
        return ctypes.addressof(ctypes.c_char.in_dll(library, name))
    except ValueError:
        return 0


class _Wanted(ctypes.Structure):
    """``PtxWanted`` of kernels/ptx_module.hpp."""

    _fields_ = (("symbol", ctypes.c_char_p), ("address", ctypes.POINTER(ctypes.c_size_t)))


def _wanted(library: ctypes.CDLL) -> Iterator[tuple[str, Any]]:
    """Symbols of variables that a piece uses, and where their addresses go."""
    row = _Wanted.in_dll(library, WANTED)
    while row.symbol:
        yield row.symbol.decode(), row.address
        row = _Wanted.from_address(ctypes.addressof(row) + ctypes.sizeof(_Wanted))


def _in_memory(image: bytes) -> tuple[int, ctypes.CDLL]:
    descriptor = _descriptor()
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(image)
        return descriptor, ctypes.CDLL(_name(descriptor), mode=os.RTLD_NOW)
    except OSError as error:
        os.close(descriptor)
        raise CudaError(Result.CUDA_ERROR_INVALID_IMAGE, f"image: {error}") from None


@driver.export("cuDeviceComputeCapability")
def device_compute_capability(major: Any, minor: Any, ordinal: int) -> None:
    null(major=major, minor=minor)
    found = get_device(ordinal)
    major[0], minor[0] = found.attribute(_MAJOR), found.attribute(_MINOR)


# --- modules -------------------------------------------------------------------------------------


def add(made: Module) -> int:
    """The handle of a new module."""
    made.handle = context.current().process.handles.add(MODULE, made)
    return made.handle


def _load(target: Any, image: bytes | Pieces) -> None:
    require_current()
    made = Module(lambda: image)
    made.load()
    made.of = context.current().thread.own_context
    target[0] = pointer(add(made))


@driver.export("cuModuleLoad")
def module_load(target: Any, name: Any) -> None:
    null(module=target, fname=name)
    _load(target, image_of_file(name, "fname"))


@driver.export("cuModuleLoadData")
def module_load_data(target: Any, image: Any) -> None:
    null(module=target, image=image)
    _load(target, image_of(image))


@driver.export("cuModuleLoadDataEx")
def module_load_data_ex(target: Any, image: Any, count: int, options: Any, values: Any) -> None:
    with Logs(count, options, values):
        module_load_data(target, image)


@driver.export("cuModuleLoadFatBinary")
def module_load_fat_binary(target: Any, image: Any) -> None:
    module_load_data(target, image)


def _module(handle: Any) -> Module:
    found: Module = driver.resolve(handle, MODULE, "hmod", Result.CUDA_ERROR_INVALID_HANDLE)
    return found


@driver.export("cuModuleUnload")
def module_unload(handle: Any) -> None:
    unload(_module(handle), "cuModuleUnload")


def unload(found: Module, how: str) -> None:
    current = context.current()
    current.streams.drain()
    current.process.handles.remove(found.handle, MODULE, how)
    for variable in found.variables:
        current.memory.forget_variable(variable)
    for kind, reference in found.references.values():
        reference.drop()
        current.process.handles.remove(reference.handle, kind, how)
    forget(found)
    found.close()


@driver.export("cuModuleGetFunction")
def module_get_function(target: Any, handle: Any, name: Any) -> None:
    null(hfunc=target, name=name)
    target[0] = pointer(kernel(_module(handle), name))


def kernel(module: Module, name: Any) -> int:
    """The address of a module's kernel. Raises CudaError (NOT_FOUND)."""
    text = ffi.string(name).decode(errors="replace")
    if module.in_pieces(text):
        return promise(module, text)
    found = module.symbol(text)
    if not found or not lib.sim_cuda_kernel_known(pointer(found)):
        raise CudaError(
            Result.CUDA_ERROR_NOT_FOUND,
            f'the module has no kernel {text!r}; without extern "C" it has a mangled name',
        )
    return found


@driver.export("cuModuleGetGlobal_v2")
def module_get_global(target: Any, size: Any, handle: Any, name: Any) -> None:
    null(name=name)
    text = ffi.string(name).decode(errors="replace")
    module = _module(handle)
    found, count = module.variable(text)
    if not found:
        raise CudaError(Result.CUDA_ERROR_NOT_FOUND, f"the module has no variable {text!r}")
    context.current().memory.variable(found, count)
    module.variables.add(found)
    if target:
        target[0] = found
    if size:
        size[0] = count


REGISTERS = 32
"""Of a thread, as small kernels have them; programs divide by it. No compiler for a GPU says more:
the rest that one would know is 0."""


def function_attribute(function: Any, wanted: int) -> int:
    """What every kernel answers: limits of the device."""
    found = get_device(0)
    if wanted == Attribute.CU_FUNC_ATTRIBUTE_NUM_REGS:
        return REGISTERS
    if wanted == Attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        return found.attribute(Device.cudaDevAttrMaxThreadsPerBlock)
    if wanted == Attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        allowed = lib.sim_cuda_shared(function, -1)
        usual = found.attribute(Device.cudaDevAttrMaxSharedMemoryPerBlock)
        return int(allowed) if allowed >= 0 else usual
    if wanted in (
        Attribute.CU_FUNC_ATTRIBUTE_PTX_VERSION,
        Attribute.CU_FUNC_ATTRIBUTE_BINARY_VERSION,
    ):
        own = 10 * found.attribute(_MAJOR) + found.attribute(_MINOR)
        if wanted == Attribute.CU_FUNC_ATTRIBUTE_BINARY_VERSION:
            return own
        # libraries choose by it what they launch: CUB has settings for what it was compiled for
        return int(lib.sim_cuda_ptx_version(function)) or own
    no_preference = wanted == Attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
    return -1 if no_preference else 0


def check_kernel(function: Any) -> None:
    if not function or not lib.sim_cuda_kernel_known(function):
        raise CudaError(
            Result.CUDA_ERROR_INVALID_HANDLE,
            f"hfunc ({address(function):#x}) is no kernel (cuModuleGetFunction)",
        )


def _attribute(attribute: int) -> None:
    if not 0 <= attribute < Attribute.CU_FUNC_ATTRIBUTE_MAX:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE,
            f"attrib is {attribute}; CUfunction_attribute has 0 to "
            f"{Attribute.CU_FUNC_ATTRIBUTE_MAX - 1}",
        )


@driver.export("cuFuncGetAttribute")
def func_get_attribute(value: Any, attribute: int, function: Any) -> None:
    null(pi=value)
    _attribute(attribute)
    check_kernel(function)
    value[0] = function_attribute(executable(function), attribute)


@driver.export("cuFuncSetAttribute")
def func_set_attribute(function: Any, attribute: int, value: int) -> None:
    _attribute(attribute)
    check_kernel(function)
    if attribute == Attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        allow_shared(executable(function), value)


def allow_shared(function: Any, value: int) -> None:
    """Raises CudaError (INVALID_VALUE)."""
    most = get_device(0).attribute(Device.cudaDevAttrMaxSharedMemoryPerBlockOptin)
    if not 0 <= value <= most:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE,
            f"value is {value}; a block has at most {most} bytes of dynamic shared memory",
        )
    lib.sim_cuda_shared(function, value)
