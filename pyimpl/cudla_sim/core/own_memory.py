"""This process's own memory, read through the kernel, which answers for a wrong pointer.

Where there is no ``/proc``, as in some containers and chroots, process_vm_readv(2) does the same.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_PAGE = 4096
_PIECES = 1024  # UIO_MAXIOV
_MOST = 4 << 30


class _Span(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


@cache
def _call() -> Any:
    call = ctypes.CDLL(None).process_vm_readv
    call.restype = ctypes.c_ssize_t
    call.argtypes = [
        ctypes.c_int, ctypes.POINTER(_Span), ctypes.c_ulong, ctypes.POINTER(_Span), ctypes.c_ulong,
        ctypes.c_ulong,
    ]  # fmt: skip
    return call


@contextmanager
def opened() -> Iterator[Callable[[int, int], bytes]]:
    """A function that reads from an address as many bytes as there are, some size at most. It
    raises OSError, OverflowError or ValueError for an address that is none."""
    try:
        memory = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield _read
        return
    try:
        yield lambda address, size: os.pread(memory, size, address)
    finally:
        os.close(memory)


def _read(address: int, size: int) -> bytes:
    if not 0 <= address < 1 << 64:
        raise ValueError(f"{address:#x} is no address")
    into = ctypes.create_string_buffer(size)
    here, there = _Span(ctypes.addressof(into), size), _Span(address, size)
    got = _call()(os.getpid(), here, 1, there, 1, 0)
    return into.raw[: max(got, 0)]


def readable_size(address: int, most: int = _MOST) -> int:
    """Bytes that can be read from ``address`` on without a gap, ``most`` at most."""
    into = ctypes.create_string_buffer(_PIECES)
    here = _Span(ctypes.addressof(into), _PIECES)
    end = address
    while end - address < most:
        first = end & -_PAGE
        pages = (_Span * _PIECES)(*(_Span(max(first + i * _PAGE, end), 1) for i in range(_PIECES)))
        found = max(_call()(os.getpid(), here, 1, pages, _PIECES, 0), 0)
        end = first + found * _PAGE if found else end
        if found < _PIECES:
            break
    return min(end - address, most)
