"""A VPU program as the build put it into the host program: its variables in VMEM."""

from __future__ import annotations

import io
import struct
from functools import lru_cache
from typing import NamedTuple

from ..constants.pva_protocol import PROTOCOL_VERSION, VMEM_SIZE
from ..constants.pva_protocol import Kind as Kind
from .errors import Error, error, invalid
from .memory import VmemSymbol
from .processor import BUILD_SECTION, LEVELS, NEEDS_SECTION, lacking

MAX_SYMBOL_LENGTH = 64

_NOTE_SECTION = ".note.cudla_sim_vpu"
_SYMBOLS_SECTION = ".cupva_symbols"
_RECORD = struct.Struct("<64sIIII")


class Symbol(NamedTuple):
    """An exported variable: ``offset`` in VMEM and ``size`` in bytes."""

    name: str
    offset: int
    size: int
    kind: Kind


class Executable:
    """``image`` is the file that a worker process runs.

    Raises CupvaError(CUPVA_INVALID_ARGUMENT) for what is none, and for one that this processor
    cannot run.
    """

    def __init__(self, image: bytes) -> None:
        self.image = _best(image)
        self.symbols = {s.name: s for s in _read(self.image)}
        self.released = False

    def symbol(self, name: str) -> Symbol:
        """Raises CupvaError(CUPVA_INVALID_ARGUMENT) for a name that is not exported."""
        if len(name) > MAX_SYMBOL_LENGTH:
            raise invalid(
                f"symbol name of {len(name)} characters; names have up to {MAX_SYMBOL_LENGTH}"
            )
        found = self.symbols.get(name)
        if found is None:
            from difflib import get_close_matches

            near = get_close_matches(name, self.symbols, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise invalid(f"the executable exports no symbol {name!r}{hint}")
        return found

    @property
    def vmem_symbols(self) -> list[VmemSymbol]:
        return [VmemSymbol(s.name, s.offset, s.size) for s in self.symbols.values()]


@lru_cache(maxsize=32)
def _best(image: bytes) -> bytes:
    """Of the builds in a portable executable the best one that this processor can run."""
    builds = _sections(image, *(BUILD_SECTION + level for level in LEVELS))
    known = [build for build in builds if build]
    for build in known:
        if not lacking(_needs(build)):
            return build
    missing = lacking(_needs(known[-1] if known else image))
    if missing:
        raise invalid(
            f"the VPU executable was compiled for a processor that has {', '.join(missing)}, which "
            "this one lacks; compile the kernel on this machine, or with pva-cc --portable"
        )
    return known[-1] if known else image


def _needs(image: bytes) -> str:
    return _sections(image, NEEDS_SECTION)[0].decode("ascii", "replace")


def _sections(image: bytes, *names: str) -> list[bytes]:
    """The contents of sections; b"" for those that are not there, or in what is no executable."""
    from elftools.elf.elffile import ELFFile

    try:
        elf = ELFFile(io.BytesIO(image))
        found = [elf.get_section_by_name(name) for name in names]
        return [section.data() if section is not None else b"" for section in found]
    except Exception:  # damage of many kinds, which _read names
        return [b""] * len(names)


@lru_cache(maxsize=32)
def _read(image: bytes) -> tuple[Symbol, ...]:
    from elftools.elf.elffile import ELFFile  # only for programs that load executables

    what = "the data is no VPU executable of cudla-sim"
    if image[:4] != b"\x7fELF":
        raise invalid(f"{what}: it is no ELF file")
    try:
        elf = ELFFile(io.BytesIO(image))
        machine = elf.header["e_machine"]
        note = elf.get_section_by_name(_NOTE_SECTION)
        section = elf.get_section_by_name(_SYMBOLS_SECTION)
        data = section.data() if section is not None else b""
    except Exception as cause:  # pyelftools answers damage with many kinds of exceptions
        raise invalid(f"{what}: it is damaged ({type(cause).__name__})") from None
    if note is None:
        raise error(
            Error.CUPVA_INVALID_ARGUMENT,
            f"{what} (machine {machine}); pva_device() and `cudla-sim pva-cc` make those",
        )
    version = int.from_bytes(note.data()[-4:], "little")
    if version != PROTOCOL_VERSION:
        raise invalid(
            f"the VPU executable is of another version of cudla-sim (protocol {version}, this "
            f"one speaks {PROTOCOL_VERSION}); compile the kernel again"
        )
    found = []
    for start in range(0, len(data) - _RECORD.size + 1, _RECORD.size):
        name, offset, size, kind, _ = _RECORD.unpack_from(data, start)
        known = Kind(kind) if kind in Kind.__members__.values() else Kind.DATA
        text = name.split(b"\0", 1)[0].decode(errors="replace")
        if text and offset + size <= VMEM_SIZE:
            found.append(Symbol(text, offset, size, known))
    return tuple(found)
