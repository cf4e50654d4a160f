"""The executable's list of symbols, from the records that exported variables leave.

A record (cupva_device_native.h) is {char name[104]; uint64 address, size, kind}; the list is a
section ``.cupva_symbols`` of {char name[64]; uint32 VMEM offset, size, kind, reserved}.
"""

from __future__ import annotations

import struct
from pathlib import Path

from elftools.elf.elffile import ELFFile

from ...constants.pva_protocol import BANK_STRIDE, VMEM_WINDOW
from .layout import BANKS
from .steps import StepFailed

MAX_NAME = 64
_RECORD = struct.Struct("<104s3Q")
_SYMBOL = struct.Struct("<64s4I")


def symbols(image: Path) -> bytes:
    """The contents of ``.cupva_symbols``. Raises StepFailed, naming the export that is wrong."""
    with image.open("rb") as file:
        section = ELFFile(file).get_section_by_name(".cupva_exports")
        data = section.data() if section is not None else b""
    found: dict[str, bytes] = {}
    for start in range(0, len(data) - _RECORD.size + 1, _RECORD.size):
        raw, address, size, kind = _RECORD.unpack_from(data, start)
        name = raw.split(b"\0", 1)[0].decode(errors="replace")
        offset = address - VMEM_WINDOW
        if not name:
            continue
        if len(name) > MAX_NAME:
            raise StepFailed(
                f"exported name {name!r} has {len(name)} characters; at most {MAX_NAME}"
            )
        if not 0 <= offset < len(BANKS) * BANK_STRIDE:
            raise StepFailed(f"{name!r} is exported but does not lie in VMEM")
        entry = _SYMBOL.pack(name.encode(), offset, size, kind, 0)
        if found.setdefault(name, entry) != entry:
            raise StepFailed(f"two variables are exported as {name!r}")
    return b"".join(found.values())
