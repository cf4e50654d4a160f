"""A shared library behind ``nvdla/cosim.h`` as :class:`.hardware.Hardware`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...core.memory import Bytes
from ...native import outside
from ..errors import Status
from ..facts.configs import CONFIGS
from .errors import CosimError

PREFIX = "cosim:"
"""How the name of such hardware begins."""


def open_library(name: str) -> Library:
    """The core that ``cosim:LIB.so,OPTIONS`` names. Raises CosimError."""
    if not name.startswith(PREFIX):
        raise CosimError(
            f"{name!r} names no hardware: cosim:LIB.so is expected, where LIB.so defines the"
            " functions of nvdla/cosim.h",
            Status.BAD_PARAMETER,
        )
    file, _, options = name.removeprefix(PREFIX).partition(",")
    return Library(file, options)


class Library:
    """One core of a library that defines the functions of ``nvdla/cosim.h``.

    Raises CosimError: the file cannot be loaded, a function is missing, the versions differ, or
    what it says of its core makes no sense. Later on: a function failed.
    """

    def __init__(self, file: str, options: str = "") -> None:
        self._core: Any = None
        header = outside.read("nvdla/cosim.h")
        ffi, version = header.ffi, header.defines["NVDLA_COSIM_VERSION"]
        try:
            self._lib, missing = outside.load(header, file)
        except OSError as error:
            raise CosimError(f"cosim:{file}: {error}", Status.FILE_NOT_FOUND) from None
        self._ffi = ffi
        self.name = Path(file).name
        if missing:
            raise CosimError(
                f"{self.name} does not define {', '.join(missing)}; nvdla/cosim.h declares them"
                ' (in C++: extern "C")',
                Status.MODULE_NOT_PRESENT,
            )
        info = ffi.new("nvdla_cosim_info *")
        core = self._lib.nvdla_cosim_open(options.encode(), info)
        if core == ffi.NULL:
            raise CosimError(f"{self.name}: nvdla_cosim_open: {self._why(ffi.NULL)}")
        self._core = core
        try:
            self._describe(info, version)
        except BaseException:
            self.close()
            raise

    def _describe(self, info: Any, version: int) -> None:
        if info.version != version:
            raise CosimError(
                f"{self.name} is made for version {info.version} of nvdla/cosim.h; this is version"
                f" {version}: compile it again"
            )
        self.configuration = self._text(info.configuration)
        if self.configuration not in CONFIGS:
            raise CosimError(
                f"{self.name} says that its configuration is {self.configuration!r}; it is one of"
                f" {', '.join(CONFIGS)}"
            )
        self.memory_base, self.memory_size = int(info.memory_base), int(info.memory_size)
        if not self.memory_size or self.memory_base + self.memory_size > 1 << 64:
            raise CosimError(
                f"{self.name} says that its memory has {self.memory_size:#x} bytes from"
                f" {self.memory_base:#x}: at least one, within 64 bits"
            )

    def _text(self, pointer: Any) -> str:
        if pointer == self._ffi.NULL:
            return ""
        return self._ffi.string(pointer).decode(errors="replace")

    def _why(self, core: Any) -> str:
        return self._text(self._lib.nvdla_cosim_error(core)) or "it does not say why"

    def _live(self) -> Any:
        if self._core is None:
            raise CosimError(f"{self.name}: the core was closed", Status.INVALID_STATE)
        return self._core

    def _check(self, function: str, result: int) -> int:
        if result < 0:
            raise CosimError(f"{self.name}: nvdla_cosim_{function}: {self._why(self._core)}")
        return result

    def reg_write(self, address: int, value: int, /) -> None:
        """Write a register by its CSB byte address."""
        self._check("reg_write", self._lib.nvdla_cosim_reg_write(self._live(), address, value))

    def reg_read(self, address: int, /) -> int:
        """Read a register by its CSB byte address."""
        value = self._ffi.new("uint32_t *")
        self._check("reg_read", self._lib.nvdla_cosim_reg_read(self._live(), address, value))
        return int(value[0])

    def mem_write(self, address: int, data: Bytes, /) -> None:
        """Copy *data* (uint8) to memory."""
        source = self._ffi.from_buffer(data)
        result = self._lib.nvdla_cosim_mem_write(self._live(), address, source, data.nbytes)
        self._check("mem_write", result)

    def mem_read(self, address: int, data: Bytes, /) -> None:
        """Fill *data* (uint8) from memory."""
        target = self._ffi.from_buffer(data, require_writable=True)
        result = self._lib.nvdla_cosim_mem_read(self._live(), address, target, data.nbytes)
        self._check("mem_read", result)

    def advance(self, cycles: int, /) -> bool:
        """Let time pass until the interrupt line is up, *cycles* at most; whether it is."""
        return bool(self._check("advance", self._lib.nvdla_cosim_advance(self._live(), cycles)))

    def interrupt(self) -> bool:
        """Level of the interrupt line."""
        return bool(self._check("interrupt", self._lib.nvdla_cosim_interrupt(self._live())))

    def cycles(self) -> int:
        """Cycles since reset, 0 where the library does not count them."""
        return int(self._lib.nvdla_cosim_cycles(self._live()))

    def reset(self) -> None:
        """Put the core into its state after reset."""
        self._check("reset", self._lib.nvdla_cosim_reset(self._live()))

    def close(self) -> None:
        """Let go of the core; a second time does nothing."""
        core, self._core = self._core, None
        if core is not None:
            self._lib.nvdla_cosim_close(core)
