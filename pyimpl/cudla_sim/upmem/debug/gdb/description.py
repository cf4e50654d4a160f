"""What gdb and lldb are told of a DPU's registers."""

from __future__ import annotations

from .target import NAMES

BITS = 32
_GENERIC = {"r22": "sp", "r23": "ra", "pc": "pc", "flags": "flags"}


def target_xml() -> str:
    """The target description (gdb manual, appendix G): no architecture, which gdb does not know."""
    registers = "".join(
        f'<reg name="{name}" bitsize="{BITS}" regnum="{number}" type="{_type(name)}" '
        f'group="general"/>'
        for number, name in enumerate(NAMES)
    )
    return (
        '<?xml version="1.0"?><!DOCTYPE target SYSTEM "gdb-target.dtd"><target version="1.0">'
        f'<feature name="com.upmem.dpu.core">{registers}</feature></target>'
    )


def _type(name: str) -> str:
    return "code_ptr" if name == "pc" else "data_ptr" if name == "r22" else "uint32"


def register_info(number: int) -> str | None:
    """lldb's qRegisterInfo; None behind the last one."""
    if number >= len(NAMES):
        return None
    name = NAMES[number]
    words = {
        "name": name,
        "bitsize": BITS,
        "offset": number * BITS // 8,
        "encoding": "uint",
        "format": "hex",
        "set": "General Purpose Registers",
        "gcc": number,
        "dwarf": number,
    }
    if name in _GENERIC:
        words["generic"] = _GENERIC[name]
    return "".join(f"{key}:{value};" for key, value in words.items())
