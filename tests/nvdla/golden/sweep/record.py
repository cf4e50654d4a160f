"""Records what hardware behind ``nvdla/cosim.h`` makes of the settings of :mod:`settings`.

    python record.py cosim:LIB.so UNIT COUNT FILE.json.gz
    python record.py cosim:LIB.so registers 0 FILE.json.gz

Each setting runs in a process of its own, forked from one with a core after reset. A record has the
values of all registers, ``done`` or ``hang``, and a digest (BLAKE2b, 8 bytes) of all memory.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Any

import numpy as np
import settings

from cudla_sim.nvdla.cosim.errors import CosimError
from cudla_sim.nvdla.cosim.hardware import Hardware
from cudla_sim.nvdla.cosim.library import open_library
from cudla_sim.nvdla.facts import registers

LINE: registers.MapName = "master"
LIMIT = 12000
"""Cycles after which a small operation is not done any more."""

STATUS = 0x100C


def _in_child(work: Callable[[], Any]) -> Any:
    """The result of *work* in a forked process; None if that failed."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.write(write, json.dumps(work()).encode())
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def address(block: str, register: str) -> int:
    return registers.block(LINE, block).address(register)


def operate(core: Hardware, unit: str, seed: int) -> tuple[str, str]:
    """Run a setting; ("done" or "hang" or "outside", digest of memory)."""
    core.mem_write(settings.BASE, settings.noise(seed, settings.SIZE))
    try:
        if unit == "CDP":
            for number, table in enumerate(settings.tables(seed)):
                core.reg_write(address("CDP", "S_LUT_ACCESS_CFG"), 1 << 17 | number << 16)
                for entry in table:
                    core.reg_write(address("CDP", "S_LUT_ACCESS_DATA"), entry)
        for place, value in settings.draw(unit, seed).items():
            core.reg_write(address(*place), value)
        for block in settings.ENABLED[unit]:
            core.reg_write(address(block, "D_OP_ENABLE"), 1)
        seen, wanted = 0, settings.DONE[unit]
        while seen & wanted != wanted:
            if not core.advance(LIMIT):
                return "hang", ""
            status = core.reg_read(STATUS)
            core.reg_write(STATUS, status)  # what came meanwhile stays
            seen |= status
    except CosimError:
        return "outside", ""
    memory = np.empty(settings.SIZE, np.uint8)
    core.mem_read(settings.BASE, memory)
    return "done", blake2b(memory.tobytes(), digest_size=8).hexdigest()


def sweep(core: Hardware, unit: str, count: int) -> Iterator[dict[str, Any]]:
    """Records of *count* settings; those whose DMA leaves the memory are left out."""
    seed = -1
    while count:
        seed += 1
        found = _in_child(lambda seed=seed: operate(core, unit, seed))
        assert found is not None
        if found[0] != "outside":
            count -= 1
            values = list(settings.draw(unit, seed).values())
            yield {"seed": seed, "values": values, "result": found[0], "memory": found[1]}


def walk(core: Hardware) -> list[list[int]]:
    """Every address of the register space where anything but 0 was read: address, value after
    reset, after writing ones, and after writing zeros."""
    avoided = {
        part.base + item.offset
        for part in registers.blocks(LINE).values()
        for item in part.registers
        if item.name in ("D_OP_ENABLE", "S_POINTER", "S_LUT_ACCESS_DATA")
    }
    found = []
    for place in range(0, 0x12000, 4):
        reset = core.reg_read(place)
        ones = zeros = reset
        if place not in avoided:
            core.reg_write(place, 0xFFFFFFFF)
            ones = core.reg_read(place)
            core.reg_write(place, 0)
            zeros = core.reg_read(place)
        if reset or ones or zeros:
            found.append([place, reset, ones, zeros])
    return found


def main(library: str, unit: str, count: str, target: str) -> None:
    core = open_library(library)
    record: dict[str, Any] = {"config": core.configuration, "unit": unit}
    if unit == "registers":
        record["registers"] = walk(core)
    else:
        record["columns"] = [".".join(place) for place in settings.draw(unit, 0)]
        record["settings"] = list(sweep(core, unit, int(count)))
    with gzip.GzipFile(target, "wb", mtime=0) as file:
        file.write(json.dumps(record, separators=(",", ":")).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
