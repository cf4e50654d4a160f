"""``NAME.cfg``: the tests of the master and nv_small branches of the public hardware repository."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from ..facts import registers
from ..facts.configs import CONFIGS
from ..hw.glb import Interrupt
from . import datafile
from .trace import (
    MOST_BYTES,
    CheckCrc,
    CheckMemory,
    CheckNothing,
    MemInit,
    MemLoad,
    Notify,
    Operation,
    RegCheck,
    RegWrite,
    SyncNotify,
    SyncWait,
    Trace,
    TraceError,
    checked,
    within,
)

_COMMAND = re.compile(r"\s*(\w+)\s*\(([^)]*)\)\s*;?")
_MEMORIES = {"pri_mem": 0, "sec_mem": 1, "1": 0, "0": 1}
_CONFIGS = [item.name for item in CONFIGS.values() if item.line == "master"]
_IGNORED = {"mem_reserve", "mem_release"}
_BLOCKS = {i.name.lower(): i for i in Interrupt}


def read(path: Path) -> Trace:
    """Raises TraceError. The configuration is taken from the folder's name where it says one."""
    folders = [part.name for part in path.resolve().parents]
    known = next((c for f in folders for c in _CONFIGS if f == c), "nv_small")
    trace = Trace(path.stem, "master", [known])
    for number, line in enumerate(datafile.text_of(path).splitlines(), 1):
        text = line.split("//")[0]
        while text.strip():
            command = _COMMAND.match(text)
            if command is None:
                raise TraceError(f"{path}:{number}: cannot read {text.strip()!r}")
            arguments = [a.strip().strip('"') for a in command[2].split(",")]
            try:
                operation = _operation(command[1], arguments, path.parent)
                if operation is not None:
                    trace.operations.append(checked(operation))
            except (IndexError, KeyError, TypeError, ValueError) as error:
                raise TraceError(f"{path}:{number}: {command[0].strip()}: {error}") from None
            text = text[command.end() :]
    return trace


def _operation(name: str, words: list[str], folder: Path) -> Operation | None:
    if name in _IGNORED:
        return None
    if name == "reg_write":
        return RegWrite(register(words[0]), _number(words[1]))
    if name in ("reg_read_check", "poll_reg_equal"):
        return RegCheck(register(words[0]), _number(words[1]))
    if name == "mem_init":
        where = _MEMORIES[words[0]], _number(words[1]), _number(words[2])
        return MemInit(*where, words[3], *words[4:5])
    if name == "mem_load":
        file = datafile.beside(folder, words[2])
        data = partial(datafile.pieces, file)
        return MemLoad(_MEMORIES[words[0]], _number(words[1]), words[2], data, *words[3:4])
    if name == "sync_wait":
        return SyncWait(words[0].removeprefix("NVDLA_"), words[1])
    if name == "sync_notify":
        return SyncNotify(words[0].removeprefix("NVDLA_"), words[1])
    if name == "intr_notify":
        return Notify(interrupt_bit(words[0]), words[1])
    if name == "check_crc":
        return CheckCrc(
            words[0], _MEMORIES[words[1]], _number(words[2]), _number(words[3]), _number(words[4])
        )
    if name == "check_file":
        size = within(_number(words[3]), "size", MOST_BYTES)
        golden = partial(_flat, datafile.beside(folder, words[4]), size)
        return CheckMemory(words[0], _MEMORIES[words[1]], _number(words[2]), words[4], golden)
    if name == "check_nothing":
        return CheckNothing(words[0])
    raise ValueError("no such command")


def _number(text: str) -> int:
    return int(text, 0)


def _flat(path: Path, size: int) -> bytes:
    data = bytearray(size)
    for offset, piece in datafile.pieces(path):
        if 0 <= offset <= size:
            data[offset : offset + len(piece)] = piece
    return bytes(data[:size])


def register(name: str) -> int:
    """The byte address of ``NVDLA_BLK.REG_0``. Raises KeyError or ValueError."""
    block, dot, register_name = name.partition(".")
    if not dot:
        raise ValueError(f"{name} is no register; it is BLOCK.REGISTER_0")
    layout = registers.block("master", block.removeprefix("NVDLA_"))
    return layout.address(register_name.removesuffix("_0"))


def interrupt_bit(name: str) -> int:
    """The status bit of ``SDP_0`` (unit and register group). Raises KeyError or ValueError."""
    unit, _, group = name.rpartition("_")
    return 1 << (_BLOCKS[unit.lower()] + within(int(group), "group", 1))
