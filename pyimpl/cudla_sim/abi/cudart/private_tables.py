"""What NVIDIA's static runtime asks of a driver by tables that no document names: the part in
Python (``shim/library/cuda/private_tables.c`` has the tables).

Before it uses a driver that runtime has it sign who it is, and works with none whose signature is
another one. How it is made is public by the ZLUDA project (its ``dark_api``): an HMAC (RFC 2104)
over MD2 (RFC 1319).
"""

from __future__ import annotations

import os
import struct
import threading
import uuid
from typing import Any

from ...constants.cudart import CUdevice_attribute_enum as Attribute
from ...constants.cudart import cudaError_enum as Result
from ...cudart import context, device
from ...cudart.errors import CudaError
from ..embedding import ffi
from .driver import Absent, driver, null

_KEY = bytes.fromhex("146addae53a9a752aa0841360bf55a9f")
_FIXED = {
    0: struct.pack("<2Q", 0x3341181C03CB675C, 0x8ED383AA1F4CD1E8),
    1: struct.pack("<2Q", 0x1841181C03CB675C, 0x8ED383AA1F4CD1E8),
}
"""By the last digit of the version that is asked for; the third question is the signed one."""
_PLACE = (
    Attribute.CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID,
    Attribute.CU_DEVICE_ATTRIBUTE_PCI_BUS_ID,
    Attribute.CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID,
)


def _signature(message: bytes) -> bytes:
    from Crypto.Hash import MD2  # no other program needs it

    def digest(pad: int, text: bytes) -> bytes:
        return MD2.new(bytes(byte ^ pad for byte in _KEY) + text).digest()

    return digest(0x5C, digest(0x36, message))


@driver.export_as("cuGetExportTable", "sim__cuda_integrity")
def integrity(version: int, seconds: int, digest: Any, addresses: Any) -> None:
    if (answer := _FIXED.get(version % 10)) is None:
        thread = threading.get_ident() & 0xFFFFFFFF
        message = struct.pack("<4I", device.DRIVER_VERSION, version, os.getpid(), thread)
        message += struct.pack("<4Q", *addresses[0:3], seconds)
        for found in context.current().devices:
            message += found.uuid + struct.pack("<3i", *map(found.attribute, _PLACE))
        answer = _signature(message)
    ffi.memmove(digest, answer, 16)


@driver.export_as("cuGetExportTable", "sim__cuda_private")
def private() -> None:
    raise CudaError(
        Result.CUDA_ERROR_NOT_SUPPORTED,
        "NVIDIA's static runtime called a function of a private table that is not simulated; "
        "link with the shared runtime (nvcc -cudart shared)",
    )


@driver.export("cuGetExportTable", early=True)
def get_export_table(target: Any, identity: Any) -> None:
    null(ppExportTable=target, pExportTableId=identity)
    target[0] = ffi.NULL
    number = uuid.UUID(bytes=bytes(ffi.buffer(identity, 16)))
    raise Absent(Result.CUDA_ERROR_NOT_FOUND, f"there is no private table {number}")
