"""The driver's log of calls that failed, for the program.

CUDA Driver API, "Error Log Management Functions"; CUDA Runtime API, the section of that name.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ...constants.cudart import CUlogLevel_enum as Level
from ...cudart.errors import invalid_handle, invalid_value
from ...cudart.log import LOG, fitting
from ..embedding import address, ffi, pointer
from .driver import driver
from .family import cudart, null, required_flags


def _iterator(iterator: Any) -> int:
    """Where a dump begins: the number has 32 bits."""
    if not iterator:
        return 0
    begin = int(iterator[0])
    if begin > LOG.end:
        raise invalid_value(f"*iterator is {begin}; the log has {LOG.end} lines (cuLogsCurrent)")
    return begin


def _advance(iterator: Any) -> None:
    if iterator:
        iterator[0] = LOG.end


@cudart.export("cudaLogsRegisterCallback", ruined="ignore")
def register_callback(function: Any, data: Any, handle: Any) -> None:
    null(callbackFunc=function)

    def tell(line: str) -> None:
        text = line.encode()
        function(data, Level.CU_LOG_LEVEL_ERROR, ffi.new("char[]", text), len(text))

    number = LOG.register(tell)
    if handle:
        handle[0] = pointer(number)


@cudart.export("cudaLogsUnregisterCallback", ruined="ignore")
def unregister_callback(handle: Any) -> None:
    if not LOG.unregister(address(handle)):
        raise invalid_handle(f"callback ({address(handle):#x}) is not registered")


@cudart.export("cudaLogsCurrent", ruined="ignore")
def current(iterator: Any, flags: int) -> None:
    null(iterator_out=iterator)
    required_flags(flags, 0, "it is 0")
    iterator[0] = LOG.end


@cudart.export("cudaLogsDumpToFile", ruined="ignore")
def dump_to_file(iterator: Any, path: Any, flags: int) -> None:
    null(pathToFile=path)
    required_flags(flags, 0, "it is 0")
    target = Path(os.fsdecode(ffi.string(path)))
    lines = LOG.since(_iterator(iterator))
    try:
        target.write_text("".join(f"{line}\n" for line in lines))
    except OSError as error:
        raise invalid_value(f"pathToFile is {target}: {error.strerror}") from None
    _advance(iterator)


@cudart.export("cudaLogsDumpToMemory", ruined="ignore")
def dump_to_memory(iterator: Any, buffer: Any, size: Any, flags: int) -> None:
    null(buffer=buffer, size=size)
    required_flags(flags, 0, "it is 0")
    room = int(size[0])
    if room == 0:
        raise invalid_value("*size is 0; it is the number of bytes of buffer")
    lines = LOG.since(_iterator(iterator))
    text = fitting(lines, room).encode()
    size[0] = len(text)
    if lines and not text:
        raise invalid_value(f"*size is {room}; not one of {len(lines)} messages fits")
    ffi.memmove(buffer, text + b"\0", len(text) + 1)
    _advance(iterator)


driver.export("cuLogsRegisterCallback", early=True)(register_callback)
driver.export("cuLogsUnregisterCallback", early=True)(unregister_callback)
driver.export("cuLogsCurrent", early=True)(current)
driver.export("cuLogsDumpToFile", early=True)(dump_to_file)
driver.export("cuLogsDumpToMemory", early=True)(dump_to_memory)
