"""Register maps of the two NVDLA hardware lines, parsed from the text tables in ``maps``.

A table line is ``offset NAME field field …`` (offset hexadecimal, inside the block); lines that
begin with blanks continue the register above. A field is ::

    NAME[msb:lsb]   or NAME[bit]     position; ``5/0`` means 5 in the v1 map and 0 in the master map
    .r / .w                          read only / write only (default: read and write)
    =value                           reset value (default 0), again ``v1/master`` where they differ
    ~name                            values are named in ``maps.enums.ENUMS[name]``
    NAME{31-8}[bit]                  fields NAME31 to NAME8, each a bit below the one before

Both lines have the same registers at the same place inside a block; they differ in the block
bases, in the width of a few fields and in some resets. Source: nvdla/hw register headers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from .maps import cdp, cfgrom, conv, gec, pdp, sdp, system
from .maps.enums import ENUMS

MapName = Literal["v1", "master"]

TABLES: dict[str, str] = {
    "CFGROM": cfgrom.CFGROM,
    "GLB": system.GLB,
    "GEC": gec.GEC,
    "MCIF": system.MCIF,
    "CVIF": system.CVIF,
    "BDMA": system.BDMA,
    "CDMA": conv.CDMA,
    "CSC": conv.CSC,
    "CMAC_A": conv.CMAC,
    "CMAC_B": conv.CMAC,
    "CACC": conv.CACC,
    "SDP_RDMA": sdp.SDP_RDMA,
    "SDP": sdp.SDP,
    "PDP_RDMA": pdp.PDP_RDMA,
    "PDP": pdp.PDP,
    "CDP_RDMA": cdp.CDP_RDMA,
    "CDP": cdp.CDP,
    "RBK": system.RBK,
}

_ORDER: dict[MapName, tuple[str, ...]] = {
    "v1": (
        *("GLB", "GEC", "MCIF", "CVIF", "BDMA", "CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC"),
        *("SDP_RDMA", "SDP", "PDP_RDMA", "PDP", "CDP_RDMA", "CDP", "RBK"),
    ),
    "master": (
        *("CFGROM", "GLB", "MCIF", "CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC", "SDP_RDMA", "SDP"),
        *("PDP_RDMA", "PDP", "CDP_RDMA", "CDP", "GEC", "CVIF", "BDMA", "RBK"),
    ),
}

BASES: dict[MapName, dict[str, int]] = {
    line: {name: index * 0x1000 for index, name in enumerate(names)}
    for line, names in _ORDER.items()
}
"""CSB byte address of each block: they follow each other in steps of 4 KiB."""

_FIELD = re.compile(
    r"(?P<name>\w+)\[(?:(?P<msb>[\d/]+):)?(?P<lsb>[\d/]+)\]"
    r"(?:\.(?P<access>[rw]))?(?:=(?P<reset>[\d/]+))?(?:~(?P<enum>\w+))?"
)
_SERIES = re.compile(r"(\w+)\{(\d+)-(\d+)\}\[(\d+)\](.*)")


@dataclass(frozen=True, slots=True)
class Field:
    """Some bits of a register. ``mask`` is in place, ``reset`` is not shifted."""

    name: str
    lsb: int
    msb: int
    access: str
    reset: int
    values: dict[str, int] | None

    @property
    def mask(self) -> int:
        return ((1 << (self.msb - self.lsb + 1)) - 1) << self.lsb


@dataclass(frozen=True, slots=True)
class Register:
    """One 32-bit register; ``offset`` is the byte offset inside its block."""

    name: str
    offset: int
    fields: tuple[Field, ...]
    reset: int
    read_mask: int
    write_mask: int

    def field(self, name: str) -> Field:
        """Return the field called *name*; KeyError if the register has none."""
        for item in self.fields:
            if item.name == name:
                return item
        raise KeyError(f"{self.name} has no field {name}")

    def describe(self, value: int) -> str:
        """Return the value as text, field by field, with the names of its values."""
        parts = []
        for item in self.fields:
            number = (value & item.mask) >> item.lsb
            names = {v: k for k, v in (item.values or {}).items()}
            parts.append(f"{item.name}={names.get(number, number)}")
        return " ".join(parts)


@dataclass(frozen=True)
class Block:
    """The registers of one hardware block at its place in one map."""

    name: str
    base: int
    registers: tuple[Register, ...]
    by_name: dict[str, Register]

    @property
    def first_grouped(self) -> int:
        """Byte offset of the first duplicated (``D_``) register, or the size if there is none."""
        if "D_OP_ENABLE" in self.by_name:
            return self.by_name["D_OP_ENABLE"].offset
        return self.registers[-1].offset + 4

    def address(self, register: str) -> int:
        """Return the CSB byte address of *register*."""
        return self.base + self.by_name[register].offset


def _pick(text: str, line: MapName) -> int:
    """Take the v1 or the master number of ``a`` or ``a/b``."""
    numbers = text.split("/")
    return int(numbers[-1] if line == "master" else numbers[0])


def _written_out(text: str) -> list[str]:
    """The fields that a series stands for."""
    match = _SERIES.fullmatch(text)
    if match is None:
        return [text]
    name, first, last, bit, rest = match.groups()
    numbers = range(int(first), int(last) - 1, -1)
    return [f"{name}{n}[{int(bit) - below}]{rest}" for below, n in enumerate(numbers)]


def _parse_field(text: str, line: MapName) -> Field:
    match = _FIELD.fullmatch(text)
    if match is None:
        raise ValueError(f"register table: cannot read field {text!r}")
    lsb = _pick(match["lsb"], line)
    msb = _pick(match["msb"], line) if match["msb"] else lsb
    return Field(
        name=match["name"],
        lsb=lsb,
        msb=msb,
        access=match["access"] or "rw",
        reset=_pick(match["reset"], line) if match["reset"] else 0,
        values=ENUMS[match["enum"]] if match["enum"] else None,
    )


def _parse_register(text: str, line: MapName) -> Register:
    offset, name, *rest = text.split()
    fields = tuple(_parse_field(one, line) for item in rest for one in _written_out(item))
    return Register(
        name=name,
        offset=int(offset, 16),
        fields=fields,
        reset=sum(item.reset << item.lsb for item in fields),
        read_mask=sum(item.mask for item in fields if "r" in item.access),
        write_mask=sum(item.mask for item in fields if "w" in item.access),
    )


@cache
def block(line: MapName, name: str) -> Block:
    """Return block *name* of map *line*; KeyError if that map has no such block."""
    base = BASES[line][name]
    lines: list[str] = []
    for text in TABLES[name].strip("\n").splitlines():
        if text.startswith(" "):
            lines[-1] += text
        else:
            lines.append(text)
    registers = tuple(_parse_register(text, line) for text in lines)
    return Block(name, base, registers, {item.name: item for item in registers})


@cache
def blocks(line: MapName) -> dict[str, Block]:
    """Return all blocks of map *line* by name."""
    return {name: block(line, name) for name in BASES[line]}


@cache
def names(line: MapName) -> dict[int, tuple[str, str]]:
    """Block and register by address; not to be changed."""
    return {address: (block, item.name) for address, (block, item) in _by_address(line).items()}


@cache
def _by_address(line: MapName) -> dict[int, tuple[str, Register]]:
    return {
        part.base + item.offset: (part.name, item)
        for part in blocks(line).values()
        for item in part.registers
    }


def lookup(line: MapName, address: int) -> tuple[str, Register] | None:
    """Return (block name, register) at a CSB byte address, or None."""
    return _by_address(line).get(address)


def describe_address(line: MapName, address: int) -> str:
    """Return ``BLOCK.REGISTER`` for a CSB byte address, or the address itself."""
    found = lookup(line, address)
    return f"{found[0]}.{found[1].name}" if found else f"0x{address:05x}"
