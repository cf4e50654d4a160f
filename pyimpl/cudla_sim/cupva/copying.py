"""Whether an address of the program is memory."""

from __future__ import annotations

import ctypes

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.msync.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
_PAGE = 4096
_MS_ASYNC = 1


def is_memory(address: int, size: int) -> bool:
    """True when every page of the range is mapped in this process."""
    if not address or size < 0 or address + size > 1 << 64:
        return False
    first = address & -_PAGE
    return int(_LIBC.msync(first, address + max(size, 1) - first, _MS_ASYNC)) == 0
